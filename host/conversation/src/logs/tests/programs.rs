//! Which program a log is of, and what becomes of lines that are not understood.

use serde_json::{Value, json};

use super::claude_code::{says, user};
use super::{codex, file, log, messages, pi};
use crate::logs::read;
use crate::marks::SecretKey;
use crate::model::log::{LogError, LogKind};
use crate::model::read_error::ReadError;
use crate::reading::Reader;

fn refused(lines: &[Value]) -> Option<&'static str> {
    match read(&file(lines), None) {
        Some(Err(LogError::NotRead { program })) => Some(program),
        _ => None,
    }
}

fn qwen(kind: &str, role: &str, part: Value) -> Value {
    json!({"uuid": "q", "parentUuid": null, "sessionId": "s", "timestamp": "t", "type": kind, "cwd": "/sea",
           "version": "0.9", "message": {"role": role, "parts": [part]}})
}

fn gemini_stream() -> Vec<Value> {
    vec![
        json!({"type": "init", "timestamp": "t", "session_id": "s", "model": "gemini-3-pro"}),
        json!({"type": "message", "timestamp": "t", "role": "user", "content": "Count the piers."}),
        json!({"type": "tool_use", "timestamp": "t", "tool_name": "ls", "tool_id": "ls-1", "parameters": {}}),
        json!({"type": "tool_result", "timestamp": "t", "tool_id": "ls-1", "status": "success", "output": "pier"}),
        json!({"type": "message", "timestamp": "t", "role": "assistant", "content": "One.", "delta": true}),
    ]
}

#[test]
fn logs_that_would_pass_for_those_of_another_program_are_refused_with_their_programs_name() {
    let call = json!({"functionCall": {"id": "c", "name": "ls", "args": {}}});
    let response =
        json!({"functionResponse": {"id": "c", "name": "ls", "response": {"output": "pier"}}});
    let mut lines = vec![
        qwen("user", "user", json!({"text": "Count."})),
        qwen("assistant", "model", call),
        qwen("tool_result", "user", response),
    ];
    for _ in 0..lines.len() {
        assert_eq!(refused(&lines), Some("Qwen Code"), "{lines:?}");
        lines.rotate_left(1);
    }
    let stream = "`gemini --output-format stream-json`";
    assert_eq!(refused(&gemini_stream()), Some(stream));
    // Something else stands in front, or the beginning is missing.
    let mut echoed = gemini_stream();
    echoed[0] =
        json!({"type": "message", "role": "user", "content": "Count the piers.", "ts": "t"});
    assert_eq!(refused(&echoed), Some(stream));
    assert_eq!(refused(&gemini_stream()[1..]), Some(stream));
    assert_eq!(LogKind::of(&file(&gemini_stream())), None);
}

#[test]
fn program_is_known_by_its_own_marks_where_the_first_line_is_missing() {
    let goat = [
        pi::user("Weigh the goat."),
        pi::reply("anthropic-messages", json!([pi::call("t1")])),
    ];
    assert_eq!(log(&goat).kind, LogKind::Pi);
    let items = [
        codex::user("Count the crates."),
        codex::call("c1"),
        codex::output("c1"),
    ];
    assert_eq!(log(&items).kind, LogKind::Codex);
}

#[test]
fn lines_of_a_program_that_is_not_known_are_told_as_that_with_the_programs_that_are_read() {
    let reader = Reader::new(SecretKey::new([1; 32]));
    let event = |kind: &str| json!({"type": kind, "data": {"content": "Ahoy."}, "id": "e"});
    let lines = file(&[
        event("session.open"),
        event("user.said"),
        event("model.said"),
    ]);
    let error = reader.read(lines.as_str()).expect_err("it is not known");
    assert!(matches!(error, ReadError::Log(LogError::UnknownProgram)));
    let text = error.to_string();
    for part in ["log of lines", "claude-code", "codex", "pi", "gemini-cli"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("Ahoy"));
    // Bodies in lines are no log, and neither is one object with something behind it.
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}]});
    for text in [file(&[body.clone(), body]), "{\"a\":1}\n}\n".to_owned()] {
        let error = reader.read(text.as_str()).expect_err("it is no document");
        assert!(matches!(error, ReadError::NotJson { .. }), "{text}");
    }
}

#[test]
fn lines_that_are_not_understood_are_counted_and_bookkeeping_is_not() {
    let log = log(&[
        user("u1", "", json!("Zähl die Stege.")),
        json!({"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}),
        json!({"type": "mode", "mode": "normal", "sessionId": "s-1"}),
        json!({"type": "hologram", "sessionId": "s-1"}),
        // Of the API of another provider.
        json!({"type": "user", "uuid": "u2", "sessionId": "s-1",
               "message": {"role": "user", "parts": [{"text": "a"}]}}),
        says("a1", "u1", "m1", "Zwei."),
    ]);
    assert_eq!((log.facts.skipped_lines, log.facts.unknown_lines), (4, 2));
    assert_eq!(messages(&log).len(), 2);

    let codex = super::log(&[
        codex::line("session_meta", json!({"id": "x"})),
        codex::line(
            "event_msg",
            json!({"type": "agent_message", "message": "Hm."}),
        ),
        codex::item(codex::user("Count the crates.")),
        codex::item(json!({"type": "function_call", "name": "shell", "arguments": "{}"})),
        codex::line("prophecy", json!({})),
        codex::item(codex::answer("Twelve.")),
    ]);
    assert_eq!(
        (codex.facts.skipped_lines, codex.facts.unknown_lines),
        (4, 2)
    );

    let message =
        |id: &str, kind: &str| json!({"id": id, "timestamp": "t", "type": kind, "content": "Ja."});
    let gemini = super::log(&[
        json!({"sessionId": "s", "projectHash": "p", "startTime": "t"}),
        message("1", "user"),
        message("2", "info"),
        message("3", "oracle"),
        json!({"weather": "fair"}),
        message("4", "gemini"),
    ]);
    assert_eq!(
        (gemini.facts.skipped_lines, gemini.facts.unknown_lines),
        (4, 2)
    );
}

#[test]
fn log_of_which_most_lines_are_not_understood_is_an_error() {
    let hologram = json!({"type": "hologram", "sessionId": "s-1"});
    let lines = |holograms: usize| {
        let mut lines = vec![
            user("u1", "", json!("Count.")),
            says("a1", "u1", "m1", "Two."),
        ];
        lines.extend(vec![hologram.clone(); holograms]);
        read(&file(&lines), None).expect("it is a log")
    };
    assert_eq!(lines(2).expect("it reads").facts.unknown_lines, 2);
    let error = lines(3).expect_err("most of it is unknown");
    assert_eq!(
        error,
        LogError::NotUnderstood {
            kind: LogKind::ClaudeCode,
            unknown: 3,
            lines: 5
        }
    );
    // What is known to hold nothing for the model may be most of a log.
    let title = json!({"type": "custom-title", "customTitle": "Piers", "sessionId": "s-1"});
    let mut lines = vec![title; 40];
    lines.push(user("u1", "", json!("Count.")));
    assert_eq!(log(&lines).facts.unknown_lines, 0);
}
