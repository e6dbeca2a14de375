//! Endurance: good and hostile strategies mixed on all cores for a long time. What the process holds at the end is what
//! it held at the beginning, and good strategies do not wait for hostile ones.
//!
//! ```console
//! $ cargo xtask soak             # a million calls, and ten minutes at least
//! $ cargo xtask soak 20000 10    # the number of calls, and seconds
//! ```
//!
//! Exits with 1 if a check failed. Needs Linux, which tells what a process holds.

mod held;
mod latency;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use baler_generated::{Choices, Kind, conversation};
use baler_host::strategy::EngineLimits;
use baler_host::{
    Budget, Compiler, Conversation, Host, Limits, Request, Strategy, serve_as_compiler,
};

use held::Held;
use latency::Latencies;

/// The good strategies.
const GOOD: [&str; 4] = ["sliding-window", "mask-tool-outputs", "trim", "tiered"];

/// How much slower the slowest hundredth of good calls may be beside hostile ones.
const MOST_SLOWER: f64 = 1.5;

/// The share of the time in which good strategies run alone, to compare.
const ALONE: f64 = 0.1;

fn main() -> anyhow::Result<ExitCode> {
    if let Some(done) = serve_as_compiler() {
        return Ok(done);
    }
    tokio::runtime::Runtime::new()?.block_on(run())?;
    Ok(ExitCode::SUCCESS)
}

/// What all workers share.
struct Soak {
    host: Host,
    good: Vec<Strategy>,
    hostile: Vec<Strategy>,
    conversation: Conversation,
    calls: AtomicU64,
}

async fn run() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| match arguments.next() {
        Some(text) => text
            .parse()
            .with_context(|| format!("expected a number, found `{text}`")),
        None => Ok(default),
    };
    let (calls, seconds) = (number(1_000_000)?, number(600)?);
    let state = tempfile::tempdir()?;
    let soak = Arc::new(prepare(state.path()).await?);
    anstream::println!(
        "{} good and {} hostile strategies on {} cores",
        soak.good.len(),
        soak.hostile.len(),
        cores()
    );
    // What a process takes once, such as vocabularies, arenas, the pool and an image of each component's memory, is
    // not growth.
    for (strategies, is_good) in [(&soak.good, true), (&soak.hostile, false)] {
        for strategy in strategies {
            call(&soak, strategy, is_good).await?;
        }
    }
    work(&soak, true, calls / 50, Duration::ZERO).await?;
    let before = Held::now(state.path())?;
    anstream::println!("at the beginning: {before}");

    let alone = Duration::from_secs_f64(seconds as f64 * ALONE);
    let start = Instant::now();
    let alone = work(&soak, false, calls / 10, alone).await?;
    let rate = alone.calls() as f64 / start.elapsed().as_secs_f64();
    soak.calls.store(0, Ordering::Relaxed);
    let start = Instant::now();
    let rest = Duration::from_secs_f64(seconds as f64 * (1.0 - ALONE));
    let mixed = work(&soak, true, calls, rest).await?;
    let took = start.elapsed();
    let after = Held::now(state.path())?;
    anstream::println!("at the end:       {after}");
    let done = soak.calls.load(Ordering::Relaxed);
    anstream::println!("{done} calls, half of them hostile, in {took:.0?}");
    anstream::println!("good alone:          {alone}, {rate:.0} a second");
    anstream::println!("good beside hostile: {mixed}");
    let slower = mixed.p99().as_secs_f64() / alone.p99().as_secs_f64();
    anstream::println!("p99 beside over p99 alone: {slower:.2} (at most {MOST_SLOWER})");

    slots_are_free(&soak).await?;
    before.ensure_not_less_than(&after)?;
    ensure!(
        slower <= MOST_SLOWER,
        "good strategies wait for hostile ones"
    );
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

async fn prepare(state: &std::path::Path) -> anyhow::Result<Soak> {
    let limits = EngineLimits::default()
        .with_concurrent_calls(u32::try_from(cores() * 2)?)
        // Each hostile strategy runs again and again.
        .with_faults(u32::MAX);
    let host = Host::builder()
        .state(state)
        .without_archive()
        .compiler(Compiler::ThisProgram)
        .limits(limits)
        .build()?;
    let mut good = Vec::new();
    for name in GOOD {
        let bundled = baler_strategies::by_name(name).context(name)?;
        good.push(host.load(name, bundled.wasm).await?.writing_digests());
    }
    let mut hostile = Vec::new();
    for guest in baler_hostile_guests::ALL {
        // Some are refused.
        if let Ok(strategy) = host.load(guest.name, guest.wasm).await {
            // So that a loop ends soon: the number of calls counts here, not their length.
            let limits = Limits::default()
                .with_fuel(2_000_000)
                .with_time(Duration::from_millis(10))
                .with_memory(8 << 20)
                .with_host_calls(2_000);
            hostile.push(strategy.with_limits(limits));
        }
    }
    let made = conversation(Kind::ALL[0], 60, &mut Choices::from_seed(1));
    let conversation = host.read(made.document())?;
    Ok(Soak {
        host,
        good,
        hostile,
        conversation,
        calls: AtomicU64::new(0),
    })
}

/// Runs good strategies, and as many hostile ones if `is_mixed`, on all cores until `calls` calls were made and `time` is over.
/// Returns how long the good ones took.
async fn work(
    soak: &Arc<Soak>,
    is_mixed: bool,
    calls: u64,
    time: Duration,
) -> anyhow::Result<Latencies> {
    let end = soak.calls.load(Ordering::Relaxed) + calls;
    let start = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..cores() {
        let soak = Arc::clone(soak);
        workers.spawn(async move {
            let mut choices = Choices::from_seed(worker as u64);
            let mut latencies = Latencies::default();
            while soak.calls.fetch_add(1, Ordering::Relaxed) < end || start.elapsed() < time {
                let is_good = !is_mixed || choices.one_in(2);
                let strategies = if is_good { &soak.good } else { &soak.hostile };
                let strategy = choices.one_of(strategies).context("no strategies")?;
                let took = call(&soak, strategy, is_good).await?;
                if is_good {
                    latencies.add(took);
                }
            }
            Ok::<_, anyhow::Error>(latencies)
        });
    }
    let mut all = Latencies::default();
    while let Some(done) = workers.join_next().await {
        all.join(done??);
    }
    Ok(all)
}

/// One compaction. Returns how long the strategy itself took.
async fn call(soak: &Soak, strategy: &Strategy, is_good: bool) -> anyhow::Result<Duration> {
    let request = Request::new(Budget::Share(0.5)).with_required(true);
    let chain = std::slice::from_ref(strategy);
    let compaction = soak
        .host
        .compact(&soak.conversation, chain, &request)
        .await?;
    let name = strategy.name();
    ensure!(compaction.is_compacted(), "{name}: unchanged");
    ensure!(!compaction.conversation().is_broken(), "{name}: invalid");
    let attempt = compaction
        .receipt()
        .attempts
        .first()
        .context("no attempt")?;
    let code = attempt.result.code();
    ensure!(!is_good || code == "accepted", "{name}: {code}");
    ensure!(code != "host", "{name}: {:?}", attempt.result);
    Ok(Duration::from_micros(attempt.usage.time_us))
}

/// As many calls as the pool has slots still run at once.
async fn slots_are_free(soak: &Arc<Soak>) -> anyhow::Result<()> {
    let mut calls = tokio::task::JoinSet::new();
    for slot in 0..cores() * 2 {
        let soak = Arc::clone(soak);
        calls.spawn(async move { call(&soak, &soak.good[slot % GOOD.len()], true).await });
    }
    while let Some(done) = calls.join_next().await {
        done??;
    }
    Ok(())
}
