//! Puck's automatic use: its own strategies, hooks and events around each call.

use std::sync::{Arc, Mutex};

use baler_host::{
    Compaction, CompactorOptions, Request,
    compactor::{Event, HookContext, HookDecision, Hooks, Triggers},
    receipt::{Outcome, Unchanged},
};
use serde_json::Value;

use super::{Script, append, assistant, by, compactor, long, sent, step, text, user};

/// Three turns of about 100 tokens each.
fn turns(count: usize) -> Vec<Value> {
    (1..=count)
        .flat_map(|turn| {
            [
                user(&format!("Question {turn}. {}", long("why", 40))),
                assistant(&format!("Answer {turn}. {}", long("so", 40))),
            ]
        })
        .collect()
}

fn messages(most: usize) -> CompactorOptions {
    by(Triggers::NONE.with_messages(Some(most)))
}

/// R1, R13, R14, PU-5, PU-7, PU-S20, C1, SW3
#[tokio::test]
async fn a_window_keeps_the_newest_messages_after_each_call_and_all_calls_are_recorded() {
    let mut one = compactor(
        &turns(2),
        "sliding-window",
        r#"{"keep": {"messages": 1}}"#,
        None,
        messages(3),
    )
    .await;
    one.pin(baler_host::Pins::None).expect("names no unit");
    for number in 3..=8 {
        append(&mut one, &turns(number)[2 * number - 2..]);
        assert!(step(&mut one).await.is_compacted(), "{number}");
        let sent = sent(&one);
        assert_eq!(sent.len(), 2, "{number}");
        assert!(text(&sent[0]).starts_with(&format!("Question {number}")));
    }
    assert_eq!(one.history().count(), 16);
}

/// R2, R3, PU-S3, SW6
#[tokio::test]
async fn compactor_below_its_threshold_changes_nothing() {
    let mut one = compactor(&turns(1), "sliding-window", "{}", None, messages(10)).await;
    append(&mut one, &turns(2)[2..]);
    assert!(step(&mut one).await.pressure.is_none());
    assert_eq!(sent(&one).len(), 4);
}

/// R4, R5, SU8, SU9, PU-6, PU-S15, PU-S19, PU-12
#[tokio::test]
async fn a_strategys_own_trigger_decides_where_the_host_has_none() {
    let model = Script::new([Ok("They asked, and got answers.")]);
    let config = r#"{"preset": "puck", "keep-last-messages": 1, "trigger-tokens": 400}"#;
    let options = by(Triggers::NONE);
    let mut one = compactor(&turns(2), "summarize", config, Some(&model), options).await;
    assert!(one.tokens() < 400);
    assert!(step(&mut one).await.pressure.is_none());
    append(&mut one, &turns(5)[4..]);
    assert!(one.tokens() >= 400);
    assert!(step(&mut one).await.is_compacted());
    assert!(one.document().contains("They asked, and got answers."));
}

/// C3, PU-6, PU-S23, PU-N16: without an opinion and without a trigger it is always time, and the
/// progress check keeps that from a loop.
#[tokio::test]
async fn a_strategy_without_an_opinion_compacts_where_no_trigger_is_set() {
    let options = by(Triggers::NONE);
    let mut one = compactor(&turns(6), "mask-tool-outputs", "{}", None, options).await;
    let first = step(&mut one).await;
    assert!(first.pressure.is_some());
    let compactions = one.compactions();
    for _ in 0..5 {
        step(&mut one).await;
    }
    assert!(one.compactions() <= compactions + 4);
    assert!(one.document().contains("Question 6."));
}

/// PAIN-9, PAIN-25, C2, PU-N4, ALL-N6: a strategy that clears all has what must stay put back by the contract.
#[tokio::test]
async fn nothing_drops_the_newest_request() {
    let config = r#"{"keep": {"messages": 1}}"#;
    let mut one = compactor(&turns(4), "sliding-window", config, None, messages(2)).await;
    append(&mut one, &[user("And now?")]);
    assert!(step(&mut one).await.is_compacted());
    assert_eq!(
        sent(&one)
            .last()
            .map(|last| text(last).to_owned())
            .as_deref(),
        Some("And now?")
    );
}

/// R15, PU-N1, PU-S18, PU-N10, PU-I1
#[tokio::test]
async fn usage_is_the_size_now_and_not_a_sum() {
    let model = Script::new([Ok("They asked.")]);
    let options = by(Triggers::NONE.with_tokens(Some(1_000)));
    let config = r#"{"preset": "puck", "keep-last-messages": 1}"#;
    let mut one = compactor(&turns(1), "summarize", config, Some(&model), options).await;
    for (usage, expected) in [(600, false), (1_200, true), (50, false)] {
        append(&mut one, &turns(4)[4..]);
        one.reported(usage);
        assert_eq!(step(&mut one).await.is_compacted(), expected, "{usage}");
    }
}

/// R12, PU-S22, PU-S14, PU-N14, SU7
#[tokio::test]
async fn failure_is_reported_and_the_context_stays() {
    let model = Script::down();
    let config = r#"{"preset": "puck", "keep-last-messages": 1}"#;
    let mut one = compactor(&turns(5), "summarize", config, Some(&model), messages(2)).await;
    let before = sent(&one);
    let mut events = one.events();
    let failed = step(&mut one).await;
    assert_eq!(
        failed.receipts[0].outcome,
        Outcome::Unchanged(Unchanged::StrategyFailed)
    );
    assert_eq!(sent(&one), before);
    assert!(matches!(events.try_next(), Some(Event::Compacting { .. })));
    assert!(matches!(events.try_next(), Some(Event::Ended(_))));
}

/// Hooks that record how they were called.
#[derive(Debug, Default)]
struct Recording {
    before: Mutex<Vec<String>>,
    after: Mutex<Vec<bool>>,
}

impl Hooks for Recording {
    fn before(&self, attempting: &HookContext<'_>, _: &mut Request) -> HookDecision {
        let mut before = self.before.lock().expect("no panic");
        before.push(attempting.strategies.join(", "));
        HookDecision::Proceed
    }

    fn after(&self, compaction: &Compaction) {
        let mut after = self.after.lock().expect("no panic");
        after.push(compaction.is_compacted());
    }
}

/// R10, PU-S25, PU-S24, PU-N11, PU-N12, PU-I3, PU-I5
#[tokio::test]
async fn hooks_are_called_with_the_strategys_name_by_compact_now_and_by_step() {
    let config = r#"{"keep": {"messages": 2}}"#;
    let options = messages(2);
    let one = compactor(&turns(4), "sliding-window", config, None, options).await;
    let hooks = Arc::new(Recording::default());
    let mut one = one.with_hooks(hooks.clone());
    let mut events = one.events();
    let by_hand = one.compact_now(None).await.expect("no archive");
    assert!(by_hand.is_compacted());
    assert!(matches!(events.try_next(), Some(Event::Compacting { .. })));
    append(&mut one, &turns(8)[8..]);
    assert!(step(&mut one).await.is_compacted());
    let before = hooks.before.lock().expect("no panic").clone();
    assert_eq!(before, ["sliding-window", "sliding-window"]);
    let after = hooks.after.lock().expect("no panic").clone();
    assert_eq!(after, [true, true]);
}

/// R6
#[tokio::test]
async fn a_streaming_call_compacts_before_the_request_and_keeps_the_new_message() {
    let config = r#"{"keep": {"messages": 1}}"#;
    let mut one = compactor(&turns(2), "sliding-window", config, None, messages(2)).await;
    one.pin(baler_host::Pins::None).expect("names no unit");
    append(&mut one, &[user("Stream it.")]);
    assert!(step(&mut one).await.is_compacted());
    let sent = sent(&one);
    assert_eq!(sent.len(), 2);
    assert!(text(&sent[0]).starts_with("Answer 2."));
    assert_eq!(text(&sent[1]), "Stream it.");
}

/// SU4, SU5, PU-S13, PU-I4, PU-S26, R11, PU-9, PU-N17, PU-I2, PU-N8: what puck writes into
/// metadata stands in the receipt, for every strategy alike, and the body's own members stay.
#[tokio::test]
async fn the_receipt_names_the_strategy_its_component_and_the_counts() {
    for (name, config) in [
        ("sliding-window", r#"{"keep": {"messages": 2}}"#),
        (
            "summarize",
            r#"{"preset": "puck", "keep-last-messages": 2}"#,
        ),
    ] {
        let model = Script::new([Ok("They asked.")]);
        let mut one = compactor(&turns(5), name, config, Some(&model), messages(2)).await;
        let done = step(&mut one).await;
        let receipt = &done.receipts[0];
        assert_eq!(receipt.strategy.as_deref(), Some(name));
        assert!(receipt.attempts[0].component.is_some());
        assert_eq!(receipt.messages.before, 10);
        assert_eq!(receipt.messages.after, sent(&one).len());
        assert!(one.document().contains("\"model\":\"gpt-4o\""));
    }
}
