//! A log is the same however its JSON is spelled.

use serde_json::{Value, json};

use super::codex::{answer, item, line, user};
use super::{body, file, try_read};
use baler_generated::Spelling;

fn claude_code() -> Vec<Value> {
    let message = |kind: &str, uuid: &str, parent: &str, message: Value| json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s/1", "message": message});
    let mut summary = message(
        "user",
        "u1",
        "b1",
        json!({"role": "user", "content": "Masts <b> & sails."}),
    );
    summary["isCompactSummary"] = json!(true);
    vec![
        message(
            "user",
            "u0",
            "",
            json!({"role": "user", "content": "Mend."}),
        ),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": null, "sessionId": "s/1"}),
        summary,
        message(
            "user",
            "u2",
            "u1",
            json!({"role": "user", "content": "Go <on>."}),
        ),
        message(
            "assistant",
            "a1",
            "u2",
            json!({"id": "m/1", "role": "assistant", "model": "claude-sonnet-4-5", "content": [
                {"type": "tool_use", "id": "t/1", "name": "look", "input": {}}]}),
        ),
        message(
            "user",
            "r1",
            "a1",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t/1", "content": "ok"}]}),
        ),
        message(
            "user",
            "u3",
            "r1",
            json!({"role": "user", "content": [{"type": "text", "text": " \n "}]}),
        ),
    ]
}

fn codex() -> Vec<Value> {
    vec![
        item(user("<environment_context>/harbour</environment_context>")),
        item(user("Count the crates.")),
        item(answer("Twelve.")),
        line("compacted", json!({"message": "Twelve <crates>."})),
        item(json!({"type": "message", "role": "user", "content": []})),
        item(user("And barrels?")),
    ]
}

fn pi() -> Vec<Value> {
    vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}),
        json!({"type": "message", "id": "e1", "parentId": null, "message": {"role": "user", "content": "One."}}),
        json!({"type": "compaction", "id": "e2", "parentId": "e1", "summary": "Only <one>.", "tokensBefore": 9, "firstKeptEntryId": "e1"}),
        json!({"type": "message", "id": "e3", "parentId": "e2", "message": {"role": "assistant", "api": "anthropic-messages", "model": "claude", "content": [
            {"type": "toolCall", "id": "t/1", "name": "look", "arguments": {}}]}}),
        json!({"type": "message", "id": "e4", "parentId": "e3", "message": {"role": "toolResult", "toolCallId": "t/1", "toolName": "look", "content": [{"type": "text", "text": "ok"}]}}),
        json!({"type": "message", "id": "e5", "parentId": "e4", "message": {"role": "assistant", "api": "anthropic-messages", "model": "claude", "content": []}}),
    ]
}

fn gemini_cli() -> Vec<Value> {
    vec![
        json!({"sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t"}),
        json!({"id": "1", "timestamp": "t", "type": "user", "content": "Count <them>."}),
        json!({"id": "2", "timestamp": "t", "type": "gemini", "content": "Nine.", "model": "gemini-3-pro"}),
    ]
}

#[test]
fn logs_are_the_same_in_every_spelling() {
    for (lines, summaries) in [
        (claude_code(), 1),
        (codex(), 1),
        (pi(), 1),
        (gemini_cli(), 0),
    ] {
        let expected = try_read(&file(&lines)).expect("it is whole");
        assert_eq!(expected.summaries.len(), summaries);
        for spelling in Spelling::ALL {
            let spelled: Vec<String> = lines
                .iter()
                .map(|line| spelling.of(&line.to_string()))
                .collect();
            let found = try_read(&spelled.join("\n")).expect("it is whole");
            assert_eq!(body(&found), body(&expected), "{spelling:?}");
            let facts = |log: &crate::logs::Log| {
                let told = (log.kind, log.format, log.reported, log.facts);
                (told, log.model.clone(), log.summaries.clone())
            };
            assert_eq!(facts(&found), facts(&expected), "{spelling:?}");
        }
    }
}
