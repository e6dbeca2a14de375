use serde_json::{Value, json};

use super::{body, file, log, messages, try_read};
use crate::logs::read;
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};

fn event(kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data, "id": "e", "timestamp": "2026-03-04T05:06:07Z",
           "parentId": null})
}

fn start(model: &str) -> Value {
    event(
        "session.start",
        json!({"sessionId": "s", "version": 1, "producer": "copilot-agent", "selectedModel": model}),
    )
}

fn user(text: &str) -> Value {
    event("user.message", json!({"content": text, "attachments": []}))
}

fn says(text: &str) -> Value {
    event(
        "assistant.message",
        json!({"messageId": "m", "content": text, "toolRequests": []}),
    )
}

fn asks(calls: &[&str]) -> Value {
    let requests: Vec<Value> = calls
        .iter()
        .map(|call| {
            json!({"toolCallId": call, "name": "map", "arguments": {"island": "Ísland"},
                   "type": "function"})
        })
        .collect();
    event(
        "assistant.message",
        json!({"messageId": "m", "content": "", "toolRequests": requests}),
    )
}

fn returned(call: &str, content: &str) -> Value {
    event(
        "tool.execution_complete",
        json!({"toolCallId": call, "success": true,
               "result": {"content": content, "detailedContent": "for the screen"}}),
    )
}

fn failed(call: &str, message: &str) -> Value {
    event(
        "tool.execution_complete",
        json!({"toolCallId": call, "success": false, "error": {"message": message}}),
    )
}

fn voyage() -> Vec<Value> {
    vec![
        start("claude-test"),
        user("Zeichne die Insel."),
        event(
            "system.message",
            json!({"role": "system", "content": "You draw maps."}),
        ),
        event("assistant.turn_start", json!({"turnId": "0"})),
        asks(&["c1", "c2"]),
        event(
            "tool.execution_start",
            json!({"toolCallId": "c1", "toolName": "map"}),
        ),
        failed("c2", "no ink"),
        returned("c1", "a coast"),
        event("assistant.turn_end", json!({"turnId": "0"})),
        says("The coast is drawn."),
    ]
}

#[test]
fn calls_are_answered_in_their_order_and_events_of_the_program_are_counted() {
    let log = log(&voyage());
    assert_eq!(
        (log.kind, log.format, log.model.as_deref()),
        (LogKind::CopilotCli, Format::Anthropic, Some("claude-test"))
    );
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "map", "input": {"island": "Ísland"}});
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        body(&log)["messages"],
        json!([
            {"role": "user", "content": [text("Zeichne die Insel.")]},
            {"role": "assistant", "content": [call("c1"), call("c2")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [text("a coast")]},
                {"type": "tool_result", "tool_use_id": "c2", "content": [text("no ink")],
                 "is_error": true}]},
            {"role": "assistant", "content": [text("The coast is drawn.")]},
        ])
    );
    assert_eq!((log.facts.lines, log.facts.skipped_lines), (10, 5));
}

#[test]
fn maker_of_the_model_decides_the_format() {
    for (model, format) in [
        ("claude-sonnet-test", Format::Anthropic),
        ("gemini-test", Format::Gemini),
        ("gpt-test", Format::OpenAiChat),
    ] {
        let mut lines = voyage();
        lines.push(event("session.model_change", json!({"newModel": model})));
        let log = log(&lines);
        assert_eq!((log.format, log.model.as_deref()), (format, Some(model)));
        assert!(log.document.contains("no ink"), "{model}");
    }
}

#[test]
fn response_of_gemini_has_the_name_of_its_call() {
    let lines = [
        start("gemini-test"),
        user("Draw."),
        asks(&["c1"]),
        returned("c1", "a coast"),
    ];
    let response = &messages(&log(&lines))[2]["parts"][0]["functionResponse"];
    assert_eq!(response["name"], "map");
    assert_eq!(response["response"], json!({"output": "a coast"}));
}

#[test]
fn what_the_program_added_to_the_users_words_is_told_apart_from_them() {
    let lines = [
        start("claude-test"),
        event(
            "user.message",
            json!({"content": "Draw <b>all</b>.",
                   "transformedContent": "<current_datetime>now</current_datetime>\n\nDraw <b>all</b>.\n\nFiles: a.png"}),
        ),
        event(
            "user.message",
            json!({"content": "skill", "source": "skill-maps", "transformedContent": "Maps have scales."}),
        ),
        event(
            "system.notification",
            json!({"content": "The printer is done.", "kind": {}}),
        ),
        says("All."),
    ];
    let messages = messages(&log(&lines));
    let texts: Vec<&str> = messages
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts[1], "Draw <b>all</b>.");
    assert_eq!(
        texts[2],
        "<inserted-by-program>\n\n\nFiles: a.png\n</inserted-by-program>"
    );
    assert_eq!(
        texts[3..],
        [
            "<inserted-by-program>\nMaps have scales.\n</inserted-by-program>",
            "<inserted-by-program>\nThe printer is done.\n</inserted-by-program>",
            "All."
        ]
    );
    assert!(texts[0].contains("<current_datetime>now</current_datetime>"));
}

#[test]
fn pictures_stand_in_the_event_or_in_one_of_their_own() {
    let asset = event(
        "session.binary_asset",
        json!({"assetId": "sha256:1", "mimeType": "image/png", "data": "iVBORw0K"}),
    );
    let shown = event(
        "user.message",
        json!({"content": "Like this.", "transformedContent": "Like this.", "attachments": [
            {"type": "file", "path": "/a.png", "assetId": "sha256:1", "mimeType": "image/png"},
            {"type": "file", "path": "/lost.png", "assetId": "sha256:2", "mimeType": "image/png"},
            {"type": "directory", "path": "/maps"},
        ]}),
    );
    let mut answer = returned("c1", "drawn");
    answer["data"]["result"]["binaryResultsForLlm"] = json!([
        {"type": "image", "mimeType": "image/jpeg", "data": "/9j/"},
        {"type": "image", "mimeType": "image/jpeg", "byteLength": 9, "omittedReason": "too_large"},
    ]);
    let log = log(&[start("claude-test"), asset, shown, asks(&["c1"]), answer]);
    let messages = messages(&log);
    assert_eq!(messages[0]["content"][1]["source"]["data"], "iVBORw0K");
    assert_eq!(
        messages[2]["content"][0]["content"][1]["source"]["media_type"],
        "image/jpeg"
    );
    assert_eq!(log.facts.dropped_attachments, 2);
}

#[test]
fn arguments_may_stand_where_the_tool_starts_or_be_a_text() {
    let bare = event(
        "assistant.message",
        json!({"content": "", "toolRequests": [
            {"toolCallId": "c1", "name": "map"},
            {"toolCallId": "c2", "name": "apply_patch", "arguments": "*** Begin Patch", "type": "custom"},
        ]}),
    );
    let started = event(
        "tool.execution_start",
        json!({"toolCallId": "c1", "toolName": "map", "arguments": {"scale": 5}}),
    );
    let lines = [
        start("claude-test"),
        user("Draw."),
        bare,
        started,
        returned("c1", "a"),
        returned("c2", "b"),
    ];
    let calls = messages(&log(&lines))[1]["content"].clone();
    assert_eq!(calls[0]["input"], json!({"scale": 5}));
    assert_eq!(calls[1]["input"], json!({"input": "*** Begin Patch"}));
}

#[test]
fn what_sub_agents_do_is_counted_and_left_out() {
    let mut own = says("I am another agent.");
    own["agentId"] = json!("a");
    let mut older = says("I too.");
    older["data"]["parentToolCallId"] = json!("c1");
    let mut lines = voyage();
    lines.extend([own, older]);
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 4);
    assert_eq!(log.facts.sidechain_lines, 2);
}

fn compaction(summary: &str) -> [Value; 2] {
    [
        event("session.compaction_start", json!({})),
        event(
            "session.compaction_complete",
            json!({"success": true, "summaryContent": summary}),
        ),
    ]
}

#[test]
fn compaction_keeps_the_users_words_in_front_of_its_summary() {
    let mut lines = voyage();
    lines.extend(compaction("A coast was drawn."));
    lines.extend([user("Now rivers."), says("Two rivers.")]);
    lines.extend(compaction("Coast and rivers were drawn."));
    lines.push(user("Now hills."));
    let log = log(&lines);
    let said: Vec<Value> = messages(&log)
        .iter()
        .map(|message| {
            let content = &message["content"];
            content[0].get("text").unwrap_or(content).clone()
        })
        .collect();
    assert_eq!(
        said,
        [
            "Zeichne die Insel.",
            "Now rivers.",
            "[Coast and rivers were drawn.]",
            "Now hills."
        ]
    );
    assert_eq!(log.summaries, [2]);
    // Two responses and two outputs, then the first summary and a response.
    assert_eq!(
        (log.facts.earlier_messages, log.facts.recorded_summaries),
        (6, 1)
    );
}

// It runs while the agent works, and its summary holds nothing of what is said meanwhile.
#[test]
fn what_is_said_while_a_compaction_runs_stays_behind_its_summary() {
    let [begun, done] = compaction("A coast was drawn.");
    let mut lines = voyage();
    lines.extend([begun, user("With gulls."), says("Gulls."), done]);
    let log = log(&lines);
    let messages = messages(&log);
    assert_eq!(messages[1]["content"], "[A coast was drawn.]");
    assert_eq!(messages[2]["content"][0]["text"], "With gulls.");
    assert_eq!(messages[3]["content"][0]["text"], "Gulls.");
}

#[test]
fn compaction_that_failed_removes_nothing() {
    let mut lines = voyage();
    lines.push(event("session.compaction_start", json!({})));
    lines.push(event(
        "session.compaction_complete",
        json!({"success": false, "error": "the model is away"}),
    ));
    lines.push(event(
        "session.compaction_complete",
        json!({"success": true}),
    ));
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 4);
    assert_eq!(log.facts.earlier_messages, 0);
}

#[test]
fn conversation_that_was_cleared_begins_anew() {
    let mut lines = voyage();
    lines.push(event(
        "session.context_cleared",
        json!({"messagesCleared": 4, "initialMessage": "Draw a lake."}),
    ));
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 1);
    assert_eq!(log.model.as_deref(), Some("claude-test"));
    // A prompt, two responses and two outputs.
    assert_eq!(log.facts.earlier_messages, 5);
}

#[test]
fn aborted_call_gets_an_output_and_thinking_is_counted() {
    let mut thinking = asks(&["c1"]);
    thinking["data"]["reasoningText"] = json!("A map?");
    thinking["data"]["reasoningOpaque"] = json!("gA==");
    let lines = [
        start("claude-test"),
        user("Draw."),
        thinking,
        event("abort", json!({"reason": "user_initiated"})),
        user("Stop."),
        returned("c9", "of no call"),
    ];
    let log = log(&lines);
    let output = &messages(&log)[2]["content"][0];
    assert_eq!(
        (&output["tool_use_id"], &output["is_error"]),
        (&json!("c1"), &json!(true))
    );
    let facts = log.facts;
    assert_eq!(
        (
            facts.completed_calls,
            facts.dropped_thinking,
            facts.dropped_results
        ),
        (1, 1, 1)
    );
}

#[test]
fn events_of_unknown_types_and_broken_lines_are_counted() {
    let mut lines = voyage();
    lines.push(event("user.gesture", json!({"content": "?"})));
    lines.push(json!({"type": "user.message", "timestamp": "t"}));
    let text = format!("{}{{\"type\": \"user.mess\n", file(&lines));
    let log = try_read(&text).unwrap();
    assert_eq!(messages(&log).len(), 4);
    assert_eq!((log.facts.skipped_lines, log.facts.broken_lines), (7, 1));
}

#[test]
fn session_in_which_nothing_was_said_is_refused_by_name() {
    let text = file(&[start("gpt-test")]);
    let error = try_read(&text).unwrap_err();
    assert_eq!(
        error,
        LogError::NoMessages {
            kind: LogKind::CopilotCli,
            lines: 1
        }
    );
}

#[test]
fn types_with_dots_alone_are_no_sign() {
    let line = json!({"type": "session.created", "properties": {"id": "s"}});
    assert!(read(&file(&[line]), None).is_none());
}
