//! Compactions and rollbacks of Codex on top of each other.

use serde_json::{Value, json};

use super::codex::{answer, count, item, line, roll_back, user};
use super::{file, log, messages, try_read};

fn compacted(summary: &str) -> Value {
    line("compacted", json!({"message": summary}))
}

fn replaced(summary: &str, history: &[Value]) -> Value {
    line(
        "compacted",
        json!({"message": summary, "replacement_history": history}),
    )
}

fn summary(text: &str) -> Value {
    json!({"role": "user", "content": format!("[{text}]")})
}

// LCX-10
#[test]
fn many_compactions_cost_no_stack() {
    let start = file(&[item(user("Count the crates."))]);
    let end = file(&[item(user("And barrels?"))]);
    for compaction in [
        "{\"type\":\"compacted\",\"payload\":{}}\n",
        "{\"type\":\"compacted\",\"payload\":{\"replacement_history\":[]}}\n",
    ] {
        let text = format!("{start}{}{end}", compaction.repeat(200_000));
        let log = try_read(&text).unwrap();
        assert_eq!(messages(&log).last(), Some(&user("And barrels?")));
    }
}

// LCX-10
#[test]
fn empty_history_takes_neither_the_summary_nor_what_the_user_said() {
    let log = log(&[
        item(user("Count the crates.")),
        item(answer("Twelve.")),
        replaced("Twelve crates.", &[]),
        item(user("And barrels?")),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("Count the crates."),
            summary("Twelve crates."),
            user("And barrels?")
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.recorded_summaries, facts.earlier_messages), (1, 1));
}

// LCX-10
#[test]
fn only_the_summary_of_the_newest_compaction_is_seen() {
    let log = log(&[
        item(user("Count the crates.")),
        compacted("Twelve crates."),
        item(user("And barrels?")),
        item(answer("Nine.")),
        compacted("Nine barrels."),
        compacted("Twelve crates, nine barrels."),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("Count the crates."),
            user("And barrels?"),
            summary("Twelve crates, nine barrels.")
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.recorded_summaries, facts.earlier_messages), (1, 3));
}

// LCX-10
#[test]
fn compaction_keeps_what_the_user_said_since_the_last_history() {
    let log = log(&[
        item(user("Count the crates.")),
        item(answer("Twelve.")),
        replaced("", &[user("Count them, they said.")]),
        item(answer("Twelve, still.")),
        compacted("Twelve crates."),
        item(user("And barrels?")),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("Count them, they said."),
            summary("Twelve crates."),
            user("And barrels?")
        ]
    );
    assert_eq!(log.facts.earlier_messages, 3);
}

// LCX-10, LCX-11
#[test]
fn rollback_restores_what_a_history_replaced() {
    let after = |turns| {
        log(&[
            item(user("Count the crates.")),
            item(answer("Twelve.")),
            item(user("And barrels?")),
            replaced(
                "Twelve crates.",
                &[user("Count all."), user("Twelve crates.")],
            ),
            item(user("And ropes?")),
            item(answer("Three.")),
            roll_back(turns),
            item(user("And sails?")),
        ])
    };
    let log = after(1);
    assert_eq!(
        messages(&log),
        [
            user("Count all."),
            summary("Twelve crates."),
            user("And sails?")
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.earlier_messages, facts.other_branches), (3, 2));
    let log = after(2);
    assert_eq!(
        messages(&log),
        [
            user("Count the crates."),
            answer("Twelve."),
            user("And sails?")
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.earlier_messages, facts.other_branches), (0, 3));
}

// LCX-7, LCX-10
#[test]
fn count_after_a_compaction_covers_what_it_kept() {
    let lines = [
        item(user("Count the crates.")),
        item(answer("Twelve.")),
        count(400),
        compacted("Twelve crates."),
        item(user("And barrels?")),
        item(answer("Nine.")),
        count(90),
        item(user("Sure?")),
    ];
    assert_eq!(log(&lines).reported, Some((90, 4)));
    // A count from before the compaction says nothing about what is left.
    assert_eq!(log(&lines[..5]).reported, None);
}

/// What one agent says to another, as Codex records it.
fn told(text: &str) -> Value {
    json!({
        "author": "/root/worker", "recipient": "/root", "other_recipients": [],
        "content": text, "trigger_turn": true,
    })
}

fn agent_message(content: Value) -> Value {
    json!({
        "type": "agent_message", "author": "/root/worker", "recipient": "/root",
        "content": content,
    })
}

fn agent_says(text: &str) -> Value {
    agent_message(json!([{"type": "input_text", "text": text}]))
}

// LCX-11
#[test]
fn message_between_agents_begins_a_turn() {
    let left = |message: Value| {
        let log = log(&[
            item(user("Count the crates.")),
            item(answer("A worker counts them.")),
            message,
            item(answer("It is done.")),
            roll_back(1),
            item(user("And barrels?")),
        ]);
        (messages(&log), log.facts.other_branches)
    };
    let kept = vec![
        user("Count the crates."),
        answer("A worker counts them."),
        user("And barrels?"),
    ];
    for message in [
        item(agent_says("Twelve.")),
        item(answer(&told("Twelve.").to_string())),
        line("inter_agent_communication", told("Twelve.")),
    ] {
        assert_eq!(left(message), (kept.clone(), 2));
    }
    // An answer in JSON that is no such message.
    let other = answer(r#"{"author":"Kai","recipient":"/root","content":"Twelve."}"#);
    assert_eq!(left(item(other)), (vec![user("And barrels?")], 4));
}

// LCX-12
#[test]
fn what_another_agent_says_in_a_line_of_its_own_is_an_item() {
    let mut secret = told("");
    secret["encrypted_content"] = json!("gAAAAB=");
    let log = log(&[
        item(user("Count the crates.")),
        line("inter_agent_communication", told("Twelve.\n\"Red\" ones.")),
        line("inter_agent_communication", secret),
        line("inter_agent_communication", told(" \n")),
    ]);
    let head = "Message Type: NEW_TASK\nTask name: /root\nSender: /root/worker\nPayload:\n";
    assert_eq!(
        messages(&log),
        [
            user("Count the crates."),
            agent_says("Twelve.\n\"Red\" ones."),
            agent_message(json!([
                {"type": "input_text", "text": head},
                {"type": "encrypted_content", "encrypted_content": "gAAAAB="},
            ])),
        ]
    );
    assert_eq!(log.facts.skipped_lines, 1);
}
