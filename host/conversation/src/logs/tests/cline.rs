use serde_json::{Value, json};

use super::{body, messages, texts, try_read};
use crate::logs::{Log, read};
use crate::model::format::Format;
use crate::model::log::LogKind;

fn said(role: &str, content: Value) -> Value {
    json!({"role": role, "content": content, "ts": 1_767_225_600_000_u64})
}

fn task() -> Value {
    said(
        "user",
        json!([
            {"type": "text", "text": "<task>\n庭の水やりを直して。\n</task>"},
            {"type": "text", "text": "<environment_details>\n# Open Tabs\n</environment_details>"},
        ]),
    )
}

fn says(text: &str) -> Value {
    said("assistant", json!([{"type": "text", "text": text}]))
}

fn asks(text: &str) -> Value {
    said("user", json!([{"type": "text", "text": text}]))
}

fn log(messages: &[Value]) -> Log {
    try_read(&json!(messages).to_string()).expect("it is whole")
}

#[test]
fn calls_in_blocks_are_answered_and_what_only_the_program_knows_is_left_out() {
    let mut answer = said(
        "assistant",
        json!([
            {"type": "thinking", "thinking": "Two valves.", "signature": "c2ln", "summary": []},
            {"type": "thinking", "thinking": "Of another model.", "signature": ""},
            {"type": "text", "text": "I look.", "reasoning_details": [{"type": "reasoning.text"}]},
            {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "валве.rs"},
             "call_id": "fc_1", "signature": "Z2VtaW5p"},
            {"type": "tool_use", "id": "t2", "name": "list_files", "input": {"path": "."}},
        ]),
    );
    answer["modelInfo"] =
        json!({"modelId": "claude-test", "providerId": "anthropic", "mode": "act"});
    answer["metrics"] = json!({"tokens": {"prompt": 90, "completion": 9, "cached": 0}});
    let log = log(&[
        task(),
        answer,
        said(
            "user",
            json!([
                {"type": "tool_result", "tool_use_id": "t2", "content": "no such folder", "is_error": true},
                {"type": "tool_result", "tool_use_id": "t1",
                 "content": [{"type": "text", "text": "fn open() {}"}], "call_id": "fc_1"},
                {"type": "text", "text": "<environment_details>\n</environment_details>"},
            ]),
        ),
    ]);
    assert_eq!(
        (log.kind, log.format, log.model.as_deref(), log.reported),
        (LogKind::Cline, Format::Anthropic, Some("claude-test"), None)
    );
    let body = body(&log);
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "Two valves.", "signature": "c2ln"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "валве.rs"}},
            {"type": "tool_use", "id": "t2", "name": "list_files", "input": {"path": "."}},
        ])
    );
    assert_eq!(
        body["messages"][2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "t1",
             "content": [{"type": "text", "text": "fn open() {}"}]},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no such folder", "is_error": true},
            {"type": "text", "text": "<environment_details>\n</environment_details>"},
        ])
    );
    let members = body["messages"][1].as_object().unwrap();
    assert_eq!(members.len(), 2);
    // The thinking without a signature.
    assert_eq!(log.facts.dropped_blocks, 1);
}

#[test]
fn calls_in_xml_stay_the_texts_that_they_are() {
    let call = "<read_file>\n<path>hose.md</path>\n</read_file>";
    let output = "[read_file for 'hose.md'] Result:\nIt leaks.";
    let log = log(&[
        task(),
        says(call),
        asks(output),
        says("It leaks at the tap."),
    ]);
    assert_eq!(
        texts(&log)[1..],
        [call, output, "It leaks at the tap."].map(str::to_owned)
    );
    assert_eq!(log.facts.completed_calls, 0);
}

#[test]
fn reasoning_of_other_providers_is_counted_and_left_out() {
    let log = log(&[
        task(),
        json!({"type": "reasoning", "encrypted_content": "gA==", "summary": [], "ts": 1}),
        said(
            "assistant",
            json!([
                {"type": "reasoning", "text": "Hm.", "summary": []},
                {"type": "text", "text": "Done."},
                {"type": "thoughtSignature", "thoughtSignature": "Z2VtaW5p"},
            ]),
        ),
    ]);
    assert_eq!(
        messages(&log)[1]["content"],
        json!([{"type": "text", "text": "Done."}])
    );
    assert_eq!(log.facts.dropped_blocks, 3);
}

// Roo Code keeps in the list what a summary stands for.
#[test]
fn messages_that_a_summary_stands_for_are_counted_and_the_summary_comes_in_their_place() {
    let tagged = |mut message: Value, id: &str| {
        message["condenseParent"] = json!(id);
        message
    };
    let summary = |text: &str, id: &str| {
        let mut message = asks(text);
        message["isSummary"] = json!(true);
        message["condenseId"] = json!(id);
        message
    };
    let log = log(&[
        tagged(task(), "one"),
        tagged(says("I water."), "one"),
        tagged(summary("The hose is new.", "one"), "two"),
        tagged(asks("And the tap?"), "two"),
        summary("Hose and tap are new.", "two"),
        // Of a summary that the user went back behind.
        tagged(asks("Now the roses."), "three"),
    ]);
    assert_eq!(texts(&log), ["[Hose and tap are new.]", "Now the roses."]);
    assert_eq!(log.summaries, [0]);
    assert_eq!(
        (log.facts.earlier_messages, log.facts.recorded_summaries),
        (4, 1)
    );
}

#[test]
fn messages_that_were_cut_out_are_counted_and_the_mark_in_their_place_is_the_programs() {
    let hidden = |mut message: Value| {
        message["truncationParent"] = json!("cut");
        message
    };
    let mut mark = said("user", json!("2 messages hidden to reduce context"));
    mark["isTruncationMarker"] = json!(true);
    mark["truncationId"] = json!("cut");
    let log = log(&[
        task(),
        hidden(says("I water.")),
        hidden(asks("More.")),
        mark,
        says("It rains."),
    ]);
    let messages = messages(&log);
    assert_eq!(messages.len(), 2);
    assert_eq!(
        messages[0]["content"][2]["text"],
        "<inserted-by-program>\n2 messages hidden to reduce context\n</inserted-by-program>"
    );
    assert_eq!(log.facts.earlier_messages, 2);
}

#[test]
fn call_that_was_broken_off_gets_a_result_and_one_at_the_end_waits() {
    let call = |id: &str| {
        said(
            "assistant",
            json!([{"type": "tool_use", "id": id, "name": "water", "input": {}}]),
        )
    };
    let log = log(&[
        task(),
        call("t1"),
        asks("<feedback>\nStop.\n</feedback>"),
        call("t2"),
    ]);
    let messages = messages(&log);
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "t1");
    assert_eq!(
        messages[2]["content"][1]["text"],
        "<feedback>\nStop.\n</feedback>"
    );
    assert_eq!(log.facts.completed_calls, 1);
}

#[test]
fn what_is_no_message_is_counted() {
    let log = log(&[
        task(),
        json!({"role": "critic", "content": "Hm.", "ts": 2}),
        json!({"role": "user", "ts": 3}),
        json!(7),
        says("Done."),
    ]);
    assert_eq!(messages(&log).len(), 2);
    assert_eq!((log.facts.skipped_lines, log.facts.broken_lines), (2, 1));
}

#[test]
fn list_of_messages_of_a_request_is_no_log() {
    for list in [
        // Nothing says when they were made.
        json!([{"role": "user", "content": [{"type": "text", "text": "<task>Water.</task>"}]}]),
        // Nothing in them is these programs'.
        json!([{"role": "user", "content": "Water.", "ts": 5}, {"role": "assistant", "content": "Yes."}]),
    ] {
        assert!(read(&list.to_string(), None).is_none(), "{list}");
    }
}
