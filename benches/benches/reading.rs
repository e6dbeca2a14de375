//! The cost of reading a conversation of each format, and of extending one: tables of medians. They come from
//! one run, because they are compared with each other.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a command that prints a table, and panics if it cannot measure"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baler_generated::{Choices, Kind, conversation};
use baler_host::{
    Budget, Compactor, CompactorOptions, Conversation, Format, Host, Request, Strategy,
    strategy::Decision,
};
use tokio::runtime::Runtime;

#[allow(dead_code, reason = "the scaling tool needs more of it")]
#[path = "../../xtask/tools/scaling/wire.rs"]
mod wire;
use wire::Call;

const RUNS: usize = 31;

/// The size of each conversation that is read, in bytes.
const BYTES: usize = 8_000_000;

fn main() {
    reading();
    growing();
}

fn reading() {
    println!("reading and dividing into units, medians of {RUNS} runs, counts remembered");
    println!(
        "{:<18} {:>8} {:>9} {:>9} {:>8} {:>9} {:>14}",
        "", "MB", "messages", "units", "ms", "MB/s", "serde_json MB/s"
    );
    for kind in Kind::ALL {
        for (name, document) in [("small", small(kind)), ("large", large(kind))] {
            let format: Format = kind.name().parse().expect("the host knows the format");
            let host = Host::builder().format(format).build().expect("a host");
            let read = host.read(document.as_str()).expect("reads");
            let messages: usize = read.units().iter().map(|unit| unit.messages).sum();
            let shared: Arc<str> = document.as_str().into();
            let time = median(|| {
                let document = Arc::clone(&shared);
                black_box(host.read(document).expect("reads"));
            });
            let baseline = median(|| {
                black_box(serde_json::from_str::<serde_json::Value>(&document).expect("JSON"));
            });
            let size = document.len() as f64 / 1e6;
            println!(
                "{:<18} {size:>8.1} {messages:>9} {:>9} {:>8.2} {:>9.0} {:>14.0}",
                format!("{} {name}", kind.name()),
                read.units().len(),
                time.as_secs_f64() * 1e3,
                size / time.as_secs_f64(),
                size / baseline.as_secs_f64()
            );
        }
    }
}

/// Generates a conversation of many short messages.
fn small(kind: Kind) -> String {
    let mut seed = 0;
    let mut about = 4_000;
    loop {
        let made = conversation(kind, about, &mut Choices::from_seed(seed));
        let document = made.document();
        if document.len() >= BYTES / 2 {
            return document;
        }
        seed += 1;
        about *= 2;
    }
}

/// Generates a conversation of few, long tool outputs, as of an agent that reads files.
fn large(kind: Kind) -> String {
    let line = r#"   41 | let rate = parse(&input[41..])?; // \"tariff\" of 日本\n"#;
    let text = line.repeat(8_000 / line.len());
    let mut messages = vec![wire::user(kind, "Mend it.")];
    let mut bytes = 0;
    while bytes < BYTES {
        let call = Call::new(format!("c{}", messages.len()), &*text);
        let step = wire::step(kind, &[call]);
        bytes += step.iter().map(String::len).sum::<usize>();
        messages.extend(step);
    }
    let key = match kind {
        Kind::OpenAiChat | Kind::Anthropic | Kind::BedrockConverse => "messages",
        Kind::OpenAiResponses => "input",
        Kind::Gemini => "contents",
    };
    format!(r#"{{"{key}":[{}]}}"#, messages.join(","))
}

fn growing() {
    println!();
    println!(
        "one step of an agent: a message is appended and should-compact asked, in µs, medians of {RUNS} runs"
    );
    let columns = [
        "append",
        "host's trigger",
        "both",
        "compactor",
        "guest",
        "append and guest",
        "reading anew",
    ];
    let columns: String = columns.map(|column| format!(" {column:>16}")).concat();
    println!("{:<8}{columns}", "units");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let host = Arc::new(Host::builder().build().expect("a host"));
    // This guest reads the figures of all units.
    let keep_last = include_bytes!(concat!(env!("OUT_DIR"), "/keep-last.wasm"));
    let guest = runtime
        .block_on(host.load("keep-last", keep_last))
        .expect("loads");
    for units in [100, 1_000, 10_000] {
        let times = step_times(units, &host, &runtime, &guest);
        let times = times.map(|time| format!(" {:>16.2}", time.as_secs_f64() * 1e6));
        println!("{units:<8}{}", times.concat());
    }
}

/// Returns the median times of one step of an agent, by how it decides.
fn step_times(
    units: usize,
    host: &Arc<Host>,
    runtime: &Runtime,
    guest: &Strategy,
) -> [Duration; 7] {
    let mut conversation = host.read(baler_benches::short(units)).expect("reads");
    let request = Request::default().with_budget(Budget::Tokens(u32::MAX));
    let mut number = 0;
    let mut next = || {
        number += 1;
        format!(r#"{{"role":"user","content":"And what about case {number} of the tariff?"}}"#)
    };
    let append = median(|| conversation.append(&next()).expect("a message"));
    let trigger = median(|| {
        black_box(host.is_due(&conversation, &request));
    });
    let append_and_trigger = median(|| {
        conversation.append(&next()).expect("a message");
        black_box(host.is_due(&conversation, &request));
    });
    let compactor = compactor_step(host, runtime, conversation.clone(), &mut next);
    let ask = |conversation: &Conversation| {
        let asked = runtime.block_on(host.should_compact(conversation, guest, &request));
        assert!(
            matches!(asked.decision, Decision::Wait(_)),
            "{:?}",
            asked.attempt
        );
    };
    let guest = median(|| ask(&conversation));
    let append_and_guest = median(|| {
        conversation.append(&next()).expect("a message");
        ask(&conversation);
    });
    let document = conversation.document().to_owned();
    let read_again = median(|| {
        black_box(host.read(document.as_str()).expect("reads"));
    });
    [
        append,
        trigger,
        append_and_trigger,
        compactor,
        guest,
        append_and_guest,
        read_again,
    ]
}

/// Measures a step of a compactor: it appends a message and decides.
fn compactor_step(
    host: &Arc<Host>,
    runtime: &Runtime,
    conversation: Conversation,
    next: &mut impl FnMut() -> String,
) -> Duration {
    let mut compactor = Compactor::new(
        Arc::clone(host),
        conversation,
        [Strategy::digest()],
        CompactorOptions::default().with_context_window(Some(u32::MAX)),
    )
    .expect("valid options");
    median(|| {
        compactor.append(&next()).expect("a message");
        let step = runtime.block_on(compactor.step()).expect("no archive");
        assert!(step.pressure.is_none());
    })
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}
