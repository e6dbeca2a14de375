//! How large what a compactor leaves is, where much has to stay.

use serde_json::{Value, json};

use super::{
    block_on, by_tokens, compactor, fill, half_of_what_may_go, host, must_stay, said, step,
};
use crate::compactor::{Compactor, CompactorOptions, Pressure, Triggers};
use crate::receipt::{Outcome, Unchanged};
use crate::sample;
use crate::strategy::Strategy;

const RULE: &str = "Never rename the module harbour.rs: other crates use it.";

/// A compactor with a window of 32,000 tokens, so that it is time from 25,600 on, and a digest.
fn in_a_small_window(first: &[Value]) -> Compactor {
    let host = host();
    let body = json!({"model": "m", "messages": first});
    let conversation = host.read(body.to_string()).expect("reads");
    let options = CompactorOptions {
        context_window: Some(32_000),
        policy: sample::policy(),
        ..CompactorOptions::default()
    };
    Compactor::new(host, conversation, [Strategy::digest()], options).expect("makes sense")
}

/// About so many tokens.
fn many(tokens: usize) -> String {
    "sea ".repeat(tokens)
}

/// Compacts, and looks whether the digest tells what the user said.
fn keeps_the_rule(one: &mut Compactor) {
    let done = step(one);
    assert_eq!(done.pressure, Some(Pressure::Tokens));
    let receipt = &done.receipts[0];
    assert_eq!(receipt.strategy.as_deref(), Some("native:digest"));
    let tokens = receipt.tokens;
    let must_stay = must_stay(one, tokens.floor);
    assert!(
        must_stay > 12_800,
        "more than half of the trigger: {tokens:?}"
    );
    assert_eq!(tokens.budget, half_of_what_may_go(25_600, must_stay));
    assert_eq!(receipt.units.texts_shortened, 0);
    assert!(one.document().contains("harbour.rs"));
    assert!(step(one).pressure.is_none());
}

#[test]
fn an_overhead_beyond_half_of_the_trigger_leaves_room_for_a_digest() {
    let mut one = in_a_small_window(&[
        said("system", &many(16_000)),
        said("user", "Plan our week by the sea."),
        said("assistant", "With pleasure."),
        said("user", RULE),
    ]);
    while one.tokens() < 25_600 {
        fill(&mut one, 2);
    }
    keeps_the_rule(&mut one);
}

#[test]
fn a_newest_message_beyond_half_of_the_trigger_leaves_room_for_a_digest() {
    let mut one = in_a_small_window(&[
        said("user", "Plan our week by the sea."),
        said("assistant", "With pleasure."),
        said("user", RULE),
    ]);
    while one.tokens() < 12_700 {
        fill(&mut one, 2);
    }
    let pasted = said("user", &many(13_000)).to_string();
    one.append(&pasted).expect("is a message");
    keeps_the_rule(&mut one);
    assert!(one.document().contains(&pasted));
}

/// Half of what can go: nothing that is below the trigger could be reached.
#[test]
fn what_has_to_stay_beyond_the_trigger_does_not_take_all_else_with_it() {
    let mut one = compactor(by_tokens(50));
    fill(&mut one, 12);
    let done = step(&mut one);
    let tokens = done.receipts[0].tokens;
    assert!(tokens.floor > 50, "{tokens:?}");
    assert_eq!(
        tokens.budget,
        half_of_what_may_go(tokens.before, tokens.floor)
    );
    assert!(done.is_compacted());
}

#[test]
fn an_overflow_leaves_room_for_a_digest_beside_what_has_to_stay() {
    let mut one = in_a_small_window(&[
        said("system", &many(16_000)),
        said("user", "Plan our week by the sea."),
        said("assistant", "With pleasure."),
        said("user", RULE),
    ]);
    fill(&mut one, 40);
    let refused = block_on(one.overflowed()).expect("no archive");
    let tokens = refused.receipts[0].tokens;
    // 70 % of about 20,000 is less.
    assert_eq!(tokens.budget, tokens.floor + 500);
    assert!(one.document().contains("harbour.rs"));
}

#[test]
fn where_all_of_it_has_to_stay_it_says_so() {
    let mut one = compactor(by_tokens(5));
    let outcome = step(&mut one).receipts[0].outcome;
    assert_eq!(outcome, Outcome::Unchanged(Unchanged::AtFloor));
}

#[test]
fn a_trigger_of_bytes_is_not_what_the_result_may_have() {
    let mut one = compactor(CompactorOptions {
        triggers: Triggers {
            bytes: Some(5_000),
            ..Triggers::NONE
        },
        policy: sample::policy(),
        ..CompactorOptions::default()
    });
    fill(&mut one, 12);
    // The task, the newest message of about 500 bytes, and what stands around them have to stay.
    let most = one.work().request.max_bytes.expect("has a trigger");
    assert!((2_700..=2_900).contains(&most), "{most}");
    assert!(step(&mut one).is_compacted());
    assert!(one.conversation().bytes() <= most);
}
