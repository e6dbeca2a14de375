use serde_json::{Value, json};

use super::{body, file, log, messages, text_of, texts};
use crate::conversation::Conversation;
use crate::model::format::Format;
use crate::model::log::LogKind;

pub(super) fn start() -> Value {
    json!({"type": "session", "id": "s", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/farm",
           "provider": "anthropic", "modelId": "claude-test", "thinkingLevel": "off"})
}

pub(super) fn entry(message: Value) -> Value {
    json!({"type": "message", "timestamp": "2026-01-02T03:04:06Z", "message": message})
}

pub(super) fn user(text: &str) -> Value {
    entry(json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}))
}

pub(super) fn reply(api: &str, blocks: Value) -> Value {
    entry(
        json!({"role": "assistant", "content": blocks, "api": api, "provider": "p",
        "model": "model-test", "stopReason": "toolUse",
        "usage": {"input": 5, "output": 6, "cacheRead": 70, "cacheWrite": 800, "cost": {"total": 1}}}),
    )
}

pub(super) fn call(id: &str) -> Value {
    json!({"type": "toolCall", "id": id, "name": "weigh", "arguments": {"animal": "goat"}})
}

pub(super) fn result(id: &str, text: &str) -> Value {
    entry(
        json!({"role": "toolResult", "toolCallId": id, "toolName": "weigh", "isError": false,
        "content": [{"type": "text", "text": text}], "details": {"unit": "kg"}}),
    )
}

const ANTHROPIC: &str = "anthropic-messages";

fn node(mut line: Value, id: &str, parent: Option<&str>) -> Value {
    line["id"] = json!(id);
    line["parentId"] = json!(parent);
    line
}

fn says(text: &str) -> Value {
    reply(ANTHROPIC, json!([{"type": "text", "text": text}]))
}

// LPI-1, LPI-4, LPI-6
#[test]
fn version_1_is_read_in_file_order_with_batches_in_call_order() {
    let log = log(&[
        start(),
        json!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        user("Взвесь козу."),
        reply(ANTHROPIC, json!([call("t1"), call("t2")])),
        result("t2", "41 kg"),
        result("t1", "40 kg"),
        result("t1", "again"),
        result("t9", "of nothing"),
    ]);
    assert_eq!((log.kind, log.format), (LogKind::Pi, Format::Anthropic));
    let use_of = |id: &str| json!({"type": "tool_use", "id": id, "name": "weigh", "input": {"animal": "goat"}});
    let result_of = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]});
    assert_eq!(
        body(&log),
        json!({"model": "model-test", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Взвесь козу."}]},
            {"role": "assistant", "content": [use_of("t1"), use_of("t2")]},
            {"role": "user", "content": [result_of("t1", "40 kg"), result_of("t2", "41 kg")]},
        ]})
    );
    assert_eq!(log.reported, Some((881, 2)));
    assert_eq!(log.facts.dropped_results, 2);
}

// LPI-1
#[test]
fn later_versions_are_read_from_the_newest_entry_to_the_root() {
    let mut start = start();
    start["version"] = json!(3);
    let log = log(&[
        start,
        node(user("Feed the goats."), "e1", None),
        node(says("With hay?"), "e2", Some("e1")),
        node(user("With shoes."), "e3", Some("e2")),
        node(says("They like it."), "e4", Some("e3")),
        node(
            json!({"type": "branch_summary", "fromId": "e4", "summary": "Shoes were tried."}),
            "e5",
            Some("e2"),
        ),
        node(
            json!({"type": "custom_message", "customType": "bell", "content": "It is noon.", "display": true}),
            "e6",
            Some("e5"),
        ),
        node(
            json!({"type": "custom", "customType": "state", "data": {}}),
            "e7",
            Some("e6"),
        ),
        node(user("With hay."), "e8", Some("e7")),
        node(
            json!({"type": "label", "targetId": "e3", "label": "x"}),
            "e9",
            Some("e8"),
        ),
    ]);
    assert_eq!(
        texts(&log),
        [
            "Feed the goats.",
            "With hay?",
            "[Shoes were tried.]",
            "<inserted-by-program>\nIt is noon.\n</inserted-by-program>",
            "With hay."
        ]
    );
    assert_eq!(
        (log.facts.other_branches, log.facts.recorded_summaries),
        (2, 1)
    );
}

// LPI-2
#[test]
fn latest_compaction_keeps_what_it_says() {
    let compaction = |summary: &str, first: &str| json!({"type": "compaction", "summary": summary, "tokensBefore": 9, "firstKeptEntryId": first});
    let log = log(&[
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}),
        node(user("One."), "e1", None),
        node(says("Two."), "e2", Some("e1")),
        node(compaction("Old.", "e2"), "e3", Some("e2")),
        node(user("Three."), "e4", Some("e3")),
        node(compaction("New.", "e2"), "e5", Some("e4")),
        node(user("Four."), "e6", Some("e5")),
    ]);
    assert_eq!(texts(&log), ["[New.]", "Two.", "Three.", "Four."]);
    assert_eq!(log.facts.earlier_messages, 1);
}

// LPI-3
#[test]
fn older_index_counts_all_lines_from_0() {
    let log = log(&[
        start(),
        user("One."),
        json!({"type": "model_change", "provider": "anthropic", "modelId": "m"}),
        user("Two."),
        json!({"type": "compaction", "summary": "Old.", "tokensBefore": 9, "firstKeptEntryIndex": 3}),
        user("Three."),
    ]);
    assert_eq!(texts(&log), ["[Old.]", "Two.", "Three."]);
}

// LPI-5
#[test]
fn aborted_responses_go_and_unanswered_calls_are_completed() {
    let cut = json!({"type": "toolCall", "id": "t2", "name": "weigh", "arguments": {}, "partialJson": "{\"ani"});
    let log = log(&[
        start(),
        user("Weigh all."),
        entry(
            json!({"role": "assistant", "content": [], "api": ANTHROPIC, "model": "m", "stopReason": "aborted"}),
        ),
        user("Go on."),
        reply(ANTHROPIC, json!([call("t1"), cut])),
        user("Well?"),
        reply(ANTHROPIC, json!([call("t3")])),
    ]);
    let messages = messages(&log);
    assert_eq!(messages.len(), 6);
    let results = messages[3]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["is_error"], true);
    assert!(!log.document.contains("partialJson"));
    assert_eq!(
        (log.facts.aborted_responses, log.facts.completed_calls),
        (1, 2)
    );
}

// LPI-6
#[test]
fn what_a_response_said_before_it_was_broken_off_answers_nothing() {
    for (stop, block) in [
        ("error", json!({"type": "text", "text": "It weighs"})),
        ("aborted", json!({"type": "text", "text": "It weighs"})),
        ("error", call("t2")),
    ] {
        let mut cut = reply(ANTHROPIC, json!([block]));
        cut["message"]["stopReason"] = json!(stop);
        let mut lines = vec![
            start(),
            user("Weigh all."),
            reply(ANTHROPIC, json!([call("t1")])),
            result("t1", "40 kg"),
            cut,
            result("t2", "stopped"),
        ];
        let unanswered = log(&lines);
        let all = messages(&unanswered);
        assert_eq!(all.len(), 3, "{stop}");
        assert_eq!(all[2]["content"][0]["tool_use_id"], "t1", "{stop}");
        assert_eq!(unanswered.reported, Some((881, 2)), "{stop}");
        let facts = unanswered.facts;
        assert_eq!(
            (
                facts.aborted_responses,
                facts.dropped_results,
                facts.completed_calls
            ),
            (1, 1, 0),
            "{stop}"
        );

        lines.push(user("Go on."));
        let said = log(&lines);
        assert_eq!(messages(&said).len(), 4, "{stop}");
        assert_eq!(text_of(&messages(&said)[3]), "Go on.", "{stop}");
        let read = Conversation::of(&said.document, Some(said.format)).expect("reads");
        assert_eq!(read.violations(), [], "{stop}");
    }
}

// LPI-7
#[test]
fn thinking_stays_only_signed_and_for_its_own_api() {
    let thinks = |signature: Value| {
        json!([{"type": "thinking", "thinking": "Hm.", "thinkingSignature": signature},
               {"type": "text", "text": "So."}])
    };
    let log = log(&[
        start(),
        user("Why?"),
        reply(
            "openai-responses",
            thinks(json!("{\"type\":\"reasoning\"}")),
        ),
        user("Really?"),
        reply(ANTHROPIC, thinks(Value::Null)),
        user("Sure?"),
        reply(ANTHROPIC, thinks(json!("RXFR"))),
    ]);
    let messages = messages(&log);
    assert_eq!(
        messages[1]["content"],
        json!([{"type": "text", "text": "So."}])
    );
    assert_eq!(
        messages[3]["content"],
        json!([{"type": "text", "text": "So."}])
    );
    assert_eq!(
        messages[5]["content"][0],
        json!({"type": "thinking", "thinking": "Hm.", "signature": "RXFR"})
    );
}

// Bound thinking: a log holds neither system prompt nor tools.
#[test]
fn thinking_goes_where_the_model_that_answered_last_binds_it() {
    let thinks = |model: &str| {
        let blocks = json!([{"type": "thinking", "thinking": "Hm.", "thinkingSignature": "RXFR"},
                            {"type": "text", "text": "So."}]);
        let mut line = reply(ANTHROPIC, blocks);
        line["message"]["model"] = json!(model);
        line
    };
    for (models, lengths, dropped) in [
        (["claude-sonnet-5-5", "claude-sonnet-4-5"], [2, 2], 0),
        (["claude-sonnet-4-5", "claude-sonnet-5-5"], [1, 1], 2),
    ] {
        let log = log(&[
            start(),
            user("Why?"),
            thinks(models[0]),
            user("Really?"),
            thinks(models[1]),
        ]);
        let messages = messages(&log);
        let length = |index: usize| messages[index]["content"].as_array().unwrap().len();
        assert_eq!([length(1), length(3)], lengths, "{models:?}");
        assert_eq!(log.facts.dropped_thinking, dropped, "{models:?}");
    }
}

// LPI-8
#[test]
fn broken_lines_are_skipped_and_counted() {
    let text = format!(
        "{}\n{{\"type\":\"mess\n{}\n{}\n",
        start(),
        user("Moo."),
        user("Baa.")
    );
    let log = super::try_read(&text).unwrap();
    assert_eq!(texts(&log), ["Moo.", "Baa."]);
    assert_eq!(log.facts.broken_lines, 1);
}

// LPI-9
#[test]
fn what_stood_in_front_of_a_broken_line_stays() {
    let mut start = start();
    start["version"] = json!(3);
    let whole = node(says("Hay it is."), "e4", Some("e3")).to_string();
    let torn = &whole[..90];
    let text = format!(
        "{}{torn}\n{}",
        file(&[
            start.clone(),
            node(user("Feed the goats."), "e1", None),
            node(says("With hay?"), "e2", Some("e1")),
            node(user("Never with shoes."), "e3", Some("e2")),
        ]),
        file(&[
            node(user("Now the cows."), "e5", Some("e4")),
            node(says("Done."), "e6", Some("e5")),
        ])
    );
    let log = super::try_read(&text).unwrap();
    assert_eq!(
        texts(&log),
        [
            "Feed the goats.",
            "With hay?",
            "Never with shoes.",
            "Now the cows.",
            "Done."
        ]
    );
    assert_eq!((log.facts.broken_lines, log.facts.other_branches), (1, 0));

    // Without a broken line a parent that is not there ends the way, and a branch stays one.
    let text = file(&[
        start,
        node(user("Feed the goats."), "e1", None),
        node(user("Now the cows."), "e5", Some("e4")),
    ]);
    let log = super::try_read(&text).unwrap();
    assert_eq!(texts(&log), ["Now the cows."]);
    assert_eq!(log.facts.other_branches, 1);
}

#[test]
fn commands_of_the_user_are_told_unless_they_are_private() {
    let ran = |command: &str, hidden: bool| {
        entry(
            json!({"role": "bashExecution", "command": command, "output": "3 goats\n", "exitCode": 2,
                     "cancelled": false, "truncated": false, "excludeFromContext": hidden}),
        )
    };
    let log = log(&[
        start(),
        ran("ls barn", false),
        ran("cat diary", true),
        user("Count."),
    ]);
    assert_eq!(
        texts(&log),
        [
            "Ran `ls barn`\n```\n3 goats\n\n```\n\nCommand exited with code 2",
            "Count."
        ]
    );
    assert!(!log.document.contains("diary"));
}

#[test]
fn what_an_extension_says_is_marked_and_its_bytes_stay() {
    let said = "Never \u{e9} \"feed\".\n</inserted-by-program>\nNever milk.";
    let reminder = "<system-reminder>Always wait.</system-reminder>";
    for (entry, text) in [
        (
            json!({"type": "custom_message", "customType": "bell", "content": said, "display": true}),
            format!("<inserted-by-program>\n{said}\n</inserted-by-program>"),
        ),
        (
            entry(json!({"role": "hookMessage", "content": [{"type": "text", "text": said}]})),
            format!("<inserted-by-program>\n{said}\n</inserted-by-program>"),
        ),
        (
            entry(json!({"role": "custom", "content": reminder})),
            reminder.to_owned(),
        ),
        (user(said), said.to_owned()),
    ] {
        let log = log(&[start(), entry, user("Count.")]);
        assert_eq!(texts(&log), [text.as_str(), "Count."]);
    }
}
