//! The cost of each stage of a compaction: a table of medians. Criterion would measure the stages in separate
//! runs, and they have to be compared with each other.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a command that prints a table, and panics if it cannot measure"
)]

use std::time::{Duration, Instant};

use baler_host::{
    Budget, Host, Limits, Request, Strategy, conversation::tokenizers::Tokenizer, receipt::Stages,
};
use tokio::runtime::Runtime;

const RUNS: usize = 31;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    println!("medians of {RUNS} runs, in ms; MB/s of the document");
    println!(
        "{:<32} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "read", "strategy", "check", "apply", "verify", "whole", "MB/s"
    );
    for megabytes in [1, 4] {
        let document = baler_benches::agent(megabytes * 1_000_000);
        print_uncached_reading(&document);
        let host = Host::builder().build().expect("a host");
        for (suffix, request, strategy) in cases(&host, &runtime) {
            let runs = compactions(&host, &runtime, &document, &strategy, &request);
            print_stages(&format!("{}{suffix}", strategy.name()), &document, &runs);
        }
    }
    let host = Host::builder().build().expect("a host");
    println!(
        "1 MB, a guest that loops under 100 ms, until the fallback's result: {:.1} ms",
        runtime.block_on(looping(&host))
    );
}

/// Measures reading a document with a tokenizer that has not counted anything yet.
fn print_uncached_reading(document: &str) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let tokenizer = Tokenizer::named("o200k_base").expect("it is built in");
            let host = Host::builder()
                .tokenizer(tokenizer)
                .build()
                .expect("a host");
            let start = Instant::now();
            host.read(document).expect("reads");
            milliseconds(start)
        })
        .collect();
    let size = megabytes(document);
    let time = median(&mut times);
    println!(
        "{:<32} {time:>8.2} {:>62.0}",
        format!("{size:.1} MB, read, counting all"),
        size / time * 1e3
    );
}

/// The measured strategies, each with its request and a suffix for its name in the table.
fn cases(host: &Host, runtime: &Runtime) -> [(&'static str, Request, Strategy); 7] {
    let [window, mask, tiered] = ["sliding-window", "mask-tool-outputs", "tiered"].map(|name| {
        let bundled = baler_strategies::by_name(name).expect("it ships with baler");
        runtime
            .block_on(host.load(bundled.name, bundled.wasm))
            .expect("loads")
    });
    let tenth = Request::default().with_budget(Budget::Share(0.1));
    [
        ("", Request::default(), window),
        ("", Request::default(), mask),
        ("", Request::default(), Strategy::digest()),
        (" to 10 %", tenth.clone(), Strategy::digest()),
        ("", Request::default(), Strategy::truncate()),
        ("", Request::default(), tiered.clone()),
        (" to 10 %", tenth, tiered),
    ]
}

/// One run: times in milliseconds, and the stages as the receipt reports them.
struct Run {
    read: f64,
    stages: Stages,
    whole: f64,
}

fn compactions(
    host: &Host,
    runtime: &Runtime,
    document: &str,
    strategy: &Strategy,
    request: &Request,
) -> Vec<Run> {
    // The first run fills the cache of token counts.
    (0..=RUNS)
        .map(|_| {
            let start = Instant::now();
            let conversation = host.read(document).expect("reads");
            let read = milliseconds(start);
            let chain = std::slice::from_ref(strategy);
            let compaction = runtime
                .block_on(host.compact(&conversation, chain, request))
                .expect("no archive that could fail");
            let whole = milliseconds(start);
            let receipt = compaction.receipt();
            assert!(!receipt.fell_back, "{:?}", receipt.attempts);
            Run {
                read,
                stages: receipt.stages,
                whole,
            }
        })
        .skip(1)
        .collect()
}

fn print_stages(name: &str, document: &str, runs: &[Run]) {
    let of = |value: fn(&Run) -> f64| median(&mut runs.iter().map(value).collect::<Vec<_>>());
    let size = megabytes(document);
    let whole = of(|run| run.whole);
    println!(
        "{:<32} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {whole:>8.2} {:>8.0}",
        format!("{size:.1} MB, {name}"),
        of(|run| run.read),
        of(|run| run.stages.strategy_us as f64 / 1e3),
        of(|run| run.stages.check_us as f64 / 1e3),
        of(|run| run.stages.apply_us as f64 / 1e3),
        of(|run| run.stages.verify_us as f64 / 1e3),
        size / whole * 1e3,
    );
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn megabytes(document: &str) -> f64 {
    document.len() as f64 / 1e6
}

/// Returns how long a caller waits for the fallback's result if a guest never returns, in milliseconds.
async fn looping(host: &Host) -> f64 {
    let limits = Limits::default()
        .with_time(Duration::from_millis(100))
        .with_fuel(u64::MAX);
    let guest = host
        .load("loop-forever", baler_hostile_guests::LOOP_FOREVER.wasm)
        .await
        .expect("loads")
        .with_limits(limits);
    let conversation = host.read(baler_benches::agent(1_000_000)).expect("reads");
    let mut times = Vec::new();
    for _ in 0..RUNS {
        host.lift_quarantine();
        let start = Instant::now();
        let chain = std::slice::from_ref(&guest);
        let compaction = host
            .compact(&conversation, chain, &Request::default())
            .await
            .expect("no archive that could fail");
        times.push(milliseconds(start));
        assert!(compaction.receipt().fell_back);
    }
    median(&mut times)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
