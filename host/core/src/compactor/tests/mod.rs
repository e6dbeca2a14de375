//! What a compactor does, with the host's own strategies.

mod config;
mod later;
mod options;
mod saving;
mod steps;
mod targets;

use std::sync::Arc;

use serde_json::{Value, json};

use baler_conversation::marks::SecretKey;

use super::{Compactor, CompactorOptions, Step, Triggers};
use crate::sample;
use crate::strategy::Strategy;
use crate::{Host, conversation::tokenizers::Tokenizer};

fn host() -> Arc<Host> {
    let host = Host::builder()
        .key(SecretKey::new([7; 32]))
        .tokenizer(Tokenizer::named("o200k_base").expect("is one"))
        .build()
        .expect("no state that could fail");
    Arc::new(host)
}

/// A compactor of an empty conversation with one user message.
fn compactor(options: CompactorOptions) -> Compactor {
    let host = host();
    let body = json!({"model": "m", "messages": [said("user", "Plan our week by the sea.")]});
    let conversation = host.read(body.to_string()).expect("reads");
    Compactor::new(host, conversation, [Strategy::truncate()], options).expect("makes sense")
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

fn fill(compactor: &mut Compactor, messages: usize) {
    for number in 0..messages {
        let role = if number % 2 == 0 { "assistant" } else { "user" };
        compactor.append(&long(role, number)).expect("is a message");
    }
}

/// A message of about 100 tokens.
fn long(role: &str, number: usize) -> String {
    let line = format!("Day {number} begins at the harbour and ends late with music. ");
    said(role, &line.repeat(8)).to_string()
}

fn state_of(compactor: &Compactor) -> String {
    compactor.save().expect("is JSON")
}

fn step(compactor: &mut Compactor) -> Step {
    block_on(compactor.step()).expect("no archive that could fail")
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(future)
}

fn by_tokens(tokens: u32) -> CompactorOptions {
    CompactorOptions {
        triggers: Triggers {
            tokens: Some(tokens),
            ..Triggers::NONE
        },
        policy: sample::policy(),
        ..CompactorOptions::default()
    }
}

/// Returns the tokens that stay if the newest user message stays whole. The floor counts it as 400 tokens.
fn must_stay(one: &Compactor, floor: u32) -> u32 {
    let conversation = one.conversation();
    let units = conversation.units();
    let newest = units.iter().rposition(|unit| unit.traits.user_text);
    let tokens = conversation.text_tokens(newest.expect("it said something"), (0, 0));
    floor + tokens.saturating_sub(400)
}

/// What a compactor aims at by default, of so many tokens of which those of the floor have to stay.
fn half_of_what_may_go(tokens: u32, floor: u32) -> u32 {
    floor + (tokens - floor) / 2
}
