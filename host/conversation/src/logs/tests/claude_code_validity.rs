use serde_json::{Value, json};

use super::claude_code::{calls, reply, result, roles, says, user};
use super::{file, log, messages, try_read};
use crate::model::log::{LogError, LogKind};

// ALL-2, ANTH-3
#[test]
fn call_in_the_middle_is_completed_and_one_at_the_end_is_pending() {
    let lines = [
        user("u1", "", json!("Sound the depth.")),
        calls("a1", "u1", "m1", "t1"),
        user("u2", "a1", json!("[Request interrupted by user]")),
        calls("a2", "u2", "m2", "t2"),
    ];
    let log = log(&lines);
    let messages = messages(&log);
    assert_eq!(messages.len(), 4);
    let completed = &messages[2]["content"][0];
    assert_eq!(
        (&completed["tool_use_id"], &completed["is_error"]),
        (&json!("t1"), &json!(true))
    );
    assert_eq!(
        messages[2]["content"][1]["text"],
        "[Request interrupted by user]"
    );
    assert_eq!(log.facts.completed_calls, 1);
}

// ANTH-3: a batch is pending as a whole or not at all.
#[test]
fn batch_that_is_answered_in_part_is_completed() {
    let log = log(&[
        user("u1", "", json!("Ready about?")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "ready"),
    ]);
    assert_eq!(messages(&log)[2]["content"][1]["tool_use_id"], "t2");
    assert_eq!(log.facts.completed_calls, 1);
}

// ALL-4, ALL-6
#[test]
fn nothing_comes_twice_and_nothing_is_empty() {
    let log = log(&[
        user("u1", "", json!("Weigh anchor.")),
        says("a0", "u1", "m1", " \n"),
        calls("a1", "a0", "m1", "t1"),
        calls("a1", "a0", "m1", "t1"),
        calls("a1-copy", "a0", "m1", "t1"),
        result("r1", "a1", "t1", "up"),
        result("r2", "a1", "t1", "up again"),
        reply(
            "a3",
            "r1",
            "m2",
            json!({"type": "thinking", "thinking": "…", "signature": "c"}),
        ),
        user("u2", "a3", json!("And now?")),
    ]);
    let messages = messages(&log);
    assert_eq!(roles(&messages), ["user", "assistant", "user"]);
    assert_eq!(messages[1]["content"].as_array().unwrap().len(), 1);
    assert_eq!(messages[2]["content"].as_array().unwrap().len(), 2);
    let facts = log.facts;
    assert_eq!((facts.dropped_calls, facts.dropped_results), (1, 1));
    assert_eq!((facts.aborted_responses, facts.skipped_lines), (1, 1));
}

#[test]
fn blocks_are_copied_byte_for_byte() {
    let block = r#"{ "type":"tool_use","id":"t1", "name":"X","input":{"n":1.50,"s":"\u00e9\/"} ,"new":null}"#;
    let text = format!(
        "{}{}\n",
        file(&[user("u1", "", json!("Go."))]),
        calls("a1", "u1", "m1", "t1").to_string().replace(
            &json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "masts.rs"}})
                .to_string(),
            block
        ),
    );
    assert!(try_read(&text).unwrap().document.contains(block));
}

#[test]
fn log_of_titles_holds_no_messages() {
    let lines = [json!({"type": "summary", "summary": "Masts", "leafUuid": "a1"})];
    let error = try_read(&file(&lines)).unwrap_err();
    let kind = LogKind::ClaudeCode;
    assert_eq!(error, LogError::NoMessages { kind, lines: 1 });
}

#[test]
fn what_is_no_block_takes_nothing_else_with_it() {
    let nameless = json!({"type": "tool_use", "name": "Read", "input": {}});
    let text = json!({"type": "text", "text": "Two fathoms."});
    let mut reply = reply("a1", "u1", "m1", text.clone());
    reply["message"]["content"] = json!([text, nameless]);
    let log = log(&[
        user(
            "u1",
            "",
            json!(["Sound the depth.", 7, {"type": "tool_result", "content": "lost"}]),
        ),
        reply,
        user("u2", "a1", json!([null])),
    ]);
    assert_eq!(
        messages(&log),
        [
            json!({"role": "user", "content": "Sound the depth."}),
            json!({"role": "assistant", "content": [text]}),
        ]
    );
    // Of the first line two, of the answer one, and all of the last line.
    assert_eq!((log.facts.dropped_blocks, log.facts.skipped_lines), (4, 1));
}

#[test]
fn transcript_of_a_sub_agent_is_read() {
    let mut lines = vec![
        user("u1", "", json!("Look for masts.")),
        calls("a1", "u1", "m1", "t1"),
        result("r1", "a1", "t1", "two"),
    ];
    for line in &mut lines {
        line["isSidechain"] = json!(true);
    }
    let own = log(&lines);
    assert_eq!(roles(&messages(&own)), ["user", "assistant", "user"]);
    assert_eq!(own.facts.sidechain_lines, 0);
    // Beside a main flow they stay out.
    lines.push(user("u2", "", json!("And sails?")));
    let main = log(&lines);
    assert_eq!(messages(&main).len(), 1);
    assert_eq!(main.facts.sidechain_lines, 3);
}

// Bound thinking: a log holds neither system prompt nor tools.
#[test]
fn thinking_stays_unless_the_model_binds_it() {
    let thinking = json!({"type": "thinking", "thinking": "Both.", "signature": "EqQB+/="});
    let redacted = json!({"type": "redacted_thinking", "data": "EmwK"});
    for (model, kept, dropped) in [("claude-opus-4-5", 2, 0), ("claude-opus-5-5", 0, 2)] {
        let mut lines = vec![
            user("u1", "", json!("Which sail is torn?")),
            reply("a1", "u1", "m1", thinking.clone()),
            calls("a2", "a1", "m1", "t1"),
            result("r1", "a2", "t1", "jib: whole"),
            reply("a3", "r1", "m2", redacted.clone()),
            says("a4", "a3", "m2", "The main. \n"),
        ];
        for line in &mut lines {
            if line["type"] == "assistant" {
                line["message"]["model"] = json!(model);
            }
        }
        let log = log(&lines);
        let blocks: Vec<_> = messages(&log)
            .iter()
            .filter(|message| message["role"] == "assistant")
            .flat_map(|message| message["content"].as_array().unwrap().clone())
            .collect();
        let thinks = blocks
            .iter()
            .filter(|block| [&thinking, &redacted].contains(block))
            .count();
        assert_eq!(
            (thinks, log.facts.dropped_thinking),
            (kept, dropped),
            "{model}"
        );
        assert_eq!(blocks.len(), 2 + kept, "{model}");
        // ANTH-6, whatever went before it.
        assert_eq!(blocks.last().unwrap()["text"], "The main.");
    }
}

// ANTH-11: as pi's reader does it.
#[test]
fn failed_results_are_such_as_the_api_takes() {
    let text = json!({"type": "text", "text": "The rope parted."});
    let empty = json!({"type": "text", "text": ""});
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    let picture = json!({"type": "image", "source": source});
    for (content, expected, is_error) in [
        (json!(""), json!("(no output)"), true),
        (json!(null), json!("(no output)"), true),
        (json!([]), json!("(no output)"), true),
        (json!([empty]), json!("(no output)"), true),
        (json!("It tore."), json!("It tore."), true),
        (json!([empty, text]), json!([empty, text]), true),
        (json!([picture]), json!([picture]), false),
        (json!([text, picture]), json!([text, picture]), false),
    ] {
        let block = json!({"tool_use_id": "t1", "type": "tool_result", "content": content, "is_error": true});
        let log = log(&[
            user("u1", "", json!("Haul.")),
            calls("a1", "u1", "m1", "t1"),
            user("r1", "a1", json!([block])),
        ]);
        let result = messages(&log)[2]["content"][0].clone();
        assert_eq!(result["content"], expected);
        assert_eq!(result["is_error"], is_error, "{expected}");
    }
    let bare = json!({"tool_use_id": "t1", "type": "tool_result", "is_error": true});
    let log = log(&[
        user("u1", "", json!("Haul.")),
        calls("a1", "u1", "m1", "t1"),
        user("r1", "a1", json!([bare])),
    ]);
    assert_eq!(messages(&log)[2]["content"][0]["content"], "(no output)");
}

// LCC-20
#[test]
fn result_whose_line_stands_before_that_of_its_call_answers_it() {
    let mut lines = vec![
        user("u1", "", json!("Ready about?")),
        calls("a1", "u1", "m1", "t1"),
        result("r2", "a2", "t2", "jib: ready"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "main: ready"),
    ];
    for _ in 0..2 {
        let log = log(&lines);
        let messages = messages(&log);
        let results = &messages[2]["content"];
        assert_eq!(results[0]["content"], "main: ready");
        assert_eq!(results[1]["content"], "jib: ready");
        let facts = log.facts;
        assert_eq!((facts.completed_calls, facts.dropped_results), (0, 0));
        // The same where the conversation goes on.
        lines.push(says("a3", "r1", "m2", "Aye."));
        lines.push(user("u2", "a3", json!("Hard over.")));
    }
}

// LCC-20
#[test]
fn early_result_is_taken_by_no_call_that_may_not_be_its_own() {
    let outcome = |lines: &[Value]| {
        let log = log(lines);
        let messages = Value::from(messages(&log)).to_string();
        assert!(!messages.contains("stale"), "{messages}");
        (log.facts.completed_calls, log.facts.dropped_results)
    };
    // A prompt lies between.
    let asked = [
        user("u1", "", json!("Sound the depth.")),
        result("r0", "u1", "t1", "stale"),
        user("u2", "r0", json!("Once more.")),
        calls("a1", "u2", "m1", "t1"),
        user("u3", "a1", json!("Well?")),
    ];
    assert_eq!(outcome(&asked), (1, 1));
    // The call has a result after it.
    let answered = [
        user("u1", "", json!("Sound the depth.")),
        result("r0", "u1", "t1", "stale"),
        calls("a1", "u1", "m1", "t1"),
        result("r1", "a1", "t1", "nine fathoms"),
    ];
    assert_eq!(outcome(&answered), (0, 1));
    // The result repeats one of an earlier call with this id, and the newest call still runs.
    let repeated = [
        user("u1", "", json!("Sound the depth.")),
        calls("a1", "u1", "m1", "t1"),
        result("r1", "a1", "t1", "nine fathoms"),
        result("r2", "r1", "t1", "stale"),
        calls("a2", "r2", "m2", "t1"),
    ];
    assert_eq!(outcome(&repeated), (0, 1));
}

// LCC-21
#[test]
fn result_that_came_after_the_newest_answer_is_noted_until_there_is_a_newer_one() {
    let mut lines = vec![
        user("u1", "", json!("Sound both sides.")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a2", "t1", "nine fathoms"),
        user("u2", "r1", json!("Which flag is up meanwhile?")),
        says("a3", "u2", "m2", "The blue one."),
        result("r2", "a2", "t2", "four fathoms"),
    ];
    let noted = |lines: &[Value]| {
        let log = log(lines);
        let messages = messages(&log);
        // Behind its call all the same.
        assert_eq!(messages[2]["content"][1]["content"], "four fathoms");
        assert_eq!(
            (log.facts.completed_calls, log.facts.dropped_results),
            (0, 0)
        );
        (messages.len(), log.late)
    };
    assert_eq!(noted(&lines), (4, vec![2]));
    lines.push(user("u3", "a3", json!("And the depth?")));
    assert_eq!(noted(&lines), (5, vec![2]));
    lines.push(says("a4", "u3", "m3", "Four on one side."));
    assert_eq!(noted(&lines), (6, vec![]));
    // In time: it came before the answer.
    lines.truncate(7);
    lines.swap(5, 6);
    assert_eq!(noted(&lines), (4, vec![]));
}
