//! Apeira's loop: failures in a row, the placeholder, anchors and turns.

use std::sync::Arc;

use baler_host::{
    Compactor, CompactorOptions,
    compactor::Triggers,
    receipt::{Outcome, Unchanged},
    request::{Policy, SummaryRole},
};
use serde_json::Value;

use super::{Script, append, assistant, by, compactor, long, sent, step, text, user};

const PLACEHOLDER: &str = "(Earlier conversation omitted due to length)";

/// The apeira preset: the summary has the developer's role.
fn options(tokens: u32) -> CompactorOptions {
    by(Triggers::NONE.with_tokens(Some(tokens)))
        .with_policy(
            Policy::default()
                .with_summary_role(SummaryRole::Developer)
                .with_user_percent(0),
        )
        .with_retry_after(1)
        // The trigger of these tests is the loop's.
        .with_ask_strategy(false)
}

fn old_and_recent() -> Vec<Value> {
    vec![
        user("old request"),
        assistant(&long("old", 300)),
        user("recent request"),
        assistant("recent answer"),
    ]
}

/// Apeira's own strategy, over [`old_and_recent`].
async fn anchored(model: Option<&Arc<Script>>) -> Compactor {
    let config = r#"{"role": "developer", "preserve-turns": 1}"#;
    compactor(&old_and_recent(), "anchored", config, model, options(300)).await
}

/// A1, AP-S17, AP-11, AP-4, AP-5, AP-16, AP-17, AP-S14
#[tokio::test]
async fn older_requests_the_summary_and_the_recent_turns_are_what_is_left() {
    let model = Script::new([Ok("summary text")]);
    let mut one = anchored(Some(&model)).await;
    assert!(step(&mut one).await.is_compacted());
    let sent = sent(&one);
    let roles: Vec<&str> = sent
        .iter()
        .filter_map(|sent| sent["role"].as_str())
        .collect();
    assert_eq!(roles, ["user", "developer", "user", "assistant"]);
    assert_eq!(text(&sent[0]), "old request");
    assert!(text(&sent[1]).contains("<context_summary>\nsummary text\n</context_summary>"));
    assert_eq!(text(&sent[3]), "recent answer");
    // What is stored now begins with it: old history does not come back.
    assert!(!one.document().contains("old old"));
    assert_eq!(model.asked().len(), 1);
    assert!(!model.asked()[0].prompt.contains("recent answer"));
}

/// A6, AH6, AP-13, AP-14, AP-S20, AP-S21, AP-S18, AP-N12, ALL-N10
#[tokio::test]
async fn two_failures_leave_the_history_and_the_third_needs_no_model() {
    let model = Script::down();
    let mut one = anchored(Some(&model)).await;
    for failures in 1..=2 {
        let failed = step(&mut one).await;
        assert_eq!(
            failed.receipts[0].outcome,
            Outcome::Unchanged(Unchanged::StrategyFailed)
        );
        assert_eq!(one.failures_in_a_row(), failures);
        append(&mut one, &[assistant("Hm.")]);
    }
    let third = step(&mut one).await;
    assert!(third.is_compacted());
    assert_eq!(one.failures_in_a_row(), 0);
    assert_eq!(one.compactions(), 1);
}

/// A3, AP-S22, AP-N3, A15: the last of the chain truncates with apeira's own words, and only
/// where something left.
#[tokio::test]
async fn truncation_puts_the_placeholder_first_and_keeps_the_recent_turns() {
    let mut one = compactor(&old_and_recent(), "native:truncate", "", None, options(300)).await;
    one.pin(baler_host::Pins::None).expect("names no unit");
    assert!(step(&mut one).await.is_compacted());
    let sent = sent(&one);
    assert!(text(&sent[0]).contains(PLACEHOLDER));
    assert_eq!(text(&sent[1]), "recent request");
    assert_eq!(text(&sent[2]), "recent answer");
    let mut one = compactor(
        &[user("only"), assistant("this")],
        "native:truncate",
        "",
        None,
        options(1),
    )
    .await;
    step(&mut one).await;
    assert!(!one.document().contains(PLACEHOLDER));
}

/// AP-N2, AP-N16, ALL-N1
#[tokio::test]
async fn an_earlier_summary_survives_truncation() {
    let model = Script::new([
        Ok("The treasure lies under the third oak."),
        Err(baler_host::model::ModelError::Unavailable(
            "gone".to_owned(),
        )),
    ]);
    let mut one = anchored(Some(&model)).await;
    assert!(step(&mut one).await.is_compacted());
    append(
        &mut one,
        &[user("more"), assistant(&long("more", 400)), user("and")],
    );
    for _ in 0..3 {
        step(&mut one).await;
        append(&mut one, &[assistant("Hm.")]);
    }
    assert_eq!(one.compactions(), 2);
    assert!(one.document().contains("under the third oak"));
}

/// A21, AP-S19
#[tokio::test]
async fn a_success_ends_the_row_of_failures() {
    let down = || {
        Err(baler_host::model::ModelError::Unavailable(
            "gone".to_owned(),
        ))
    };
    let model = Script::new([
        down(),
        down(),
        Ok("It went on."),
        down(),
        down(),
        Ok("And on."),
    ]);
    let mut one = anchored(Some(&model)).await;
    let mut outcomes = Vec::new();
    for _ in 0..6 {
        append(&mut one, &[user("next"), assistant(&long("next", 300))]);
        outcomes.push(step(&mut one).await.is_compacted());
    }
    assert_eq!(outcomes, [false, false, true, false, false, true]);
    assert_eq!(one.failures_in_a_row(), 0);
}

/// PAIN-13, PAIN-14, AP-S5, A12, AP-18, AP-N13, AP-N14, AP-N17, AP-12: sizes are the model's own tokens, of all
/// that is sent, and are always there.
#[tokio::test]
async fn the_estimate_covers_system_prompt_and_scripts_of_all_kinds() {
    let with = |text: &str| vec![user(text)];
    let plain = compactor(&with("hello"), "native:digest", "", None, options(9_999)).await;
    let mut system = with("hello");
    system.insert(
        0,
        serde_json::json!({"role": "system", "content": long("rule", 200)}),
    );
    let system = compactor(&system, "native:digest", "", None, options(9_999)).await;
    assert!(system.tokens() > plain.tokens() + 190);
    let text = "港の計画を立てる".repeat(20);
    let cjk = compactor(&with(&text), "native:digest", "", None, options(9_999)).await;
    // A quarter of its UTF-16 units would be 40.
    assert!(cjk.tokens() > 80, "{}", cjk.tokens());
}

/// PAIN-12, AP-S3, AP-N11, PL-S24
#[tokio::test]
async fn a_long_tool_loop_is_checked_before_every_step() {
    let model = Script::new([Ok("It read files.")]);
    let mut one = compactor(
        &[user("Read all files.")],
        "summarize",
        r#"{"keep-last-units": 1}"#,
        Some(&model),
        options(1_500),
    )
    .await;
    let mut compactions = 0;
    for number in 0..20 {
        let id = format!("c{number}");
        let call = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}]});
        let output =
            serde_json::json!({"role": "tool", "tool_call_id": id, "content": long("line", 200)});
        append(&mut one, &[call, output]);
        compactions += usize::from(step(&mut one).await.is_compacted());
        assert!(one.tokens() < 1_500, "{number}: {}", one.tokens());
    }
    assert!(compactions >= 2, "{compactions}");
}

/// PAIN-23, A7, PU-S21, PU-I6: without a model of its own a strategy gets the one that the program grants it.
#[tokio::test]
async fn the_model_is_the_one_that_was_granted() {
    let model = Script::new([Ok("summary text")]);
    let mut one = anchored(Some(&model)).await;
    let done = step(&mut one).await;
    let asked = done.receipts[0].attempts[0].model.expect("it asked");
    assert_eq!(asked.calls as usize, model.asked().len());
    let mut one = anchored(None).await;
    let failed = step(&mut one).await;
    assert!(!failed.is_compacted());
    assert!(failed.receipts[0].attempts[0].model.is_none());
}
