//! Planck's use in an agent's loop.

use baler_host::compactor::{Pressure, Triggers};
use serde_json::Value;

use super::{Script, append, by, compactor, long, sent, step, text, user};

fn messages(count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| user(&format!("Message {number}. {}", long("word", 90))))
        .collect()
}

fn share() -> baler_host::CompactorOptions {
    by(Triggers::NONE.with_share(Some(0.8))).with_context_window(Some(1_000))
}

/// PL-S24, PL-S25, PL-S26, PL-2, PL-3, P17, P18
#[tokio::test]
async fn strategy_is_asked_before_every_call_and_sees_what_the_model_sees() {
    let model = Script::new([Ok("Summary of old messages.")]);
    let config = r#"{"keep-last-messages": 2}"#;
    let mut one = compactor(&messages(1), "summarize", config, Some(&model), share()).await;
    assert!(step(&mut one).await.pressure.is_none());
    append(&mut one, &messages(12)[1..]);
    let done = step(&mut one).await;
    assert_eq!(done.pressure, Some(Pressure::Window));
    assert_eq!(done.receipts[0].messages.before, 12);
    assert!(one.document().contains("Summary of old messages."));
    // The next one begins at the summary, and not at what it stands for.
    let later: Vec<Value> = (0..10)
        .map(|number| user(&format!("Later {number}. {}", long("word", 90))))
        .collect();
    append(&mut one, &later);
    step(&mut one).await;
    assert!(model.asked()[1].prompt.contains("Summary of old messages."));
    assert!(!model.asked()[1].prompt.contains("Message 3."));
}

/// PAIN-26, PL-1, PL-16: a strategy that is a component is used by its `compact` alone.
#[tokio::test]
async fn component_strategy_compacts_in_a_loop() {
    let mut one = compactor(
        &messages(9),
        "trim",
        r#"{"keep-recent-turns": 1}"#,
        None,
        share(),
    )
    .await;
    assert!(step(&mut one).await.is_compacted());
}

/// PL-N8, PL-I5, PL-N5: the model is asked apart from the agent, and once for the same input.
#[tokio::test]
async fn the_model_that_failed_is_not_asked_again_for_the_same() {
    let model = Script::down();
    let config = r#"{"keep-last-messages": 2}"#;
    let mut one = compactor(&messages(9), "summarize", config, Some(&model), share()).await;
    for _ in 0..5 {
        step(&mut one).await;
    }
    assert_eq!(model.asked().len(), 1);
    assert_eq!(model.asked()[0].prompt.matches("Message 1.").count(), 1);
}

/// PAIN-24, PL-I10, PL-S18, PL-S28: what the model writes is plain text, and stands as a user's message.
#[tokio::test]
async fn the_summary_is_text_in_the_users_role() {
    let model = Script::new([Ok("{\"keep\": [1, 2]} is what I would say.")]);
    let config = r#"{"keep-last-messages": 2}"#;
    let mut one = compactor(&messages(9), "summarize", config, Some(&model), share()).await;
    step(&mut one).await;
    let with_text: Vec<Value> = sent(&one)
        .into_iter()
        .filter(|sent| text(sent).contains("is what I would say"))
        .collect();
    assert_eq!(with_text.len(), 1);
    assert_eq!(with_text[0]["role"], "user");
}
