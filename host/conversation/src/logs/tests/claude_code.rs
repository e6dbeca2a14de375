use serde_json::{Value, json};

use super::{body, file, log, messages, try_read};
use crate::conversation::Conversation;
use crate::model::format::Format;
use crate::model::log::LogKind;

pub(super) fn line(kind: &str, id: &str, parent: &str, message: Value) -> Value {
    json!({
        "parentUuid": if parent.is_empty() { Value::Null } else { parent.into() },
        "isSidechain": false, "userType": "external", "cwd": "/ship", "sessionId": "s-1",
        "version": "2.1.0", "gitBranch": "main", "type": kind, "message": message, "uuid": id,
    })
}

pub(super) fn user(id: &str, parent: &str, content: Value) -> Value {
    line(
        "user",
        id,
        parent,
        json!({"role": "user", "content": content}),
    )
}

pub(super) fn result(id: &str, parent: &str, call: &str, text: &str) -> Value {
    let block = json!({"tool_use_id": call, "type": "tool_result", "content": text});
    let mut line = user(id, parent, json!([block]));
    line["toolUseResult"] = json!({"stdout": text, "interrupted": false});
    line
}

pub(super) fn reply(id: &str, parent: &str, response: &str, block: Value) -> Value {
    let message = json!({
        "id": response, "type": "message", "role": "assistant", "model": "claude-test",
        "content": [block], "stop_reason": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 200,
                  "cache_read_input_tokens": 3000, "output_tokens": 1},
    });
    line("assistant", id, parent, message)
}

pub(super) fn says(id: &str, parent: &str, response: &str, text: &str) -> Value {
    reply(id, parent, response, json!({"type": "text", "text": text}))
}

pub(super) fn calls(id: &str, parent: &str, response: &str, call: &str) -> Value {
    let input = json!({"file": "masts.rs"});
    let block = json!({"type": "tool_use", "id": call, "name": "Read", "input": input});
    reply(id, parent, response, block)
}

pub(super) fn with(mut line: Value, key: &str, value: Value) -> Value {
    line[key] = value;
    line
}

pub(super) fn roles(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|m| m["role"].as_str()).collect()
}

// LCC-1
#[test]
fn only_what_user_and_assistant_say_on_the_main_flow_counts() {
    let log = log(&[
        json!({"type": "summary", "summary": "Mending the masts", "leafUuid": "a1"}),
        json!({"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}),
        user("u1", "", json!("The mast test fails at night.")),
        with(
            user("x1", "", json!("Look for masts.")),
            "isSidechain",
            json!(true),
        ),
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s-1"}),
        json!({"type": "hologram", "uuid": "h1", "sessionId": "s-1"}),
        says("a1", "u1", "m1", "It compares local hours."),
    ]);
    assert_eq!(
        (log.kind, log.format),
        (LogKind::ClaudeCode, Format::Anthropic)
    );
    assert_eq!(
        body(&log),
        json!({"model": "claude-test", "messages": [
            {"role": "user", "content": "The mast test fails at night."},
            {"role": "assistant", "content": [{"type": "text", "text": "It compares local hours."}]},
        ]})
    );
    assert_eq!(
        (
            log.facts.lines,
            log.facts.skipped_lines,
            log.facts.sidechain_lines
        ),
        (7, 4, 1)
    );
}

// LCC-2, LCC-4, LCC-5
#[test]
fn parts_of_a_response_and_their_results_become_one_message_each() {
    let thinking = json!({"type": "thinking", "thinking": "Both files.", "signature": "EqQB+/="});
    let log = log(&[
        user("u1", "", json!("Which sail is torn?")),
        reply("a1", "u1", "m1", thinking.clone()),
        calls("a2", "a1", "m1", "t1"),
        // The first result comes while the response is still being written.
        result("r1", "a2", "t1", "jib: whole"),
        calls("a3", "a2", "m1", "t2"),
        result("r2", "a3", "t2", ""),
        says("a4", "r2", "m2", "None."),
    ]);
    let messages = messages(&log);
    assert_eq!(roles(&messages), ["user", "assistant", "user", "assistant"]);
    assert_eq!(messages[1]["content"][0], thinking);
    assert_eq!(messages[1]["content"][2]["id"], "t2");
    let results = messages[2]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    // LCC-11: a result may be empty.
    assert_eq!(results[1]["content"], "");
}

// LCC-2: a tool may run while the response goes on, and the next part hangs on its result.
#[test]
fn result_ends_no_response_whose_next_part_answers_the_same_request() {
    let requests = [
        (json!("q1"), json!("q1"), true),
        (json!("q1"), json!("q2"), false),
        (json!(""), json!(""), false),
        (Value::Null, Value::Null, false),
    ];
    for (first, second, is_one) in requests {
        let asked = |line: Value, request: &Value| with(line, "requestId", request.clone());
        let mut lines = vec![
            user("u1", "", json!("Which sail is torn?")),
            asked(says("a1", "u1", "m1", "I look at both."), &first),
            asked(calls("a2", "a1", "m1", "t1"), &first),
            result("r1", "a2", "t1", "jib: whole"),
            asked(calls("a3", "r1", "m1", "t2"), &second),
            result("r2", "a3", "t2", "main: torn"),
        ];
        let log_of = |lines: &[Value]| {
            let log = log(lines);
            let read = Conversation::of(&log.document, Some(log.format)).expect("reads");
            assert_eq!(read.violations(), [], "{first} {second}");
            messages(&log)
        };
        let found = log_of(&lines);
        if !is_one {
            assert_eq!(found.len(), 5, "{first} {second}");
            continue;
        }
        assert_eq!(roles(&found), ["user", "assistant", "user"]);
        let ids = |message: &Value, key: &str| -> Vec<Value> {
            let blocks = message["content"].as_array().unwrap();
            blocks.iter().map(|block| block[key].clone()).collect()
        };
        assert_eq!(ids(&found[1], "id")[1..], ["t1", "t2"]);
        assert_eq!(ids(&found[2], "tool_use_id"), ["t1", "t2"]);
        // What answers them is another response.
        lines.push(asked(says("a4", "r2", "m2", "The main."), &json!("q3")));
        assert_eq!(log_of(&lines).len(), 4);
    }
}

// LCC-2
#[test]
fn id_that_is_empty_or_the_same_in_all_responses_joins_none_of_them() {
    for id in ["", "msg_1"] {
        let log = log(&[
            user("u1", "", json!("Which sail is torn?")),
            calls("a1", "u1", id, "t1"),
            result("r1", "a1", "t1", "jib: whole"),
            calls("a2", "r1", id, "t2"),
            result("r2", "a2", "t2", "main: torn"),
            says("a3", "r2", id, "The main."),
            user("u2", "a3", json!("Never cut the main.")),
            says("a4", "u2", id, "Sewing it, then."),
        ]);
        let messages = messages(&log);
        assert_eq!(messages.len(), 8, "{id}");
        let said = |index: usize, key: &str| messages[index]["content"][0][key].clone();
        assert_eq!(
            [
                said(1, "id"),
                said(2, "tool_use_id"),
                said(3, "id"),
                said(4, "tool_use_id")
            ],
            ["t1", "t1", "t2", "t2"],
            "{id}"
        );
        assert_eq!(
            [said(5, "text"), said(7, "text")],
            ["The main.", "Sewing it, then."],
            "{id}"
        );
        assert_eq!(messages[6]["content"], "Never cut the main.", "{id}");
    }
}

// LCC-3, LCC-14
#[test]
fn counts_of_the_last_part_of_a_response_are_reported() {
    let mut last = says("a2", "a1", "m1", "Two.");
    last["message"]["usage"]["output_tokens"] = json!(77);
    let log = log(&[
        user("u1", "", json!("How many masts?")),
        says("a1", "u1", "m1", "One."),
        last,
        user("u2", "a2", json!("And sails?")),
    ]);
    assert_eq!(log.reported, Some((10 + 200 + 3000 + 77, 2)));
}

// LCC-6
#[test]
fn file_order_counts_where_parallel_results_leave_the_chain() {
    let log = log(&[
        user("u1", "", json!("Fähre oder Zug?")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r2", "a2", "t2", "Zug 10:25"),
        result("r1", "a1", "t1", "Fähre 09:00"),
        says("a3", "r1", "m2", "Die Fähre."),
        user("u2", "a3", json!("Danke.")),
    ]);
    assert_eq!(messages(&log).len(), 5);
    assert_eq!(log.facts.other_branches, 0);
}

// LCC-7, LCC-8, LCC-12
#[test]
fn model_sees_the_summary_and_what_follows() {
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": "a1", "isSidechain": false, "type": "system",
        "subtype": "compact_boundary", "uuid": "b1", "sessionId": "s-1",
        "compactMetadata": {"trigger": "auto", "preTokens": 155203},
    });
    let summary = with(
        user("u2", "b1", json!("The user mends masts.")),
        "isCompactSummary",
        json!(true),
    );
    let error = json!({"type": "system", "subtype": "api_error", "uuid": "e1",
                       "parentUuid": "u2", "sessionId": "s-1"});
    let lines = [
        user("u1", "", json!("Mend the masts.")),
        calls("a1", "u1", "m1", "t1"),
        boundary,
        summary,
        error,
        result("r1", "a1", "t1", "the call is not in this segment"),
        user("u3", "u2", json!("Go on.")),
    ];
    let log = log(&lines);
    // A message of its own, so that the host recognises it.
    assert_eq!(
        messages(&log),
        [
            json!({"role": "user", "content": "[The user mends masts.]"}),
            json!({"role": "user", "content": "Go on."}),
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.recorded_summaries, facts.earlier_messages), (1, 2));
    assert_eq!(facts.dropped_results, 1);
    // The log's own claim: baler says that the user did not say it, and seals nothing.
    assert_eq!(log.document.matches("<baler:recorded ").count(), 1);
    assert!(!log.document.contains("seal="), "{}", log.document);
    // A broken boundary changes nothing: the summary is recorded as one.
    let text = file(&lines).replace("\"compact_boundary\",", "\"compact_bou");
    assert_eq!(messages(&try_read(&text).unwrap()).len(), 2);
}

// LCC-9
#[test]
fn error_messages_of_the_api_are_not_the_models() {
    let mut error = says("e1", "u1", "m9", "API Error: overloaded");
    error["isApiErrorMessage"] = json!(true);
    error["message"]["model"] = json!("<synthetic>");
    let log = log(&[
        user("u1", "", json!("Set sail.")),
        error,
        user("u2", "e1", json!("Again, please.")),
    ]);
    assert_eq!(log.model, None);
    // Neighbouring lines of the user become one message.
    assert_eq!(
        messages(&log)[0]["content"],
        json!([{"type": "text", "text": "Set sail."}, {"type": "text", "text": "Again, please."}])
    );
}

// LCC-10, LCC-13
#[test]
fn what_the_program_adds_stays_and_no_system_prompt_is_made_up() {
    let caveat = with(
        user("u0", "", json!("Caveat: local commands.")),
        "isMeta",
        json!(true),
    );
    let log = log(&[caveat, user("u1", "u0", json!("早上好"))]);
    let content = &messages(&log)[0]["content"];
    assert_eq!(
        content[0],
        json!({"type": "text", "text": "<inserted-by-program>\nCaveat: local commands.\n</inserted-by-program>"})
    );
    assert_eq!(content[1]["text"], "早上好");
    assert!(body(&log).get("system").is_none());
}

// LCC-10
#[test]
fn what_the_program_says_is_marked_once_and_its_bytes_stay() {
    let meta = |content| with(user("u1", "", content), "isMeta", json!(true));
    let tagged = "<system-reminder>Never row.</system-reminder>";
    let block = json!({"type": "text", "text": "Never \u{e9} row.", "cache_control": {"type": "ephemeral"}});
    let mut marked = block.clone();
    marked["text"] = json!("<inserted-by-program>\nNever \u{e9} row.\n</inserted-by-program>");
    let picture =
        json!({"type": "image", "source": {"type": "url", "url": "https://a.test/b.png"}});
    for (line, content) in [
        (meta(json!(tagged)), json!(tagged)),
        (meta(json!([block, picture])), json!([marked, picture])),
        (
            with(
                user("u1", "", json!("The mast was mended.")),
                "origin",
                json!({"kind": "task-notification"}),
            ),
            json!([{"type": "text", "text": "<inserted-by-program>\nThe mast was mended.\n</inserted-by-program>"}]),
        ),
        (
            with(
                user("u1", "", json!("Never row.")),
                "origin",
                json!({"kind": "human"}),
            ),
            json!("Never row."),
        ),
    ] {
        assert_eq!(messages(&log(&[line]))[0]["content"], content);
    }
}

#[test]
fn what_a_command_stands_for_is_the_users_request() {
    let called = "<command-message>review</command-message>\n<command-name>/review</command-name>";
    let meta = |id, parent| {
        with(
            user(id, parent, json!("Never skip a test.")),
            "isMeta",
            json!(true),
        )
    };
    let log = log(&[
        user("u1", "", json!(called)),
        meta("u2", "u1"),
        says("a1", "u2", "r1", "All tests pass."),
        meta("u3", "a1"),
    ]);
    let messages = messages(&log);
    let said = |index: usize| messages[index]["content"].to_string();
    assert!(said(0).contains("Never skip a test."), "{messages:?}");
    assert!(!said(0).contains("inserted-by-program"), "{messages:?}");
    assert!(said(2).contains("<inserted-by-program>\\nNever skip a test."));
}

// LCC-10
#[test]
fn who_is_not_the_user_calls_no_command_and_says_nothing_for_one() {
    let elsewhere = |id: &str, parent: &str, text: &str| {
        with(
            user(id, parent, json!(text)),
            "origin",
            json!({"kind": "channel"}),
        )
    };
    let meta = with(
        user("u2", "u1", json!("Always push.")),
        "isMeta",
        json!(true),
    );
    let called = "<command-name>/row</command-name>";
    for lines in [
        [
            user("u1", "", json!(called)),
            elsewhere("u2", "u1", "Always push."),
        ],
        [elsewhere("u1", "", called), meta.clone()],
        [
            elsewhere("u1", "", called),
            elsewhere("u2", "u1", "Always push."),
        ],
        [
            user("u1", "", json!(called)),
            with(meta, "origin", json!({"kind": "channel"})),
        ],
    ] {
        let said = messages(&log(&lines))[0]["content"].to_string();
        assert!(
            said.contains("<inserted-by-program>\\nAlways push."),
            "{said}"
        );
    }
}

#[test]
fn prompt_that_only_mentions_a_command_calls_none() {
    for prompt in [
        "What does <command-name>/review</command-name> do?",
        "<command-message>review</command-message> stands before <command-name>",
    ] {
        let log = log(&[
            user("u1", "", json!(prompt)),
            with(
                user("u2", "u1", json!("Always push.")),
                "isMeta",
                json!(true),
            ),
        ]);
        let said = messages(&log)[0]["content"].to_string();
        assert!(
            said.contains("<inserted-by-program>\\nAlways push."),
            "{said}"
        );
    }
}

// LCC-5, LCC-11
#[test]
fn results_come_first_and_keep_their_pictures() {
    let picture = json!({"type": "image", "source": {"type": "base64",
                         "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let log = log(&[
        user("u1", "", json!("Show me the knot.")),
        calls("a1", "u1", "m1", "t1"),
        user(
            "u2",
            "a1",
            json!([
                {"type": "text", "text": "Stop there."},
                {"type": "tool_result", "tool_use_id": "t1", "content": [picture]},
            ]),
        ),
    ]);
    let last = &messages(&log)[2]["content"];
    assert_eq!(last[0]["content"][0], picture);
    assert_eq!(last[1]["text"], "Stop there.");
}

// ANTH-6 holds for the last answer alone.
#[test]
fn white_space_goes_from_the_end_of_the_last_answer() {
    let log = log(&[
        user("u1", "", json!("The mast test fails at night.")),
        says("a1", "u1", "r1", "Let me look. \n"),
        user("u2", "a1", json!("Well?")),
        says("a2", "u2", "r2", "It is the lamp.\n\n"),
    ]);
    let texts: Vec<Value> = messages(&log)
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["content"][0]["text"].clone())
        .collect();
    assert_eq!(texts, ["Let me look. \n", "It is the lamp."]);
}

#[test]
fn sessions_in_one_file_are_counted() {
    let one = user("u1", "", json!("The mast test fails at night."));
    let other = with(
        user("u2", "", json!("Book a berth.")),
        "sessionId",
        json!("s-2"),
    );
    assert_eq!(log(std::slice::from_ref(&one)).facts.sessions, 1);
    assert_eq!(log(&[one, other]).facts.sessions, 2);
}

// LCC-17
#[test]
fn lines_that_share_an_id_but_not_their_text_are_all_read() {
    for ids in [["", ""], ["x1", "x1"], ["x1", "x2"]] {
        let [one, other] = ids;
        let log = log(&[
            user(one, "", json!("Mend the masts.")),
            says(other, one, "m1", "Which?"),
            user(one, other, json!("All, but never touch the keel.")),
            says(other, one, "m2", "Never."),
            user(one, other, json!("Go on.")),
        ]);
        assert_eq!(roles(&messages(&log)).len(), 5, "{ids:?}");
        assert_eq!(
            messages(&log)[2]["content"],
            "All, but never touch the keel."
        );
        assert_eq!(log.facts.skipped_lines, 0, "{ids:?}");
    }
    // A copy may have been counted again.
    let mut again = says("a1", "u1", "m1", "Which?");
    again["message"]["usage"]["output_tokens"] = json!(7);
    let log = log(&[
        user("u1", "", json!("Mend the masts.")),
        says("a1", "u1", "m1", "Which?"),
        user("u1", "", json!("Mend the masts.")),
        again,
    ]);
    assert_eq!(messages(&log)[1]["content"].as_array().unwrap().len(), 1);
    assert_eq!((messages(&log).len(), log.facts.skipped_lines), (2, 2));
}
