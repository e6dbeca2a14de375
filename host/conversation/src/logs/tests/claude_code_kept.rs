//! What a compaction of Claude Code's keeps beside its summary (LCC-8).

use serde_json::{Value, json};

use super::claude_code::{calls, result, roles, says, user, with};
use super::{file, log, messages, try_read};
use crate::logs::Log;

fn boundary(id: &str, metadata: Value) -> Value {
    json!({
        "parentUuid": null, "logicalParentUuid": "a1", "isSidechain": false, "type": "system",
        "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": id,
        "sessionId": "s-1", "compactMetadata": metadata,
    })
}

fn named(anchor: &str, ids: &[&str]) -> Value {
    json!({"trigger": "auto", "preservedMessages": {"anchorUuid": anchor, "uuids": ids, "allUuids": ids}})
}

fn chain(anchor: &str, head: &str, tail: &str) -> Value {
    json!({"trigger": "auto", "preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail}})
}

fn summary(id: &str, parent: &str) -> Value {
    let line = user(id, parent, json!("The user mends masts."));
    with(line, "isCompactSummary", json!(true))
}

/// The texts and results of a log, in order, each with the beginning of its role.
fn flow(log: &Log) -> Vec<String> {
    let mut flow = Vec::new();
    for message in messages(log) {
        let role = &message["role"].as_str().expect("a role")[..1];
        match &message["content"] {
            Value::String(text) => flow.push(format!("{role} {text}")),
            blocks => {
                for block in blocks.as_array().expect("blocks") {
                    let said = ["text", "content", "id"]
                        .iter()
                        .find_map(|key| block[key].as_str());
                    flow.push(format!("{role} {}", said.expect("a text or an id")));
                }
            }
        }
    }
    flow
}

#[test]
fn messages_that_a_compaction_kept_stand_behind_its_summary() {
    for metadata in [named("s1", &["u2", "a2", "r2"]), chain("s1", "u2", "r2")] {
        let log = log(&[
            user("u1", "", json!("Mend the masts.")),
            says("a1", "u1", "m1", "The first is done."),
            user("u2", "a1", json!("Never touch the keel.")),
            calls("a2", "u2", "m2", "t1"),
            result("r2", "a2", "t1", "whole"),
            boundary("b1", metadata),
            summary("s1", "b1"),
            says("a3", "r2", "m3", "On to the second."),
            user("u3", "a3", json!("Go on.")),
        ]);
        assert_eq!(
            flow(&log),
            [
                "u [The user mends masts.]",
                "u Never touch the keel.",
                "a t1",
                "u whole",
                "a On to the second.",
                "u Go on."
            ]
        );
        let facts = log.facts;
        assert_eq!((facts.earlier_messages, facts.missing_messages), (2, 0));
        assert_eq!((facts.dropped_results, facts.other_branches), (0, 0));
        // The newest response counted what is there; up to the message that holds it.
        assert_eq!(log.reported, Some((10 + 200 + 3000 + 1, 5)));
    }
}

#[test]
fn what_kept_responses_counted_is_not_reported() {
    let log = log(&[
        user("u1", "", json!("Mend the masts.")),
        says("a1", "u1", "m1", "Which?"),
        boundary("b1", named("s1", &["u1", "a1"])),
        summary("s1", "b1"),
        user("u2", "a1", json!("All.")),
    ]);
    assert_eq!(messages(&log).len(), 4);
    assert_eq!(log.reported, None);
}

#[test]
fn chain_keeps_the_results_of_all_parallel_calls() {
    let log = log(&[
        user("u1", "", json!("Which sail is torn?")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "jib: whole"),
        result("r2", "a2", "t2", "main: torn"),
        says("a3", "r2", "m2", "The main."),
        boundary("b1", chain("s1", "a1", "a3")),
        summary("s1", "b1"),
        user("u2", "a3", json!("Sew it.")),
    ]);
    let flow = flow(&log);
    assert_eq!(flow[1..5], ["a t1", "a t2", "u jib: whole", "u main: torn"]);
    assert_eq!(log.facts.completed_calls, 0);
    assert_eq!(log.facts.earlier_messages, 1);
}

#[test]
fn kept_call_is_answered_behind_the_boundary() {
    let log = log(&[
        user("u1", "", json!("Sound the depth.")),
        calls("a1", "u1", "m1", "t1"),
        boundary("b1", named("s1", &["a1"])),
        summary("s1", "b1"),
        result("r1", "a1", "t1", "nine fathoms"),
        says("a2", "r1", "m2", "Nine."),
    ]);
    assert_eq!(
        flow(&log),
        [
            "u [The user mends masts.]",
            "a t1",
            "u nine fathoms",
            "a Nine."
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.completed_calls, facts.dropped_results), (0, 0));
}

#[test]
fn kept_messages_that_are_written_again_come_once() {
    let kept = [
        user("u2", "a1", json!("Never touch the keel.")),
        says("a2", "u2", "m2", "Never."),
    ];
    let log = log(&[
        user("u1", "", json!("Mend the masts.")),
        says("a1", "u1", "m1", "Done."),
        kept[0].clone(),
        kept[1].clone(),
        boundary("b1", named("s1", &["u2", "a2"])),
        summary("s1", "b1"),
        kept[0].clone(),
        kept[1].clone(),
        user("u3", "a2", json!("Go on.")),
    ]);
    assert_eq!(
        flow(&log)[1..],
        ["u Never touch the keel.", "a Never.", "u Go on."]
    );
}

#[test]
fn kept_messages_that_are_nowhere_are_told() {
    let lines = |metadata, more: &[Value]| {
        let mut lines = vec![
            user("u1", "", json!("Mend the masts.")),
            says("a1", "u1", "m1", "Done."),
            boundary("b1", metadata),
            summary("s1", "b1"),
        ];
        lines.extend_from_slice(more);
        log(&lines)
    };
    let first = lines(named("s1", &["gone", "a1"]), &[]);
    assert_eq!(flow(&first), ["u [The user mends masts.]", "a Done."]);
    assert_eq!(first.facts.missing_messages, 1);
    // Written after the boundary alone.
    let later = lines(
        named("s1", &["late", "a1"]),
        &[user("late", "a1", json!("Go on."))],
    );
    assert_eq!(flow(&later)[1..], ["a Done.", "u Go on."]);
    assert_eq!(later.facts.missing_messages, 0);
    // A chain of which one end is there, and one that does not lead to its head.
    let open = lines(chain("s1", "gone", "a1"), &[]);
    assert_eq!((messages(&open).len(), open.facts.missing_messages), (1, 2));
    let turned = lines(chain("s1", "a1", "u1"), &[]);
    assert_eq!(messages(&turned).len(), 1);
    assert_eq!(turned.facts.missing_messages, 2);
}

#[test]
fn kept_messages_whose_anchor_is_missing_come_before_what_is_said_next() {
    for anchor in ["nowhere", "a1"] {
        let log = log(&[
            user("u1", "", json!("Mend the masts.")),
            says("a1", "u1", "m1", "Done."),
            boundary("b1", named(anchor, &["a1"])),
            summary("s1", "b1"),
            user("u2", "a1", json!("Go on.")),
        ]);
        assert_eq!(
            flow(&log),
            ["u [The user mends masts.]", "a Done.", "u Go on."]
        );
    }
    let unfinished = log(&[
        user("u1", "", json!("Mend the masts.")),
        boundary("b1", named("s1", &["u1"])),
    ]);
    assert_eq!(flow(&unfinished), ["u Mend the masts."]);
}

#[test]
fn what_is_said_between_a_boundary_and_its_summary_stays_with_what_was_kept() {
    for anchor in ["s1", "b1"] {
        let log = log(&[
            user("u1", "", json!("Mend the masts.")),
            says("a1", "u1", "m1", "Done."),
            user("u2", "a1", json!("Never touch the keel.")),
            boundary("b1", named(anchor, &["u2"])),
            says("a2", "b1", "m2", "Never."),
            summary("s1", "b1"),
            user("u3", "s1", json!("Go on.")),
        ]);
        let mut expected = vec![
            "u Never touch the keel.",
            "a Never.",
            "u [The user mends masts.]",
            "u Go on.",
        ];
        if anchor == "s1" {
            expected[..3].rotate_right(1);
        }
        assert_eq!(flow(&log), expected, "{anchor}");
        let facts = log.facts;
        assert_eq!((facts.earlier_messages, facts.missing_messages), (2, 0));
    }
    // A boundary that names nothing.
    let log = log(&[
        user("u1", "", json!("Mend the masts.")),
        boundary("b1", json!({"trigger": "auto"})),
        user("u2", "b1", json!("Never touch the keel.")),
        summary("s1", "b1"),
        says("a1", "s1", "m1", "Never."),
    ]);
    assert_eq!(
        flow(&log),
        [
            "u Never touch the keel.",
            "u [The user mends masts.]",
            "a Never."
        ]
    );
    assert_eq!(log.facts.earlier_messages, 1);
}

#[test]
fn messages_that_are_kept_at_the_boundary_stand_before_the_summary() {
    let log = log(&[
        user("u1", "", json!("Never touch the keel.")),
        says("a1", "u1", "m1", "Never."),
        user("u2", "a1", json!("Mend the masts.")),
        boundary("b1", named("b1", &["u1", "a1"])),
        summary("s1", "a1"),
        user("u3", "s1", json!("Go on.")),
    ]);
    assert_eq!(
        flow(&log),
        [
            "u Never touch the keel.",
            "a Never.",
            "u [The user mends masts.]",
            "u Go on."
        ]
    );
}

#[test]
fn only_the_newest_boundary_tells_what_is_kept() {
    let log = log(&[
        user("u1", "", json!("Never touch the keel.")),
        boundary("b1", named("s1", &["u1"])),
        summary("s1", "b1"),
        user("u2", "u1", json!("Mend the masts.")),
        boundary("b2", named("s2", &["u2"])),
        summary("s2", "b2"),
        says("a1", "u2", "m1", "Done."),
    ]);
    assert_eq!(
        flow(&log),
        ["u [The user mends masts.]", "u Mend the masts.", "a Done."]
    );
}

#[test]
fn who_goes_back_into_what_was_kept_leaves_a_branch() {
    let lines = [
        user("u1", "", json!("Oslo or Bergen?")),
        says("a1", "u1", "m1", "By train?"),
        user("u2", "a1", json!("By plane.")),
        says("a2", "u2", "m2", "There are none."),
        boundary("b1", named("s1", &["a1", "u2", "a2"])),
        summary("s1", "b1"),
    ];
    let with_last = |parent| {
        let mut lines = lines.to_vec();
        lines.push(user("u3", parent, json!("By ferry.")));
        log(&lines)
    };
    let rewound = with_last("a1");
    assert_eq!(rewound.facts.other_branches, 2);
    assert_eq!(flow(&rewound)[1..], ["a By train?", "u By ferry."]);
    // What hangs on the summary comes after what was kept.
    let gone_on = with_last("s1");
    assert_eq!(gone_on.facts.other_branches, 0);
    assert_eq!(
        roles(&messages(&gone_on)),
        ["user", "assistant", "user", "assistant", "user"]
    );
}

// LCC-18
#[test]
fn boundary_whose_summary_was_never_written_takes_nothing_away() {
    let talk = [
        user("u1", "", json!("Never touch the keel.")),
        says("a1", "u1", "m1", "Never."),
        user("u2", "a1", json!("Mend the masts.")),
    ];
    let before = ["u Never touch the keel.", "a Never.", "u Mend the masts."];
    for metadata in [json!({"trigger": "auto"}), named("s1", &["u2"])] {
        let mut lines = talk.to_vec();
        lines.push(boundary("b1", metadata));
        let stopped = log(&lines);
        assert_eq!(flow(&stopped), before);
        let facts = stopped.facts;
        assert_eq!((facts.earlier_messages, facts.missing_messages), (0, 0));

        // The line of the summary is broken, and the session goes on.
        let whole = summary("s1", "b1").to_string();
        let cut = &whole[..80];
        let behind = file(&[user("u3", "s1", json!("Go on."))]);
        let torn = try_read(&format!("{}{cut}\n{behind}", file(&lines))).unwrap();
        assert_eq!(flow(&torn)[..3], before);
        assert_eq!(flow(&torn)[3..], ["u Go on."]);
        assert_eq!(
            (torn.facts.broken_lines, torn.facts.earlier_messages),
            (1, 0)
        );

        // The next compaction says what it keeps of all.
        lines.push(boundary("b2", named("s2", &["u1", "a1"])));
        lines.push(summary("s2", "b2"));
        let again = log(&lines);
        assert_eq!(
            flow(&again),
            [
                "u [The user mends masts.]",
                "u Never touch the keel.",
                "a Never."
            ]
        );
        let facts = again.facts;
        assert_eq!((facts.earlier_messages, facts.missing_messages), (1, 0));
    }
}

// LCC-18
#[test]
fn who_goes_back_behind_a_compaction_sees_what_was_there() {
    let logical = |line: Value, parent: &str| with(line, "logicalParentUuid", json!(parent));
    let lines = [
        user("u1", "", json!("Never touch the keel.")),
        says("a1", "u1", "m1", "Never."),
        user("u2", "a1", json!("Mend the masts.")),
        says("a2", "u2", "m2", "Mended."),
        logical(boundary("b1", json!({"trigger": "auto"})), "a2"),
        summary("s1", "b1"),
        user("u3", "s1", json!("And the sails.")),
        says("a3", "u3", "m3", "Sewn."),
        user("u4", "a1", json!("Mend the oars.")),
        says("a4", "u4", "m4", "Both."),
    ];
    let rewound = log(&lines);
    assert_eq!(
        flow(&rewound),
        [
            "u Never touch the keel.",
            "a Never.",
            "u Mend the oars.",
            "a Both."
        ]
    );
    let facts = rewound.facts;
    assert_eq!((facts.earlier_messages, facts.recorded_summaries), (0, 0));
    // Two before the compaction, its summary, and two after it.
    assert_eq!(facts.other_branches, 5);

    // A compaction of the branch that is gone on with holds.
    let mut more = lines.to_vec();
    more.push(logical(boundary("b2", named("s2", &["a4"])), "a4"));
    more.push(summary("s2", "b2"));
    more.push(user("u5", "a4", json!("Go on.")));
    assert_eq!(
        flow(&log(&more)),
        ["u [The user mends masts.]", "a Both.", "u Go on."]
    );
}
