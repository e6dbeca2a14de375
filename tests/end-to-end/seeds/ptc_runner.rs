//! ptc_runner's use in the loop.

use baler_host::{
    CompactorOptions,
    compactor::{Pressure, Triggers},
};
use serde_json::{Value, json};

use super::{append, assistant, by, compactor, long, sent, step, text, user};

fn turns(most: u32) -> CompactorOptions {
    by(Triggers::NONE.with_turns(Some(most)))
}

/// A call of a tool, what it printed, and what was said then.
fn turn(number: usize) -> Vec<Value> {
    let id = format!("c{number}");
    vec![
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "search", "arguments": "{\"q\":\"a\"}"}}]}),
        json!({"role": "tool", "tool_call_id": id, "content": long("hit", 60)}),
        assistant(&format!("Found {number}.")),
        user(&format!("Go on with {number}.")),
    ]
}

/// L1, L2, L3, PT-S32, PT-S33, PT-T1, T17, PT-3, PT-12, PT-I1, PT-N1
#[tokio::test]
async fn under_pressure_the_old_turns_become_one_text_and_before_it_nothing_happens() {
    let mut one = compactor(&[user("Find it.")], "coalesce", "{}", None, turns(8)).await;
    for number in 0..8 {
        append(&mut one, &turn(number));
        let stepped = step(&mut one).await;
        assert_eq!(stepped.is_compacted(), number == 7, "{number}");
    }
    let sent = sent(&one);
    // The task is pinned, so the text is a message of its own behind it.
    assert_eq!(text(&sent[0]), "Find it.");
    let said = text(&sent[1]);
    assert!(said.contains("Tool calls made:"), "{said}");
    assert_eq!(one.history().count(), 33);
}

/// PT-2, PT-S34, PT-S36, V1, PT-N6: a strategy gives a plan and never messages; a fault of it ends
/// with the next strategy and not with the agent.
#[tokio::test]
async fn what_a_strategy_inserts_has_the_users_role_only() {
    let mut one = compactor(&[user("Find it.")], "coalesce", "{}", None, turns(2)).await;
    for number in 0..6 {
        append(&mut one, &turn(number));
    }
    assert!(step(&mut one).await.is_compacted());
    let sent = sent(&one);
    let inserted: Vec<&Value> = sent
        .iter()
        .filter(|message| message["content"].to_string().contains("baler:"))
        .collect();
    assert!(!inserted.is_empty());
    for message in inserted {
        assert_eq!(message["role"], "user");
    }
}

/// PT-S35, PT-S37, L4, PT-T14: turns left are the program's to say, by call.
#[tokio::test]
async fn the_context_of_the_call_reaches_the_strategy() {
    let mut one = compactor(&[user("Find it.")], "coalesce", "{}", None, turns(2)).await;
    one.set_context(Some(r#"{"turns-left": 3}"#.to_owned()));
    for number in 0..6 {
        append(&mut one, &turn(number));
    }
    assert!(step(&mut one).await.is_compacted());
    assert!(one.document().contains("Turns left: 3"));
}

/// T18, PT-T11, PT-T13, PT-I9
#[tokio::test]
async fn trim_shortens_the_request_keeps_the_history_and_sends_events_once() {
    let config = r#"{"keep-recent-turns": 2, "trigger": {"turns": 5}}"#;
    let mut one = compactor(&[user("Find it.")], "trim", config, None, turns(5)).await;
    let mut events = one.events();
    for number in 0..6 {
        append(&mut one, &turn(number));
    }
    let done = step(&mut one).await;
    assert_eq!(done.pressure, Some(Pressure::Turns));
    assert!(done.is_compacted());
    assert_eq!(one.history().count(), 25);
    assert!(sent(&one).len() < 25);
    assert_eq!(text(&sent(&one)[0]), "Find it.");
    assert_eq!(std::iter::from_fn(|| events.try_next()).count(), 2);
    assert!(step(&mut one).await.receipts.is_empty());
}
