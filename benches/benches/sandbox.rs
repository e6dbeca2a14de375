//! The cost of calls into the sandbox: an empty call, and `sliding-window` on conversations of different
//! lengths, next to the same code compiled natively.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench panics if it cannot measure, and criterion's macros generate undocumented items"
)]

use std::hint::black_box;
use std::time::Duration;

use baler_host::{Budget, Host, Pins, Request, Strategy};
use baler_strategy::testing::{self, Recording};
use baler_strategy::{NoConfig, Strategy as _};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::json;
use sliding_window::SlidingWindow;
use tokio::runtime::Runtime;

#[allow(
    unused_imports,
    unreachable_pub,
    reason = "it is an example of its own, with a test that does not run here"
)]
#[path = "../../guest-strategies/sdk/examples/excerpt-outputs.rs"]
mod excerpt_outputs;
use excerpt_outputs::ExcerptOutputs;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

fn load(host: &Host, runtime: &Runtime, name: &str) -> Strategy {
    let bundled = baler_strategies::by_name(name).expect("it ships with baler");
    runtime
        .block_on(host.load(name, bundled.wasm))
        .expect("loads")
}

/// Measures `should-compact` of a strategy that leaves the decision to the host: a fresh store and instance,
/// and one call that does nothing.
fn empty_call(criterion: &mut Criterion) {
    let (host, runtime) = (Host::builder().build().expect("a host"), runtime());
    let strategy = load(&host, &runtime, "sliding-window");
    let conversation = host.read(baler_benches::short(2)).expect("reads");
    let request = Request::default();
    criterion.bench_function("fresh sandbox, empty call", |bencher| {
        bencher.iter(|| {
            runtime.block_on(host.should_compact(black_box(&conversation), &strategy, &request))
        });
    });
}

fn plans(criterion: &mut Criterion) {
    let (host, runtime) = (Host::builder().build().expect("a host"), runtime());
    let strategy = load(&host, &runtime, "sliding-window");
    let mut group = criterion.benchmark_group("sliding-window");
    for units in [100, 1_000, 10_000] {
        let conversation = host.read(baler_benches::short(units)).expect("reads");
        let request = Request::default()
            .with_budget(Budget::Share(0.5))
            .with_pins(Pins::FirstUser);
        group.bench_with_input(BenchmarkId::new("guest", units), &units, |bencher, _| {
            // The strategy's time in the receipt: from the fresh store to the returned plan. The bench
            // `whole_way` measures the checks and the application.
            bencher.iter_custom(|iterations| {
                (0..iterations)
                    .map(|_| {
                        let chain = std::slice::from_ref(&strategy);
                        let compaction = runtime
                            .block_on(host.compact(black_box(&conversation), chain, &request))
                            .expect("no archive that could fail");
                        assert!(!compaction.receipt().fell_back);
                        Duration::from_micros(compaction.receipt().stages.strategy_us)
                    })
                    .sum()
            });
        });
        let recording = (0..units).fold(Recording::new(), |recording, unit| match unit % 2 {
            0 => recording.user("question"),
            _ => recording.step("answer", []),
        });
        let config = sliding_window::Config::default();
        let total: u32 = recording.situation(0).used;
        let situation = recording.situation(total / 2);
        group.bench_with_input(BenchmarkId::new("native", units), &units, |bencher, _| {
            bencher.iter(|| {
                let conversation = baler_strategy::Conversation::new(black_box(&recording));
                SlidingWindow::compact(&conversation, &situation, &config).expect("it has a plan")
            });
        });
    }
    group.finish();
}

/// Measures a strategy that reads every message of 4 MB, next to the same code compiled natively. No line is worth keeping,
/// so all it does is read.
fn reading(criterion: &mut Criterion) {
    const STEPS: usize = 2_000;
    let text = "a line of what the tool returned, of no interest\n".repeat(42);
    let mut messages = vec![json!({"role": "user", "content": "Look at it all."})];
    let mut recording = Recording::new().user("Look at it all.");
    for step in 0..STEPS {
        let id = format!("call_{step}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
        recording = recording.step("", [testing::call("look", "{}", &text)]);
    }
    messages.push(json!({"role": "user", "content": "And?"}));
    let recording = recording.user("And?");
    let (host, runtime) = (Host::builder().build().expect("a host"), runtime());
    let wasm = include_bytes!(concat!(env!("OUT_DIR"), "/excerpt-outputs.wasm"));
    let strategy = runtime
        .block_on(host.load("excerpt-outputs", wasm))
        .expect("loads");
    let document = json!({"model": "gpt-4o", "messages": messages}).to_string();
    let conversation = host.read(document).expect("reads");
    let request = Request::default().with_budget(Budget::Share(0.5));
    let mut group = criterion.benchmark_group("reads 4 MB");
    group.sample_size(20);
    group.bench_function("guest", |bencher| {
        bencher.iter_custom(|iterations| {
            (0..iterations)
                .map(|_| {
                    let chain = std::slice::from_ref(&strategy);
                    let compaction = runtime
                        .block_on(host.compact(black_box(&conversation), chain, &request))
                        .expect("no archive that could fail");
                    let attempt = &compaction.receipt().attempts[0];
                    assert_eq!(attempt.result.code(), "declined");
                    Duration::from_micros(attempt.usage.time_us)
                })
                .sum()
        });
    });
    let situation = recording.situation(recording.situation(0).used / 2);
    group.bench_function("native", |bencher| {
        bencher.iter(|| {
            let conversation = baler_strategy::Conversation::new(black_box(&recording));
            ExcerptOutputs::compact(&conversation, &situation, &NoConfig::default())
                .expect("it has an answer")
        });
    });
    group.finish();
}

criterion_group!(benches, empty_call, plans, reading);
criterion_main!(benches);
