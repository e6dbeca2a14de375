//! The whole way of a conversation, each stage apart: a table of medians. Not a statistics
//! harness, because the stages come from one run each and have to be compared with each other.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "it is a command that prints a table, and ends where it cannot measure"
)]

use std::time::{Duration, Instant};

use baler_host::{Budget, Host, Limits, Request, Stages, Strategy, Tokenizer};

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
        let size = document.len() as f64 / 1e6;
        let mut uncached: Vec<f64> = (0..RUNS)
            .map(|_| {
                let tokenizer = Tokenizer::named("o200k_base").expect("it is built in");
                tokenizer.warm_up();
                let host = Host::builder()
                    .tokenizer(tokenizer)
                    .build()
                    .expect("a host");
                let start = Instant::now();
                host.read(document.as_str()).expect("reads");
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        let uncached = median(&mut uncached);
        println!(
            "{:<32} {uncached:>8.2} {:>62.0}",
            format!("{size:.1} MB, read, counting all"),
            size / uncached * 1e3
        );
        let host = Host::builder().build().expect("a host");
        let window = baler_strategies::by_name("sliding-window").expect("it ships with baler");
        let mask = baler_strategies::by_name("mask-tool-outputs").expect("it ships with baler");
        let tiered = baler_strategies::by_name("tiered").expect("it ships with baler");
        let [window, mask, tiered] = [window, mask, tiered].map(|one| {
            runtime
                .block_on(host.load(one.name, one.wasm))
                .expect("loads")
        });
        let tenth = Request {
            budget: Budget::Share(0.1),
            ..Request::default()
        };
        let of_all = Request::default;
        let runs = [
            ("", of_all(), window),
            ("", of_all(), mask),
            ("", of_all(), Strategy::digest()),
            (" to 10 %", tenth.clone(), Strategy::digest()),
            ("", of_all(), Strategy::truncate()),
            ("", of_all(), tiered.clone()),
            (" to 10 %", tenth, tiered),
        ];
        for (to, request, strategy) in runs {
            let mut runs: Vec<(f64, Stages, f64)> = Vec::new();
            // The first run fills the cache of counts.
            for _ in 0..=RUNS {
                let start = Instant::now();
                let conversation = host.read(document.as_str()).expect("reads");
                let read = start.elapsed().as_secs_f64() * 1e3;
                let chain = std::slice::from_ref(&strategy);
                let compaction = runtime
                    .block_on(host.compact(&conversation, chain, &request))
                    .expect("no archive that could fail");
                let whole = start.elapsed().as_secs_f64() * 1e3;
                assert!(
                    !compaction.receipt().fell_back,
                    "{:?}",
                    compaction.receipt().attempts
                );
                runs.push((read, compaction.receipt().stages, whole));
            }
            runs.remove(0);
            let of = |stage: fn(&(f64, Stages, f64)) -> f64| {
                median(&mut runs.iter().map(stage).collect::<Vec<_>>())
            };
            let whole = of(|run| run.2);
            println!(
                "{:<32} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {whole:>8.2} {:>8.0}",
                format!("{size:.1} MB, {}{to}", strategy.name()),
                of(|run| run.0),
                of(|run| run.1.strategy_us as f64 / 1e3),
                of(|run| run.1.check_us as f64 / 1e3),
                of(|run| run.1.apply_us as f64 / 1e3),
                of(|run| run.1.verify_us as f64 / 1e3),
                size / whole * 1e3,
            );
        }
    }
    let host = Host::builder().build().expect("a host");
    println!(
        "1 MB, a guest that loops under 100 ms, until the fallback's result: {:.1} ms",
        runtime.block_on(looping(&host))
    );
}

/// How long a caller waits for the fallback's result when a guest never returns.
async fn looping(host: &Host) -> f64 {
    let limits = Limits {
        time: Duration::from_millis(100),
        fuel: u64::MAX,
        ..Limits::default()
    };
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
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(compaction.receipt().fell_back);
    }
    median(&mut times)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
