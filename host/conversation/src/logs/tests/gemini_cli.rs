use serde_json::{Value, json};

use super::{body, file, log, messages, try_read};
use crate::logs::Log;
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};

pub(super) fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "t", "type": "user", "content": text})
}

pub(super) fn model(id: &str, text: &str, calls: Value) -> Value {
    json!({"id": id, "timestamp": "t", "type": "gemini", "content": text, "toolCalls": calls,
           "thoughts": [{"subject": "Hm", "description": "…"}], "model": "gemini-2.5-pro",
           "tokens": {"input": 90, "output": 9, "cached": 50, "thoughts": 1, "tool": 0, "total": 100}})
}

pub(super) fn call(id: &str, result: Value, status: &str) -> Value {
    json!({"id": id, "name": "book", "args": {"from": "LIS"}, "result": result, "status": status,
           "resultDisplay": "done"})
}

pub(super) fn response(id: &str, key: &str, text: &str) -> Value {
    json!({"functionResponse": {"id": id, "name": "book", "response": {key: text}}})
}

pub(super) fn head() -> Value {
    json!({"sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t"})
}

fn older(messages: &[Value]) -> String {
    let mut recording = head();
    recording["messages"] = Value::from(messages);
    serde_json::to_string_pretty(&recording).unwrap()
}

fn read_older(messages: &[Value]) -> Log {
    try_read(&older(messages)).unwrap()
}

fn texts(log: &Log) -> Vec<String> {
    let text = |m: &Value| m["parts"][0]["text"].as_str().unwrap_or("-").to_owned();
    messages(log).iter().map(text).collect()
}

// LGE-1, LGE-2, LGE-3, LGE-4, LGE-6
#[test]
fn message_with_calls_is_a_turn_of_the_model_and_one_of_the_user() {
    let results = json!([
        call("c1", json!([response("c1", "output", "ok")]), "success"),
        call("c2", json!([response("c2", "error", "full")]), "error")
    ]);
    let log = read_older(&[
        user("1", "Lisboa → Oslo, por favor."),
        json!({"id": "2", "timestamp": "t", "type": "info", "content": "Update available."}),
        model("3", "", results),
        model("4", "Booked.", json!([])),
    ]);
    assert_eq!((log.kind, log.format), (LogKind::GeminiCli, Format::Gemini));
    let call =
        |id: &str| json!({"functionCall": {"id": id, "name": "book", "args": {"from": "LIS"}}});
    assert_eq!(
        body(&log),
        json!({"contents": [
            {"role": "user", "parts": [{"text": "Lisboa → Oslo, por favor."}]},
            {"role": "model", "parts": [call("c1"), call("c2")]},
            {"role": "user", "parts": [response("c1", "output", "ok"), response("c2", "error", "full")]},
            {"role": "model", "parts": [{"text": "Booked."}]},
        ]})
    );
    assert_eq!(log.model.as_deref(), Some("gemini-2.5-pro"));
    assert_eq!(log.reported, Some((100, 4)));
    assert_eq!(log.facts.skipped_lines, 1);
}

// LGE-5, GEM-3
#[test]
fn gemini_3_gets_a_stand_in_for_signatures_in_the_current_turn_only() {
    let step = |id: &str, call_id: &str| {
        let calls = json!([call(
            call_id,
            json!([response(call_id, "output", "ok")]),
            "success"
        )]);
        let mut message = model(id, "On it.", calls);
        message["model"] = json!("gemini-3-pro-preview");
        message
    };
    let log = read_older(&[
        user("1", "Book."),
        step("2", "a"),
        user("3", "And back."),
        step("4", "b"),
        step("5", "c"),
    ]);
    let signed: Vec<bool> = messages(&log)
        .iter()
        .filter(|m| m["role"] == "model")
        .map(|m| m["parts"][1]["thoughtSignature"] == "skip_thought_signature_validator")
        .collect();
    assert_eq!(signed, [false, true, true]);
}

// LGE-3, GEM-2
#[test]
fn cancelled_calls_are_answered_and_those_at_the_end_are_pending() {
    let open = call("c3", Value::Null, "executing");
    let lines = [
        user("1", "Book."),
        model("2", "", json!([call("c1", Value::Null, "cancelled")])),
        user("3", "No, wait."),
        model("4", "", json!([open])),
    ];
    let log = read_older(&lines);
    let contents = messages(&log);
    assert_eq!(contents.len(), 5);
    let answer = &contents[2]["parts"][0]["functionResponse"];
    assert_eq!(answer["id"], "c1");
    assert!(answer["response"]["error"].is_string());
    assert_eq!(log.facts.completed_calls, 1);
    // A cancelled call at the end is not pending.
    assert_eq!(messages(&read_older(&lines[..2])).len(), 3);
}

// LGE-2, GEM-4
#[test]
fn results_without_an_id_or_an_object_are_written_anew() {
    let bare = json!([{"functionResponse": {"name": "book", "response": "ok"}},
                      {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                      response("other", "output", "not mine")]);
    let log = read_older(&[
        user("1", "Book."),
        model("2", "", json!([call("c1", bare, "success")])),
    ]);
    let parts = &messages(&log)[2]["parts"];
    assert_eq!(parts[0], response("c1", "output", "ok"));
    assert_eq!(parts[1]["inlineData"]["data"], "AAAA");
    assert_eq!(log.facts.dropped_results, 1);
}

// LGE-1: the newer form.
#[test]
fn lines_replace_change_and_rewind() {
    let log = log(&[
        head(),
        user("1", "Oslo?"),
        model("2", "Ja", json!([])),
        model("2", "Ja!", json!([])),
        user("3", "Bergen?"),
        model("4", "Nei", json!([])),
        json!({"$rewindTo": "3"}),
        json!({"$set": {"lastUpdated": "t2"}}),
        user("5", "Tromsø?"),
    ]);
    assert_eq!(texts(&log), ["Oslo?", "Ja!", "Tromsø?"]);
    assert_eq!((log.facts.other_branches, log.facts.skipped_lines), (2, 2));
}

// LGE-7
#[test]
fn messages_without_an_id_of_their_own_are_all_read() {
    for id in [json!(""), json!("x"), Value::Null] {
        let own = |mut message: Value| {
            message["id"] = id.clone();
            if id.is_null() {
                message.as_object_mut().unwrap().remove("id");
            }
            message
        };
        let lines = [
            own(user("", "Oslo?")),
            own(model("", "Ja.", json!([]))),
            own(user("", "Never by plane.")),
            own(model("", "Ferry, then.", json!([]))),
        ];
        let expected = ["Oslo?", "Ja.", "Never by plane.", "Ferry, then."];
        assert_eq!(texts(&read_older(&lines)), expected, "{id}");
        let mut newer = vec![head()];
        newer.extend(lines);
        assert_eq!(texts(&log(&newer)), expected, "{id}");
    }
}

#[test]
fn all_messages_may_be_set_anew_or_rewound() {
    let set = json!({"$set": {"messages": [user("7", "Start here."), 5]}});
    let lines = [head(), user("1", "Oslo?"), set, user("8", "Go.")];
    assert_eq!(texts(&log(&lines)), ["Start here.", "Go."]);
    let unknown = [
        head(),
        user("1", "Oslo?"),
        json!({"$rewindTo": "?"}),
        user("2", "Go."),
    ];
    assert_eq!(texts(&log(&unknown)), ["Go."]);
}

// GEM-2: what two messages say is one turn, so that calls follow a turn of the user.
#[test]
fn neighbouring_messages_of_the_model_are_one_turn() {
    let calls = json!([call(
        "c1",
        json!([response("c1", "output", "ok")]),
        "success"
    )]);
    let log = read_older(&[
        user("1", "Book."),
        model("2", "Sure.", json!([])),
        model("3", "", calls),
    ]);
    assert_eq!(messages(&log)[1]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(log.reported, Some((100, 2)));
}

#[test]
fn half_a_recording_is_told_with_its_place() {
    let text = older(&[user("1", "Oslo?")]);
    let error = try_read(&text[..text.len() - 20]).unwrap_err();
    assert!(
        matches!(error, LogError::NotJson { line: 10.., .. }),
        "{error}"
    );
    // The newer form on the other hand only loses its last line.
    let lines = file(&[head(), user("1", "Oslo?"), user("2", "Bergen?")]);
    let log = try_read(&lines[..lines.len() - 9]).unwrap();
    assert!(log.facts.unfinished_last_line);
    assert_eq!(texts(&log), ["Oslo?"]);
}
