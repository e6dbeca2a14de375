use serde_json::{Value, json};

use super::{body, messages, texts, try_read};
use crate::logs::{Log, read};
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};

fn text(text: &str) -> Value {
    json!({"id": "prt", "type": "text", "text": text})
}

fn user(id: &str, parts: Value) -> Value {
    json!({"info": {"id": id, "role": "user", "time": {"created": 1}, "agent": "build",
                    "model": {"providerID": "anthropic", "modelID": "claude-test"}},
           "parts": parts})
}

fn reply_of(id: &str, provider: &str, model: &str, parts: Value) -> Value {
    json!({"info": {"id": id, "role": "assistant", "parentID": "m0", "providerID": provider,
                    "modelID": model, "mode": "build", "finish": "stop",
                    "tokens": {"input": 3, "output": 20, "reasoning": 0,
                               "cache": {"read": 100, "write": 1000}}},
           "parts": parts})
}

fn reply(id: &str, parts: Value) -> Value {
    reply_of(id, "anthropic", "claude-test", parts)
}

fn says(id: &str, said: &str) -> Value {
    reply(id, json!([{"type": "step-start"}, text(said)]))
}

fn tool(call: &str, state: Value) -> Value {
    json!({"id": "prt", "type": "tool", "callID": call, "tool": "weave", "state": state})
}

fn done(call: &str, output: &str) -> Value {
    tool(
        call,
        json!({"status": "completed", "input": {"color": "青"}, "output": output, "title": "",
               "metadata": {}, "time": {"start": 1, "end": 2}}),
    )
}

fn finish(input: u64) -> Value {
    json!({"type": "step-finish", "reason": "tool-calls", "cost": 0,
           "tokens": {"input": input, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}})
}

fn export(messages: &[Value]) -> String {
    let export = json!({
        "info": {"id": "ses_1", "projectID": "p", "directory": "/loom", "title": "Cloth"},
        "messages": messages,
    });
    serde_json::to_string_pretty(&export).expect("it is JSON")
}

fn log(messages: &[Value]) -> Log {
    try_read(&export(messages)).expect("it is whole")
}

fn work() -> Vec<Value> {
    let failed = tool(
        "c2",
        json!({"status": "error", "input": {"color": "red"}, "error": "no red yarn",
               "time": {"start": 1, "end": 2}}),
    );
    let mut pictured = done("c3", "a cloth");
    pictured["state"]["attachments"] = json!([
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0K"},
    ]);
    let thinking = json!({"type": "reasoning", "text": "Blue first.",
                          "metadata": {"anthropic": {"signature": "c2ln"}}});
    vec![
        user(
            "m0",
            json!([
                text("Тки синее полотно."),
                {"type": "text", "synthetic": true, "text": "Called the Read tool."},
                {"type": "file", "mime": "image/jpeg", "url": "data:image/jpeg;base64,/9j/"},
                {"type": "file", "mime": "text/plain", "url": "file:///loom/a.txt"},
                {"type": "file", "mime": "application/pdf", "url": "file:///loom/a.pdf"},
            ]),
        ),
        reply(
            "m1",
            json!([
                {"type": "step-start"}, thinking, text("I weave."), done("c1", "blue cloth"), failed,
                finish(40), {"type": "patch", "hash": "h", "files": []},
                {"type": "step-start"}, pictured, finish(60),
            ]),
        ),
        says("m2", "Woven."),
    ]
}

#[test]
fn steps_of_a_message_are_responses_with_the_outputs_of_their_calls() {
    let log = log(&work());
    assert_eq!(
        (log.kind, log.format, log.model.as_deref()),
        (LogKind::Opencode, Format::Anthropic, Some("claude-test"))
    );
    let call = |id: &str, color: &str| json!({"type": "tool_use", "id": id, "name": "weave", "input": {"color": color}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let picture = |mime: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}});
    assert_eq!(
        body(&log)["messages"],
        json!([
            {"role": "user", "content": [
                text("Тки синее полотно."),
                text("<inserted-by-program>\nCalled the Read tool.\n</inserted-by-program>"),
                picture("image/jpeg", "/9j/")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Blue first.", "signature": "c2ln"},
                text("I weave."), call("c1", "青"), call("c2", "red")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [text("blue cloth")]},
                {"type": "tool_result", "tool_use_id": "c2", "content": [text("no red yarn")],
                 "is_error": true}]},
            {"role": "assistant", "content": [call("c3", "青")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c3",
                 "content": [text("a cloth"), picture("image/png", "iVBORw0K")]}]},
            {"role": "assistant", "content": [text("Woven.")]},
        ])
    );
    // Input, output and both counts of the cache.
    assert_eq!(log.reported, Some((1123, 6)));
    // The PDF.
    assert_eq!(log.facts.dropped_attachments, 1);
    assert_eq!(log.facts.lines, 3);
}

#[test]
fn provider_that_answered_last_decides_the_format_and_what_others_signed_is_left_out() {
    for (provider, model, format) in [
        ("openai", "gpt-test", Format::OpenAiResponses),
        ("google", "gemini-test", Format::Gemini),
        ("google-vertex-anthropic", "claude-test", Format::Anthropic),
        ("github-copilot", "claude-test", Format::Anthropic),
        ("deepseek", "deepseek-test", Format::OpenAiChat),
    ] {
        let mut lines = work();
        lines.push(reply_of("m3", provider, model, json!([text("Я тоже.")])));
        let log = log(&lines);
        assert_eq!(
            (log.format, log.model.as_deref()),
            (format, Some(model)),
            "{provider}"
        );
        assert!(!log.document.contains("c2ln"), "{provider}");
        assert_eq!(log.facts.dropped_blocks, 1, "{provider}");
        assert!(log.document.contains("no red yarn"), "{provider}");
    }
}

#[test]
fn signatures_of_gemini_stay_with_their_calls() {
    let mut call = done("c1", "cloth");
    call["metadata"] = json!({"google": {"thoughtSignature": "Z2Vt"}});
    let lines = [
        user("m0", json!([text("Weave.")])),
        reply_of("m1", "google", "gemini-3-test", json!([call])),
    ];
    let part = messages(&log(&lines))[1]["parts"][0].clone();
    assert_eq!(part["thoughtSignature"], "Z2Vt");
    assert_eq!(part["functionCall"]["name"], "weave");
}

fn compacted(tail: Option<&str>) -> Vec<Value> {
    let mut request = user("m3", json!([{"type": "compaction", "auto": true}]));
    if let Some(tail) = tail {
        request["parts"][0]["tail_start_id"] = json!(tail);
    }
    let mut summary = says("m4", "Blue cloth was woven.");
    summary["info"]["summary"] = json!(true);
    summary["info"]["parentID"] = json!("m3");
    let mut lines = work();
    lines.extend([request, summary, user("m5", json!([text("Now red.")]))]);
    lines
}

#[test]
fn compaction_leaves_its_summary_what_it_kept_and_what_follows() {
    let whole = log(&compacted(None));
    assert_eq!(texts(&whole), ["[Blue cloth was woven.]", "Now red."]);
    assert_eq!(
        (whole.facts.earlier_messages, whole.facts.recorded_summaries),
        (3, 1)
    );

    let kept = log(&compacted(Some("m2")));
    assert_eq!(
        texts(&kept),
        ["[Blue cloth was woven.]", "Woven.", "Now red."]
    );
    assert_eq!(kept.facts.earlier_messages, 2);
    // What was counted for a kept response covers what is gone.
    assert_eq!((whole.reported, kept.reported), (None, None));
}

#[test]
fn words_beside_the_request_for_a_summary_stay() {
    let mut lines = compacted(None);
    lines[3]["parts"] = json!([{"type": "compaction", "auto": false}, text("Mind the red.")]);
    assert_eq!(
        texts(&log(&lines)),
        ["[Blue cloth was woven.]", "Mind the red.", "Now red."]
    );
}

#[test]
fn compaction_that_failed_removes_nothing() {
    let mut lines = compacted(None);
    lines[4]["info"]["error"] = json!({"name": "APIError", "data": {"message": "overloaded"}});
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 7);
    assert_eq!(
        (log.facts.earlier_messages, log.facts.aborted_responses),
        (0, 1)
    );
}

#[test]
fn summary_of_an_older_version_stands_for_all_before_it() {
    let mut lines = work();
    let mut summary = says("m3", "Blue cloth.");
    summary["info"]["summary"] = json!(true);
    lines.extend([summary, user("m4", json!([text("Now red.")]))]);
    let log = log(&lines);
    assert_eq!(texts(&log), ["[Blue cloth.]", "Now red."]);
    assert_eq!(log.facts.earlier_messages, 3);
}

#[test]
fn response_that_failed_is_left_out_and_one_that_the_user_stopped_stays() {
    let error = |mut message: Value, name: &str| {
        message["info"]["error"] = json!({"name": name, "data": {}});
        message
    };
    let running = tool(
        "c9",
        json!({"status": "running", "input": {}, "time": {"start": 1}}),
    );
    let mut written = tool(
        "c8",
        json!({"status": "error", "input": {}, "error": "Tool execution aborted",
               "metadata": {"interrupted": true, "output": "half a cloth"}}),
    );
    written["id"] = json!("prt_8");
    let log = log(&[
        user("m0", json!([text("Weave.")])),
        error(says("m1", "I"), "APIError"),
        error(
            reply("m2", json!([{"type": "step-start"}])),
            "MessageAbortedError",
        ),
        error(
            reply("m3", json!([text("I weave."), written, running])),
            "MessageAbortedError",
        ),
        user("m4", json!([text("Stop.")])),
    ]);
    let messages = messages(&log);
    assert_eq!(messages.len(), 4);
    let said = &messages[2]["content"];
    assert_eq!(said[0]["content"][0]["text"], "half a cloth");
    assert_eq!(said[0].get("is_error"), None);
    assert_eq!(said[1]["is_error"], true);
    assert_eq!(
        (log.facts.aborted_responses, log.facts.completed_calls),
        (2, 1)
    );
}

#[test]
fn output_that_the_program_cleared_is_told_to_be_so() {
    let mut lines = work();
    lines[1]["parts"][3]["state"]["time"]["compacted"] = json!(9);
    let cleared = messages(&log(&lines))[2]["content"][0]["content"][0]["text"].clone();
    assert_eq!(cleared, "[Old tool result content cleared]");
}

#[test]
fn what_the_user_took_back_is_left_out() {
    let revert = |revert: Value| {
        let mut export: Value = serde_json::from_str(&export(&work())).unwrap();
        export["info"]["revert"] = revert;
        try_read(&export.to_string()).unwrap()
    };
    let whole = revert(json!({"messageID": "m1"}));
    assert_eq!(messages(&whole).len(), 1);
    assert_eq!(whole.facts.other_branches, 2);

    let mut lines = work();
    lines[1]["parts"][3]["id"] = json!("prt_c1");
    let mut export: Value = serde_json::from_str(&export(&lines)).unwrap();
    export["info"]["revert"] = json!({"messageID": "m1", "partID": "prt_c1"});
    let part = try_read(&export.to_string()).unwrap();
    assert_eq!(messages(&part)[1]["content"][1]["text"], "I weave.");
    assert_eq!((messages(&part).len(), part.facts.other_branches), (2, 1));
}

#[test]
fn what_is_no_message_and_parts_of_unknown_types_are_counted() {
    let mut lines = work();
    lines.push(json!({"info": {"id": "m9", "role": "loom"}, "parts": []}));
    lines.push(json!("no message"));
    lines.push(user(
        "m10",
        json!([{"type": "of-tomorrow", "text": "?"}, text("So?")]),
    ));
    let log = log(&lines);
    assert_eq!(messages(&log).len(), 7);
    assert_eq!(
        (
            log.facts.skipped_lines,
            log.facts.broken_lines,
            log.facts.dropped_blocks
        ),
        (1, 1, 1)
    );
}

#[test]
fn export_that_was_cut_off_is_told_with_its_place() {
    let export = export(&work());
    let lines = export.lines().count();
    let cut = &export[..export.len() - 4];
    match try_read(cut) {
        Err(LogError::NotJson { kind, line, .. }) => {
            assert_eq!(kind, LogKind::Opencode);
            assert!(line + 2 >= lines, "{line} of {lines}");
        }
        other => panic!("it is cut off: {other:?}"),
    }
}

#[test]
fn object_with_messages_of_a_request_is_no_export() {
    let body = json!({"info": {"id": "x"}, "messages": [{"role": "user", "content": "Weave."}]});
    assert!(read(&body.to_string(), None).is_none());
}
