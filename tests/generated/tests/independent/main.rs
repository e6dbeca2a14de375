//! What the generator promises, looked at with another reader of JSON than the host's.

#![allow(
    clippy::expect_used,
    reason = "helpers of tests end the test where something is not as it should be"
)]

/// The rules of the wire formats, one checker for each.
mod validity;
/// All that conversations shall hold does occur.
mod features;

use std::time::{Duration, Instant};

use baler_generated::{Choices, Generated, Kind, conversation};
use serde_json::Value;

/// A conversation of up to sixty messages.
fn generated(kind: Kind, seed: u64) -> Generated {
    let mut choices = Choices::from_seed(seed);
    let about = choices.below(60);
    conversation(kind, about, &mut choices)
}

/// The name of the list in the request body.
fn list_name(kind: Kind) -> &'static str {
    match kind {
        Kind::OpenAiChat | Kind::Anthropic | Kind::BedrockConverse => "messages",
        Kind::OpenAiResponses => "input",
        Kind::Gemini => "contents",
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn everything_is_json_and_the_document_holds_the_messages() {
    for kind in Kind::ALL {
        for seed in 0..500 {
            let generated = generated(kind, seed);
            let body = read(&generated.document());
            let messages: Vec<Value> = generated.messages.iter().map(|text| read(text)).collect();
            assert_eq!(list(&body[list_name(kind)]), messages, "{kind:?} {seed}");
        }
    }
}

#[test]
fn every_cut_is_json() {
    for kind in Kind::ALL {
        for seed in 0..50 {
            let generated = generated(kind, seed);
            for n in 0..=generated.messages.len() {
                let body = read(&generated.cut(n));
                assert_eq!(list(&body[list_name(kind)]).len(), n);
            }
        }
    }
}

#[test]
fn about_as_many_messages_come_as_were_asked_for() {
    for kind in Kind::ALL {
        for seed in 0..200 {
            let mut choices = Choices::from_seed(seed);
            let count = conversation(kind, 500, &mut choices).messages.len();
            assert!((500..540).contains(&count), "{kind:?} {seed}: {count}");
        }
    }
}

#[test]
fn fewer_bytes_give_no_longer_conversations_in_the_end() {
    let bytes: Vec<u8> = (0..400u32).map(|n| (n * 167 % 251) as u8).collect();
    for kind in Kind::ALL {
        let size = |n: usize| {
            let mut choices = Choices::from_bytes(&bytes[..n]);
            conversation(kind, usize::MAX, &mut choices).messages.len()
        };
        assert!(size(400) > 8, "{kind:?} {}", size(400));
        assert!(size(100) < size(400));
        assert!(size(0) == 2);
    }
}

#[test]
fn a_megabyte_takes_milliseconds() {
    let limit = if cfg!(debug_assertions) { 3000 } else { 50 };
    for kind in Kind::ALL {
        // The fastest of some: others use the machine, too.
        let per_megabyte = (0..5)
            .map(|seed| {
                let begin = Instant::now();
                let generated = conversation(kind, 2000, &mut Choices::from_seed(seed));
                let size = generated.document().len();
                begin.elapsed().as_secs_f64() * 1e6 / size as f64
            })
            .fold(f64::INFINITY, f64::min);
        let taken = Duration::from_secs_f64(per_megabyte);
        assert!(taken < Duration::from_millis(limit), "{kind:?}: {taken:?}");
    }
}
