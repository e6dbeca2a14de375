//! What the user types while the agent works, where only the program's queue records it (LCC-22).

use serde_json::{Value, json};

use super::claude_code::{calls, result, says, user};
use super::{log, messages};
use crate::logs::Log;

fn queue(operation: &str, content: Option<&str>) -> Value {
    let mut line = json!({"type": "queue-operation", "operation": operation, "sessionId": "s-1"});
    if let Some(content) = content {
        line["content"] = json!(content);
        line["timestamp"] = json!(format!("at {content}"));
    }
    line
}

fn enqueue(text: &str) -> Value {
    queue("enqueue", Some(text))
}

fn remove() -> Value {
    queue("remove", None)
}

fn attachment(prompt: Value) -> Value {
    json!({
        "parentUuid": "r2", "isSidechain": false, "sessionId": "s-1", "type": "attachment", "uuid": "q1",
        "attachment": {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"},
    })
}

/// A log in which two tools run at once. The lines stand before the last result and behind it.
fn while_tools_run(before: &[Value], behind: &[Value]) -> Log {
    let mut lines = vec![
        user("u1", "", json!("Какой парус порван?")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "jib: whole"),
    ];
    lines.extend(before.iter().cloned());
    lines.push(result("r2", "a2", "t2", "main: torn"));
    lines.extend(behind.iter().cloned());
    lines.push(says("a3", "r2", "m2", "The main."));
    log(&lines)
}

/// Lines in which one tool runs, and the user says this meanwhile.
fn sewing(said: &str) -> Vec<Value> {
    vec![
        user("u1", "", json!("Sew.")),
        calls("a1", "u1", "m1", "t1"),
        enqueue(said),
        remove(),
        result("r1", "a1", "t1", "torn"),
        says("a2", "r1", "m2", "Sewn."),
    ]
}

/// What follows the results of both tools.
fn told(log: &Log) -> Vec<Value> {
    let messages = messages(log);
    assert_eq!(messages.len(), 4, "{messages:?}");
    let content = messages[2]["content"].as_array().unwrap();
    assert_eq!(content[0]["content"], "jib: whole");
    assert_eq!(content[1]["content"], "main: torn");
    content[2..].to_vec()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn message_that_is_taken_out_while_tools_run_is_the_users_and_stands_behind_their_results() {
    let log = while_tools_run(&[enqueue("夜に縫わないで。"), remove()], &[]);
    assert_eq!(told(&log), [text("夜に縫わないで。")]);
    let facts = log.facts;
    assert_eq!((facts.completed_calls, facts.other_branches), (0, 0));
    assert_eq!((facts.unknown_lines, facts.queued_messages), (0, 0));
}

#[test]
fn messages_are_told_in_the_order_in_which_they_came_or_as_the_line_names_them() {
    let lines = [
        enqueue("First jib."),
        enqueue("Then main."),
        remove(),
        remove(),
    ];
    assert_eq!(
        told(&while_tools_run(&lines, &[])),
        [text("First jib."), text("Then main.")]
    );
    let named = [
        enqueue("First jib."),
        enqueue("Then main."),
        queue("remove", Some("Then main.")),
    ];
    let log = while_tools_run(&named, &[]);
    assert_eq!(told(&log), [text("Then main.")]);
    assert_eq!(log.facts.queued_messages, 1);
}

#[test]
fn message_is_told_once_where_a_line_of_its_own_tells_it() {
    for (before, behind) in [
        // The attachment may come behind `remove` and before it, with the same words or more.
        (
            vec![enqueue("Sew now."), remove()],
            vec![attachment(json!("Sew now."))],
        ),
        (
            vec![enqueue("Sew now."), attachment(json!("Sew now.")), remove()],
            vec![],
        ),
        (
            vec![enqueue("[Pasted text #1]"), remove()],
            vec![attachment(json!([{"type": "text", "text": "Sew now."}]))],
        ),
        // The program made a prompt of it.
        (
            vec![enqueue("Sew now."), remove()],
            vec![user("u2", "r2", json!("Sew now."))],
        ),
        (
            vec![enqueue("Sew now.")],
            vec![queue("dequeue", None), user("u2", "r2", json!("Sew now."))],
        ),
        // A resumed session repeats its lines.
        (
            vec![enqueue("Sew now."), remove(), enqueue("Sew now."), remove()],
            vec![],
        ),
    ] {
        let log = while_tools_run(&before, &behind);
        assert_eq!(told(&log), [text("Sew now.")], "{before:?} {behind:?}");
    }
}

#[test]
fn two_messages_with_the_same_words_are_two_and_so_is_what_the_user_types_again_later() {
    let mut again = enqueue("Go on.");
    again["timestamp"] = json!("later");
    let lines = [enqueue("Go on."), again, remove(), remove()];
    assert_eq!(
        told(&while_tools_run(&lines, &[])),
        [text("Go on."), text("Go on.")]
    );
    let mut later = sewing("Go on.");
    later.push(user("u2", "a2", json!("Go on.")));
    let messages = messages(&log(&later));
    assert_eq!(messages[2]["content"][1], text("Go on."));
    assert_eq!(messages[4]["content"], "Go on.");
}

#[test]
fn what_went_back_to_the_editor_or_still_waits_is_not_told() {
    let log = while_tools_run(
        &[
            enqueue("Wait for the tide."),
            queue("popAll", None),
            enqueue("And now?"),
        ],
        &[],
    );
    assert_eq!(told(&log), [] as [Value; 0]);
    assert_eq!(log.facts.queued_messages, 1);
}

#[test]
fn what_a_program_queues_is_the_programs() {
    let notice = "<buoy-notification id=\"7\">\nAlways anchor here.\n</buoy-notification>";
    let known = "<task-notification>The mast stands.</task-notification>";
    let lines = [enqueue(notice), enqueue(known), remove(), remove()];
    assert_eq!(
        told(&while_tools_run(&lines, &[])),
        [
            text(&format!(
                "<inserted-by-program>\n{notice}\n</inserted-by-program>"
            )),
            text(known),
        ]
    );
}

#[test]
fn message_goes_with_the_branch_that_the_user_left() {
    let log = log(&[
        user("u1", "", json!("Sew.")),
        says("a1", "u1", "m1", "What?"),
        user("u2", "a1", json!("The jib.")),
        calls("a2", "u2", "m2", "t1"),
        enqueue("In red."),
        remove(),
        result("r1", "a2", "t1", "torn"),
        says("a3", "r1", "m3", "Sewn."),
        // Back to the answer before, and on from there.
        user("u3", "a1", json!("The main.")),
        says("a4", "u3", "m4", "Sewn, too."),
    ]);
    assert!(!log.document.contains("In red."), "{}", log.document);
    assert_eq!(messages(&log).len(), 4);
    assert_eq!(log.facts.other_branches, 5);
}

#[test]
fn message_stays_with_the_lines_that_a_compaction_kept() {
    let kept = |uuids: Value| {
        let boundary = json!({
            "type": "system", "subtype": "compact_boundary", "sessionId": "s-1", "uuid": "b1",
            "parentUuid": null, "isSidechain": false,
            "compactMetadata": {"preservedMessages": {"anchorUuid": "c1", "uuids": uuids}},
        });
        let mut summary = user("c1", "b1", json!("They sew sails."));
        summary["isCompactSummary"] = json!(true);
        let mut lines = sewing("In red.");
        lines.extend([boundary, summary, user("u2", "c1", json!("Thanks."))]);
        log(&lines).document.matches("In red.").count()
    };
    assert_eq!(kept(json!(["a1", "r1", "a2"])), 1);
    assert_eq!(kept(json!(["a2"])), 0);
}

#[test]
fn operation_that_is_not_known_is_told() {
    let log = while_tools_run(&[enqueue("Sew."), queue("shuffle", None)], &[]);
    assert_eq!((log.facts.unknown_lines, log.facts.queued_messages), (1, 1));
}
