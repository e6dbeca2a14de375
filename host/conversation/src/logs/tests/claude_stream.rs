use serde_json::{Value, json};

use super::{body, file, log, messages, try_read};
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};

const SESSION: &str = "5e551047-0000-4000-8000-000000000001";

fn line(id: &str, mut line: Value) -> Value {
    line["uuid"] = json!(id);
    line["session_id"] = json!(SESSION);
    line
}

fn init() -> Value {
    line(
        "i",
        json!({"type": "system", "subtype": "init", "model": "claude-test", "tools": ["Oven"]}),
    )
}

fn part(id: &str, response: &str, block: Value) -> Value {
    line(
        id,
        json!({"type": "assistant", "parent_tool_use_id": null, "message": {
            "id": response, "type": "message", "role": "assistant", "model": "claude-test",
            "content": [block], "stop_reason": null,
            "usage": {"input_tokens": 2, "cache_creation_input_tokens": 30,
                      "cache_read_input_tokens": 400, "output_tokens": 5}}}),
    )
}

fn says(id: &str, response: &str, text: &str) -> Value {
    part(id, response, json!({"type": "text", "text": text}))
}

fn bakes(id: &str, response: &str, call: &str) -> Value {
    part(
        id,
        response,
        json!({"type": "tool_use", "id": call, "name": "Oven", "input": {"heat": 230}}),
    )
}

fn user(id: &str, content: Value) -> Value {
    line(
        id,
        json!({"type": "user", "parent_tool_use_id": null,
               "message": {"role": "user", "content": content}}),
    )
}

fn synthetic(id: &str, text: &str) -> Value {
    let mut line = user(id, json!(text));
    line["isSynthetic"] = json!(true);
    line
}

fn result(id: &str, call: &str, text: &str) -> Value {
    user(
        id,
        json!([{"type": "tool_result", "tool_use_id": call, "content": text}]),
    )
}

fn boundary(id: &str, kept: Value) -> Value {
    line(
        id,
        json!({"type": "system", "subtype": "compact_boundary",
               "compact_metadata": {"trigger": "auto", "pre_tokens": 9, "preserved_segment": kept}}),
    )
}

fn baking() -> Vec<Value> {
    vec![
        init(),
        user("u1", json!("Испеки два хлеба.")),
        part(
            "a1",
            "m1",
            json!({"type": "thinking", "thinking": "Rye first.", "signature": "c2ln"}),
        ),
        bakes("a2", "m1", "t1"),
        bakes("a3", "m1", "t2"),
        line(
            "r2",
            json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t2", "is_error": true,
                         "content": "the oven is cold"}]}}),
        ),
        result("r1", "t1", "one loaf"),
        says("a4", "m2", "One is done."),
        line(
            "e",
            json!({"type": "result", "subtype": "success", "is_error": false, "result": "One is done."}),
        ),
    ]
}

#[test]
fn parts_of_a_response_are_one_message_and_results_stand_in_the_order_of_the_calls() {
    let log = log(&baking());
    assert_eq!(
        (log.kind, log.format, log.model.as_deref()),
        (
            LogKind::ClaudeStreamJson,
            Format::Anthropic,
            Some("claude-test")
        )
    );
    let call =
        |id: &str| json!({"type": "tool_use", "id": id, "name": "Oven", "input": {"heat": 230}});
    assert_eq!(
        body(&log)["messages"],
        json!([
            {"role": "user", "content": "Испеки два хлеба."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Rye first.", "signature": "c2ln"},
                call("t1"), call("t2")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "one loaf"},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true,
                 "content": "the oven is cold"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "One is done."}]},
        ])
    );
    // Input, written and read cache, and output of the last response; not of all lines.
    assert_eq!(log.reported, Some((437, 4)));
    // The first line and the last.
    assert_eq!((log.facts.lines, log.facts.skipped_lines), (9, 2));
    assert_eq!(log.facts.sessions, 1);
}

#[test]
fn one_list_is_read_like_the_lines_of_it() {
    let lines = log(&baking());
    for text in [
        json!(baking()).to_string(),
        serde_json::to_string_pretty(&baking()).unwrap(),
    ] {
        let list = try_read(&text).unwrap();
        // Blocks keep the white space of the list.
        let value = |document: &str| serde_json::from_str::<Value>(document).unwrap();
        assert_eq!(value(&list.document), value(&lines.document));
        assert_eq!(list.facts, lines.facts);
    }
}

#[test]
fn element_that_is_no_object_is_counted_and_a_list_of_them_is_refused_with_the_line() {
    let mut elements = baking();
    elements.insert(3, json!("half a line"));
    let log = try_read(&json!(elements).to_string()).unwrap();
    assert_eq!((messages(&log).len(), log.facts.broken_lines), (4, 1));

    let text = format!("[\n{},\n{},\n1,\n2,\n3\n]", init(), says("a", "m", "Hot."));
    assert_eq!(
        try_read(&text),
        Err(LogError::Broken {
            kind: LogKind::ClaudeStreamJson,
            broken: 3,
            lines: 5,
            line: 4,
        })
    );
    let cut = &json!(baking()).to_string()[..900];
    assert!(matches!(
        try_read(cut),
        Err(LogError::NotJson {
            kind: LogKind::ClaudeStreamJson,
            line: 1,
            ..
        })
    ));
}

// `claude -p` says nothing of the prompt that it was given.
#[test]
fn stream_that_begins_with_the_model_is_read() {
    let lines = [
        says("a1", "m1", "Good morning."),
        user("u", json!("More salt.")),
    ];
    let messages = messages(&log(&lines));
    assert_eq!(messages[0]["role"], "assistant");
    assert_eq!(messages[1]["content"], "More salt.");
}

#[test]
fn what_sub_agents_the_api_and_other_types_say_is_counted_and_left_out() {
    let mut agent = says("s", "m9", "I am a sub-agent.");
    agent["parent_tool_use_id"] = json!("t1");
    let mut failed = says("f", "m8", "API Error: overloaded");
    failed["error"] = json!("overloaded");
    let mut lines = baking();
    lines.extend([
        agent,
        failed,
        line(
            "x",
            json!({"type": "of_tomorrow", "message": {"role": "user", "content": "?"}}),
        ),
        line(
            "y",
            json!({"type": "stream_event", "event": {"type": "content_block_delta"}}),
        ),
    ]);
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 4);
    assert_eq!((log.facts.sidechain_lines, log.facts.skipped_lines), (1, 5));
}

#[test]
fn line_that_a_resumed_session_repeats_counts_once() {
    let mut lines = baking();
    lines.extend(baking());
    lines.push(user("u2", json!("Испеки два хлеба.")));
    let log = log(&lines);
    let messages = messages(&log);
    assert_eq!(messages.len(), 5);
    // The same words in another line are another message.
    assert_eq!(messages[4]["content"], "Испеки два хлеба.");
}

#[test]
fn response_ends_where_a_tool_returns_also_if_all_have_one_id() {
    let lines = [
        user("u", json!("Bake.")),
        bakes("a1", "same", "t1"),
        result("r1", "t1", "dough"),
        bakes("a2", "same", "t2"),
        result("r2", "t2", "bread"),
    ];
    let roles: Vec<Value> = messages(&log(&lines))
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
}

#[test]
fn call_without_a_result_gets_one_and_the_last_waits() {
    let lines = [
        user("u", json!("Bake.")),
        bakes("a1", "m1", "t1"),
        user("u2", json!("[Request interrupted by user]")),
        bakes("a2", "m2", "t2"),
    ];
    let log = log(&lines);
    let messages = messages(&log);
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2]["content"][0]["is_error"], true);
    assert_eq!(log.facts.completed_calls, 1);
}

// LCC-7
#[test]
fn compaction_begins_anew_with_its_summary_and_what_it_kept() {
    let mut lines = baking();
    lines.extend([
        boundary(
            "b",
            json!({"head_uuid": "r2", "anchor_uuid": "s", "tail_uuid": "a4"}),
        ),
        synthetic("s", "One loaf was baked."),
        user("u2", json!("Now the second.")),
    ]);
    lines.retain(|line| line["uuid"] != "r1");
    let log = log(&lines);
    let messages = messages(&log);
    assert_eq!(messages[0]["content"], "[One loaf was baked.]");
    assert_eq!(messages[1]["content"][0]["text"], "One is done.");
    assert_eq!(messages[2]["content"], "Now the second.");
    // What the provider counted before covers what is gone.
    assert_eq!(log.reported, None);
    // The prompt, three parts of a response; the result that was kept has no call any more.
    assert_eq!(
        (log.facts.earlier_messages, log.facts.dropped_results),
        (4, 1)
    );
    assert_eq!(log.facts.recorded_summaries, 1);
}

// LCC-18
#[test]
fn compaction_without_a_summary_removes_nothing() {
    let mut lines = baking();
    lines.push(boundary("b", Value::Null));
    lines.push(user("u2", json!("And now?")));
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 5);
    assert_eq!(log.facts.earlier_messages, 0);
}

#[test]
fn kept_message_that_is_in_no_line_is_counted() {
    let mut lines = baking();
    lines.extend([
        boundary(
            "b",
            json!({"head_uuid": "nowhere", "anchor_uuid": "s", "tail_uuid": "a4"}),
        ),
        synthetic("s", "Bread."),
    ]);
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 1);
    assert_eq!(log.facts.missing_messages, 1);
}

#[test]
fn text_that_only_the_line_tells_to_be_the_programs_gets_tags_that_say_so() {
    let lines = [
        user("u", json!("Bake.")),
        synthetic("p", "The oven was cleaned."),
        says("a", "m", "Good."),
    ];
    let said = messages(&log(&lines))[0]["content"].clone();
    assert_eq!(said[0]["text"], "Bake.");
    assert_eq!(
        said[1]["text"],
        "<inserted-by-program>\nThe oven was cleaned.\n</inserted-by-program>"
    );
}

// Streams of other programs have lines of the same types, and calls that this reader would not see.
#[test]
fn streams_of_other_programs_are_not_taken_for_it() {
    for lines in [
        [
            json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []}),
            json!({"type": "message", "role": "user", "id": "1", "text": "Bake.", "session_id": "s"}),
        ],
        [
            json!({"type": "assistant", "session_id": "s",
                   "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}}),
            json!({"type": "tool_call", "subtype": "started", "call_id": "c", "session_id": "s"}),
        ],
    ] {
        let kind = LogKind::of(&file(&lines));
        assert_ne!(kind, Some(LogKind::ClaudeStreamJson), "{lines:?}");
    }
}
