use serde_json::{Value, json};

use super::{body, file, log, messages, texts, try_read};
use crate::model::format::Format;
use crate::model::log::LogKind;

fn start() -> Value {
    json!({"type": "session_start", "id": "d", "title": "Tea", "sessionTitle": "New Session",
           "owner": "user", "version": 2, "cwd": "/tea"})
}

fn line(id: &str, role: &str, content: Value) -> Value {
    json!({"type": "message", "id": id, "timestamp": "2026-03-04T05:06:07.000Z",
           "message": {"role": role, "content": content}})
}

fn user(id: &str, text: &str) -> Value {
    line(id, "user", json!([{"type": "text", "text": text}]))
}

fn says(id: &str, text: &str) -> Value {
    line(id, "assistant", json!([{"type": "text", "text": text}]))
}

fn seen_by(mut line: Value, visibility: &str) -> Value {
    line["message"]["visibility"] = json!(visibility);
    line
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Boil", "input": {"水": 2}})
}

fn tea() -> Vec<Value> {
    vec![
        start(),
        user("m1", "चाय बनाओ।"),
        line(
            "m2",
            "assistant",
            json!([
                {"type": "thinking", "thinking": "Water first.", "signature": "c2ln"},
                {"type": "text", "text": "I boil water."}, call("t1"), call("t2"),
            ]),
        ),
        line(
            "m3",
            "user",
            json!([
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": "no kettle"},
                {"type": "tool_result", "tool_use_id": "t1", "is_error": false, "content": "hot"},
            ]),
        ),
        json!({"type": "todo_state", "id": "x", "todos": {"todos": []}}),
        says("m4", "The tea is ready."),
    ]
}

#[test]
fn messages_are_read_in_the_order_of_the_lines_and_results_in_that_of_the_calls() {
    let log = log(&tea());
    assert_eq!((log.kind, log.format), (LogKind::Droid, Format::Anthropic));
    assert_eq!(
        body(&log),
        json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": "चाय बनाओ।"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Water first.", "signature": "c2ln"},
                {"type": "text", "text": "I boil water."}, call("t1"), call("t2")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": false, "content": "hot"},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": "no kettle"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "The tea is ready."}]},
        ]})
    );
    assert_eq!((log.facts.lines, log.facts.skipped_lines), (6, 2));
}

#[test]
fn lines_are_for_the_user_for_the_model_or_for_both() {
    let mut lines = tea();
    let mut hidden = user("m7", "The date changed.");
    hidden["message"]["hiddenFromUserViews"] = json!(true);
    lines.extend([
        seen_by(user("m5", "The hook ran."), "user_only"),
        seen_by(user("m6", "Tools changed."), "llm_only"),
        hidden,
        user("m8", "And milk."),
    ]);
    let log = log(&lines);
    let said = messages(&log)[4]["content"].clone();
    let said: Vec<&str> = said
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        said,
        [
            "<inserted-by-program>\nTools changed.\n</inserted-by-program>",
            "<inserted-by-program>\nThe date changed.\n</inserted-by-program>",
            "And milk."
        ]
    );
    assert_eq!(log.facts.skipped_lines, 3);
}

fn compaction(anchor: Value) -> Value {
    json!({"type": "compaction_state", "id": "c", "summaryText": "Tea was made.",
           "summaryKind": "llm_summary", "anchorMessage": anchor, "removedCount": 3,
           "systemInfoText": "<system-reminder>\nA kitchen.\n</system-reminder>"})
}

#[test]
fn compaction_keeps_what_stands_behind_its_anchor() {
    for (anchor, gone, said) in [
        (
            json!({"id": "m3", "index": 2}),
            3,
            vec!["The tea is ready."],
        ),
        // An anchor that is in no line is found by its place.
        (
            json!({"id": "lost", "index": 2}),
            3,
            vec!["The tea is ready."],
        ),
        (json!({"id": "lost"}), 4, vec![]),
        (json!({"id": "m4", "index": 3}), 4, vec![]),
    ] {
        let mut lines = tea();
        lines.extend([compaction(anchor.clone()), user("m5", "And milk.")]);
        let log = log(&lines);
        let mut expected = vec![
            "[Tea was made.]",
            "<system-reminder>\nA kitchen.\n</system-reminder>",
        ];
        expected.extend(&said);
        // The user goes on in the same message where nothing stands between.
        if !said.is_empty() {
            expected.push("And milk.");
        }
        assert_eq!(texts(&log), expected, "{anchor}");
        assert!(log.document.contains("And milk."), "{anchor}");
        assert_eq!(
            (log.facts.earlier_messages, log.facts.recorded_summaries),
            (gone, 1),
            "{anchor}"
        );
    }
}

#[test]
fn session_that_begins_with_the_summary_of_another_one_keeps_all_its_messages() {
    let mut state = compaction(Value::Null);
    state["systemInfoText"] = Value::Null;
    let log = log(&[start(), state, user("m1", "And milk."), says("m2", "Milk.")]);
    assert_eq!(texts(&log), ["[Tea was made.]", "And milk.", "Milk."]);
    assert_eq!(log.facts.earlier_messages, 0);
}

#[test]
fn only_the_newest_compaction_counts() {
    let mut newest = compaction(json!({"id": "m5"}));
    newest["summaryText"] = json!("Tea and milk.");
    let mut lines = tea();
    lines.extend([
        compaction(json!({"id": "m2"})),
        user("m5", "And milk."),
        newest,
        user("m6", "And sugar."),
    ]);
    let log = log(&lines);
    assert_eq!(texts(&log)[0], "[Tea and milk.]");
    assert_eq!(messages(&log).len(), 2);
    assert_eq!(log.facts.recorded_summaries, 1);
}

#[test]
fn result_whose_call_was_summarised_is_counted() {
    let mut lines = tea();
    lines.push(compaction(json!({"id": "m2"})));
    let log = log(&lines);
    assert_eq!(log.facts.dropped_results, 2);
    assert_eq!(texts(&log).last().unwrap(), "The tea is ready.");
}

#[test]
fn what_other_providers_need_is_left_out_and_counted() {
    let mut answer = line(
        "m2",
        "assistant",
        json!([
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "Tea."},
        ]),
    );
    answer["message"]["chatCompletionReasoningContent"] = json!("Hm.");
    let lines = [
        start(),
        line(
            "m1",
            "user",
            json!([
                {"type": "text", "text": "Read it."},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf",
                 "data": "", "path": "/tea/a.pdf"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain",
                 "data": "Leaves.", "name": "a.txt", "mime": "text/markdown"}},
            ]),
        ),
        answer,
    ];
    let log = log(&lines);
    let messages = messages(&log);
    assert_eq!(
        messages[0]["content"],
        json!([
            {"type": "text", "text": "Read it."},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain",
             "data": "Leaves."}},
        ])
    );
    assert_eq!(
        messages[1]["content"],
        json!([{"type": "text", "text": "Tea."}])
    );
    assert_eq!(
        (log.facts.dropped_attachments, log.facts.dropped_blocks),
        (1, 2)
    );
}

#[test]
fn call_without_a_result_gets_one() {
    let mut lines = tea();
    lines.truncate(3);
    lines.push(user("m5", "Stop."));
    let log = log(&lines);
    let results = messages(&log)[2]["content"].clone();
    assert_eq!(results[0]["tool_use_id"], "t1");
    assert_eq!(results[1]["is_error"], true);
    assert_eq!(results[2]["text"], "Stop.");
    assert_eq!(log.facts.completed_calls, 2);
}

#[test]
fn unknown_lines_and_a_compaction_without_a_summary_are_counted_and_nothing_goes() {
    let mut lines = tea();
    lines.push(json!({"type": "of_tomorrow", "id": "y"}));
    lines.push(json!({"type": "compaction_state", "id": "c", "anchorMessage": {"id": "m4"}}));
    lines.push(json!({"type": "message", "id": "m9"}));
    let text = format!("{}{{\"type\":", file(&lines));
    let log = try_read(&text).unwrap();
    assert_eq!(messages(&log).len(), 4);
    assert_eq!(log.facts.skipped_lines, 5);
    assert!(log.facts.unfinished_last_line);
}
