//! What pi records of changes to what the model sees: edits of contents (LPI-10), the system prompt and tools
//! (LPI-11).

use serde_json::{Value, json};

use super::pi::{call, entry, reply, result, user};
use super::{body, log, messages};
use crate::conversation::Conversation;
use crate::logs::Log;
use crate::model::format::Format;

const ANTHROPIC: &str = "anthropic-messages";

/// Entries one after the other, as e1, e2 and so on.
fn chain(entries: Vec<Value>) -> Vec<Value> {
    let mut lines =
        vec![json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/farm"})];
    for (index, mut entry) in entries.into_iter().enumerate() {
        entry["id"] = json!(format!("e{}", index + 1));
        entry["parentId"] = match index {
            0 => Value::Null,
            index => json!(format!("e{index}")),
        };
        lines.push(entry);
    }
    lines
}

fn read(entries: Vec<Value>) -> Log {
    log(&chain(entries))
}

fn edit(target: &str, replacement: Value) -> Value {
    json!({"type": "context_edit", "targetId": target, "replacement": replacement})
}

fn says(text: &str) -> Value {
    reply(ANTHROPIC, json!([{"type": "text", "text": text}]))
}

/// A session in which two goats are weighed at once, with these entries behind it.
fn weighing(behind: &[Value]) -> Log {
    let mut entries = vec![
        user("Weigh both. The safe opens with Ziege-12."),
        reply(
            ANTHROPIC,
            json!([{"type": "text", "text": "Both."}, call("t1"), call("t2")]),
        ),
        result("t1", "40 kg"),
        result("t2", "41 kg, key KX-99"),
        says("81 kg."),
    ];
    entries.extend(behind.iter().cloned());
    entries.push(user("And the rest?"));
    read(entries)
}

#[test]
fn edited_contents_are_in_no_request_in_whatever_form_the_replacement_is_written() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    for prompt in [
        json!("Weigh both."),
        json!({"content": "Weigh both."}),
        json!({"content": text("Weigh both.")}),
        text("Weigh both."),
    ] {
        let log = weighing(&[
            edit("e1", prompt.clone()),
            edit("e4", json!({"content": text("41 kg")})),
        ]);
        assert!(!log.document.contains("Ziege"), "{prompt}");
        assert!(!log.document.contains("KX-99"), "{prompt}");
        let messages = messages(&log);
        assert_eq!(messages[0]["content"], text("Weigh both."));
        let results = &messages[2]["content"];
        assert_eq!(results[0]["content"], text("40 kg"));
        assert_eq!(results[1]["tool_use_id"], "t2");
        assert_eq!(results[1]["content"], text("41 kg"));
        assert_eq!(log.facts.edited_messages, 2);
        assert_eq!(log.facts.unknown_lines, 0);
    }
}

#[test]
fn hidden_contents_are_gone_and_a_hidden_result_leaves_its_call_answered() {
    let log = weighing(&[edit("e4", Value::Null), edit("e5", Value::Null)]);
    assert!(!log.document.contains("KX-99"));
    assert!(!log.document.contains("81 kg."));
    let results = messages(&log)[2]["content"].clone();
    assert_eq!(results[1]["tool_use_id"], "t2");
    assert_eq!(results[1]["is_error"], true);
    assert_eq!(
        (log.facts.edited_messages, log.facts.completed_calls),
        (2, 1)
    );
    let read = Conversation::of(&log.document, Some(log.format)).expect("reads");
    assert_eq!(read.violations(), []);
}

// It is certain only that the content was to go.
#[test]
fn replacement_that_is_not_understood_hides() {
    for replacement in [json!({"text": "x"}), json!(7), json!({"content": null})] {
        let log = weighing(&[edit("e4", replacement.clone())]);
        assert!(!log.document.contains("KX-99"), "{replacement}");
    }
}

#[test]
fn newest_edit_of_an_entry_holds_and_those_of_other_branches_do_not() {
    let log = weighing(&[
        edit("e4", Value::Null),
        edit("e4", json!({"content": "41 kg, once more"})),
    ]);
    assert!(log.document.contains("41 kg, once more"));

    let mut lines = chain(vec![
        user("Weigh."),
        says("Which goat?"),
        edit("e1", json!("Weigh nothing.")),
    ]);
    let mut other = user("The grey one.");
    other["id"] = json!("f1");
    other["parentId"] = json!("e2");
    lines.push(other);
    assert!(!super::log(&lines).document.contains("nothing"));
}

#[test]
fn edit_reaches_what_an_extension_said() {
    let bell = json!({"type": "custom_message", "customType": "bell", "content": "Code 4711.", "display": true});
    let log = read(vec![
        bell,
        user("Ring."),
        edit("e1", json!({"content": "A code."})),
    ]);
    assert!(!log.document.contains("4711"));
    assert!(
        log.document
            .contains("<inserted-by-program>\\nA code.\\n</inserted-by-program>")
    );
}

#[test]
fn what_the_provider_counted_before_an_edit_counts_no_more() {
    assert_eq!(weighing(&[]).reported, Some((881, 4)));
    assert_eq!(weighing(&[edit("e4", Value::Null)]).reported, None);
    let log = weighing(&[edit("e4", Value::Null), user("Why?"), says("So.")]);
    assert_eq!(log.reported, Some((881, 6)));
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."),
           "parameters": {"type": "object", "properties": {"n": {"type": "number"}}}})
}

fn system(more: Value) -> Value {
    let mut message = json!({"role": "system", "content": "", "timestamp": 1});
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    entry(message)
}

/// A session whose prompt and tools change on the way.
fn changing(api: &str) -> Vec<Value> {
    vec![
        system(json!({
            "content": "Be kind.",
            "sections": {"preamble": "You keep goats.", "rules": "Milk at noon.", "cwd": "/farm"},
            "toolsAdded": [tool("weigh"), tool("milk")],
        })),
        user("Взвесь козу."),
        reply(api, json!([call("t1")])),
        result("t1", "40 kg"),
        system(json!({
            "content": [{"type": "text", "text": "Be brief."}],
            "sections": {"rules": "Milk at six.", "cwd": null, "mood": "Calm."},
            "toolsAdded": [tool("shear")], "toolsRemoved": [{"name": "milk"}],
        })),
        user("And now?"),
    ]
}

const PROMPT: &str = "Be kind.\n\nBe brief.\n\nYou keep goats.\n\nMilk at six.\n\nCalm.";

#[test]
fn system_messages_become_the_instructions_and_tools_that_hold_last() {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "number"}}});
    let log = read(changing(ANTHROPIC));
    let body = body(&log);
    assert_eq!(body["system"], PROMPT);
    let tool = |name: &str| json!({"name": name, "description": format!("Does {name}."), "input_schema": parameters});
    assert_eq!(body["tools"], json!([tool("weigh"), tool("shear")]));
    assert_eq!(messages(&log).len(), 4);
    assert_eq!((log.facts.skipped_lines, log.facts.unknown_lines), (1, 0));
}

#[test]
fn each_format_gets_them_in_its_own_place() {
    for (api, format, place) in [
        (ANTHROPIC, Format::Anthropic, "/system"),
        (
            "openai-completions",
            Format::OpenAiChat,
            "/messages/0/content",
        ),
        ("openai-responses", Format::OpenAiResponses, "/instructions"),
        (
            "google-generative-ai",
            Format::Gemini,
            "/systemInstruction/parts/0/text",
        ),
    ] {
        let log = read(changing(api));
        assert_eq!(log.format, format);
        assert_eq!(body(&log).pointer(place), Some(&json!(PROMPT)), "{format}");
        let conversation = Conversation::of(&log.document, Some(format)).expect("reads");
        assert_eq!(conversation.violations(), [], "{format}");
        assert!(log.document.contains("\"shear\""), "{format}");
        assert!(!log.document.contains("\"milk\""), "{format}");
    }
}

// In a chat the instructions are a message, and counts and summaries name messages.
#[test]
fn places_of_counts_and_summaries_follow_the_message_of_the_instructions() {
    let compaction = json!({"type": "compaction", "summary": "Goats.", "tokensBefore": 9, "firstKeptEntryId": "e3"});
    let log = read(vec![
        system(json!({"content": "Be kind."})),
        user("Hm."),
        compaction,
        user("Weigh."),
        reply(
            "openai-completions",
            json!([{"type": "text", "text": "So."}]),
        ),
    ]);
    let messages = messages(&log);
    assert_eq!(
        messages[0],
        json!({"role": "system", "content": "Be kind."})
    );
    assert_eq!(messages[1]["content"], "[Goats.]");
    assert_eq!((log.summaries, log.reported), (vec![1], Some((881, 4))));
}

#[test]
fn compaction_holds_the_instructions_of_all_before_it() {
    let compaction = json!({
        "type": "compaction", "summary": "Goats were weighed.", "tokensBefore": 9, "firstKeptEntryId": "e2",
        "systemMessage": {"role": "system", "content": "Kept.", "sections": {"rules": "Milk at noon."},
                          "toolsAdded": [tool("weigh")]},
    });
    let log = read(vec![
        system(json!({"content": "Gone.", "toolsAdded": [tool("milk")]})),
        user("Weigh."),
        compaction,
        system(json!({"sections": {"rules": "Milk at six."}})),
        user("And now?"),
        says("Six."),
    ]);
    let body = body(&log);
    assert_eq!(body["system"], "Kept.\n\nMilk at six.");
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    assert_eq!(body["tools"][0]["name"], "weigh");
}

#[test]
fn blocks_and_entries_that_are_not_known_are_told() {
    let foreign = json!({"type": "tool_use", "id": "t1", "name": "weigh", "input": {}});
    let log = read(vec![
        user("Weigh."),
        reply(
            ANTHROPIC,
            json!([{"type": "text", "text": "I do."}, foreign]),
        ),
        json!({"type": "hologram"}),
        entry(json!({"role": "oracle", "content": "?", "timestamp": 1})),
        user("Well?"),
    ]);
    assert_eq!((log.facts.dropped_blocks, log.facts.unknown_lines), (1, 2));
    assert_eq!(messages(&log).len(), 3);
}
