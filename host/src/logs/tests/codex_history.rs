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
fn an_empty_history_takes_neither_the_summary_nor_what_the_user_said() {
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
fn a_compaction_keeps_what_the_user_said_since_the_last_history() {
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
fn a_rollback_restores_what_a_history_replaced() {
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
fn a_count_after_a_compaction_covers_what_it_kept() {
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
