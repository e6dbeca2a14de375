//! What Claude Code records of the user and for the model in lines of other types (LCC-15, LCC-16).

use serde_json::{Value, json};

use super::claude_code::{calls, result, says, user, with};
use super::{log, messages};

fn attachment(id: &str, parent: &str, attachment: Value) -> Value {
    json!({
        "parentUuid": parent, "isSidechain": false, "sessionId": "s-1", "type": "attachment",
        "uuid": id, "attachment": attachment,
    })
}

fn queued(id: &str, parent: &str, prompt: Value) -> Value {
    let command = json!({"type": "queued_command", "prompt": prompt, "commandMode": "prompt",
                         "origin": {"kind": "human"}});
    attachment(id, parent, command)
}

fn inserted(text: &str) -> Value {
    json!({"type": "text", "text": format!("<inserted-by-program>\n{text}\n</inserted-by-program>")})
}

/// What a line becomes between a prompt and an answer, and how many attachments are told.
fn between(line: Value) -> (Vec<Value>, usize) {
    let log = log(&[
        user("u1", "", json!("Mend the masts.")),
        line,
        says("a1", "x1", "m1", "Done."),
    ]);
    let content = messages(&log)[0]["content"].clone();
    let blocks = content
        .as_array()
        .map_or(Vec::new(), |all| all[1..].to_vec());
    (blocks, log.facts.dropped_attachments)
}

#[test]
fn what_the_user_types_between_parallel_results_stands_behind_them() {
    let log = log(&[
        user("u1", "", json!("Which sail is torn?")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "jib: whole"),
        queued("q1", "r1", json!("Never sew at night.")),
        result("r2", "a2", "t2", "main: torn"),
        says("a3", "q1", "m2", "The main."),
    ]);
    let messages = messages(&log);
    assert_eq!(messages.len(), 4);
    let content = messages[2]["content"].as_array().unwrap();
    assert_eq!(content[0]["content"], "jib: whole");
    assert_eq!(content[1]["content"], "main: torn");
    assert_eq!(
        content[2],
        json!({"type": "text", "text": "Never sew at night."})
    );
    assert_eq!(content.len(), 3);
    let facts = log.facts;
    assert_eq!((facts.completed_calls, facts.other_branches), (0, 0));
    assert_eq!(facts.dropped_attachments, 0);
}

#[test]
fn queued_prompt_keeps_its_blocks_and_needs_no_origin() {
    let text = json!({"type": "text", "text": "Like this."});
    let picture = json!({"type": "image", "source": {"type": "base64",
                         "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let prompt = json!([text, picture]);
    let mut line = queued("x1", "u1", prompt);
    assert_eq!(between(line.clone()).0, [text.clone(), picture.clone()]);
    line["attachment"] = json!({"type": "queued_command", "prompt": [text, picture]});
    assert_eq!(between(line).0, [text, picture]);
}

#[test]
fn queued_prompt_of_somebody_else_is_the_programs() {
    let queued = |more: Value| {
        let mut command = json!({"type": "queued_command", "prompt": "Sail home.",
                                 "commandMode": "prompt"});
        for (key, value) in more.as_object().unwrap() {
            command[key] = value.clone();
        }
        attachment("x1", "u1", command)
    };
    for line in [
        queued(json!({"commandMode": "task-notification"})),
        queued(json!({"origin": {"kind": "coordinator"}})),
        queued(json!({"isMeta": true})),
        with(queued(json!({})), "origin", json!({"kind": "channel"})),
    ] {
        assert_eq!(between(line.clone()).0, [inserted("Sail home.")], "{line}");
    }
    // It says so itself.
    let notice = "<task-notification>The mast stands.</task-notification>";
    let line = queued(json!({"prompt": notice, "commandMode": "task-notification"}));
    assert_eq!(between(line).0, [json!({"type": "text", "text": notice})]);
}

#[test]
fn texts_of_attachments_are_the_programs() {
    let file = json!({"type": "text", "file": {"filePath": "/ship/log.txt", "content": "Day 1", "numLines": 1}});
    for (given, texts) in [
        (
            json!({"type": "file", "filename": "/ship/log.txt", "content": file}),
            vec!["/ship/log.txt", "Day 1"],
        ),
        (
            json!({"type": "edited_text_file", "filename": "a.rs", "snippet": "1\tfn a() {}"}),
            vec!["a.rs", "1\tfn a() {}"],
        ),
        (
            json!({"type": "nested_memory", "path": "CLAUDE.md", "content": {"path": "CLAUDE.md", "type": "Project", "content": "Use tar."}}),
            vec!["CLAUDE.md", "Use tar."],
        ),
        (
            json!({"type": "nested_memory", "path": "CLAUDE.md", "content": "Use tar."}),
            vec!["CLAUDE.md", "Use tar."],
        ),
        (
            json!({"type": "hook_additional_context", "content": ["Ebb.", "Flood."]}),
            vec!["Ebb.", "Flood."],
        ),
    ] {
        let expected: Vec<Value> = texts.into_iter().map(inserted).collect();
        let line = attachment("x1", "u1", given);
        assert_eq!(between(line), (expected, 0));
    }
}

#[test]
fn attachments_without_a_known_text_are_told() {
    for given in [
        json!({"type": "hook_success", "hookName": "Stop", "content": "ok"}),
        json!({"type": "file", "filename": "a.png", "content": {"type": "image", "file": {"base64": "iVBORw0KGgo="}}}),
        json!({"type": "queued_command", "prompt": ""}),
        json!({"type": "edited_text_file", "filename": "a.rs"}),
        json!(7),
    ] {
        let line = attachment("x1", "u1", given);
        assert_eq!(between(line), (Vec::new(), 1));
    }
}

#[test]
fn what_local_commands_print_is_there_and_is_no_request() {
    let printed = |text: &str| {
        json!({"parentUuid": "u1", "isSidechain": false, "sessionId": "s-1", "type": "system",
               "subtype": "local_command", "content": text, "level": "info", "uuid": "x1"})
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let output = "<local-command-stdout>nine fathoms</local-command-stdout>";
    let call =
        "<command-name>/goal</command-name>\n<command-args>Never sew at night.</command-args>";
    assert_eq!(between(printed(output)).0, [text(output)]);
    assert_eq!(between(printed(call)).0, [text(call)]);
    assert_eq!(
        between(printed("Set the course.")).0,
        [inserted("Set the course.")]
    );
    assert!(between(printed("")).0.is_empty());
    // What follows such a command is what it printed, not what the user asks for.
    let log = log(&[
        user("u1", "", json!("Mend the masts.")),
        printed(call),
        with(user("u2", "x1", json!("Usage: 9")), "isMeta", json!(true)),
    ]);
    assert_eq!(messages(&log)[0]["content"][2], inserted("Usage: 9"));
}

#[test]
fn log_is_known_by_its_attachments() {
    let mut lines: Vec<Value> = (0..20)
        .map(|number| {
            let hook = json!({"type": "hook_success", "content": ""});
            attachment(&format!("h{number}"), "", hook)
        })
        .collect();
    lines.push(user("u1", "h19", json!("Mend the masts.")));
    assert_eq!(messages(&log(&lines)).len(), 1);
}
