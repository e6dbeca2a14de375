use serde_json::{Value, json};

use super::{body, file, log, messages, try_read};
use crate::conversation::Conversation;
use crate::model::format::Format;
use crate::model::log::LogKind;

pub(super) fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload})
}

pub(super) fn item(payload: Value) -> Value {
    line("response_item", payload)
}

pub(super) fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn reasoning() -> Value {
    json!({"type": "reasoning", "summary": [], "content": null, "encrypted_content": "gAAAAB="})
}

pub(super) fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": "{\"command\":[\"ls\"]}"})
}

pub(super) fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "{\"output\":\"Kai.rs\",\"metadata\":{\"exit_code\":0}}"})
}

pub(super) fn answer(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

pub(super) fn count(tokens: u64) -> Value {
    line(
        "event_msg",
        json!({"type": "token_count", "info": {
            "total_token_usage": {"total_tokens": 99999},
            "last_token_usage": {"input_tokens": tokens - 5, "output_tokens": 5, "total_tokens": tokens},
            "model_context_window": 272000,
        }}),
    )
}

// LCX-1, LCX-2, LCX-3, LCX-4, LCX-5, LCX-6
#[test]
fn items_are_taken_as_they_are_and_events_are_not() {
    let items = [
        user("<environment_context>/kai</environment_context>"),
        user("# Context from my IDE setup\n波止場のテストを直して"),
        reasoning(),
        call("c1"),
        output("c1"),
        call("c2"),
        output("c2"),
        reasoning(),
        answer("直りました"),
    ];
    let mut lines = vec![
        line(
            "session_meta",
            json!({"id": "x", "instructions": "Answer in Japanese."}),
        ),
        line(
            "turn_context",
            json!({"model": "gpt-test", "effort": "high"}),
        ),
        line(
            "event_msg",
            json!({"type": "agent_message", "message": "直りました"}),
        ),
        line("brand_new", json!({"type": "message"})),
    ];
    lines.extend(items.iter().cloned().map(item));
    let log = log(&lines);
    assert_eq!(
        (log.kind, log.format),
        (LogKind::Codex, Format::OpenAiResponses)
    );
    assert_eq!(
        body(&log),
        json!({"model": "gpt-test", "instructions": "Answer in Japanese.", "input": items})
    );
    assert_eq!(log.facts.skipped_lines, 2);
}

// LCX-7: in version 0.40 a count comes before the items of its response.
#[test]
fn counts_that_come_first_cover_the_response_behind_them() {
    let log = log(&[
        item(user("Count the crates.")),
        count(400),
        item(reasoning()),
        item(call("c1")),
        item(output("c1")),
        count(700),
        item(answer("Twelve.")),
        item(user("Sure?")),
    ]);
    assert_eq!(log.reported, Some((700, 5)));
}

// LCX-7: later versions write it after them.
#[test]
fn counts_that_come_last_cover_the_response_before_them() {
    let log = log(&[
        item(user("Count the crates.")),
        item(reasoning()),
        item(call("c1")),
        item(output("c1")),
        count(400),
    ]);
    assert_eq!(log.reported, Some((400, 3)));
}

// LCX-8
#[test]
fn older_form_has_bare_items() {
    let items = [user("Hé, du!"), call("c1"), output("c1")];
    let mut lines = vec![
        json!({"id": "x", "timestamp": "2025-05-01", "instructions": null, "git": {}}),
        json!({"record_type": "state"}),
    ];
    lines.extend(items.iter().cloned());
    let log = log(&lines);
    assert_eq!(messages(&log), items);
    // Also where the description is missing.
    assert_eq!(messages(&try_read(&file(&items)).unwrap()), items);
}

// LCX-9
#[test]
fn items_that_are_none_of_the_api_are_left_out() {
    let compaction = json!({"type": "compaction", "encrypted_content": "gAAA"});
    let search = json!({"type": "web_search_call", "status": "completed", "action": {}});
    let shell =
        json!({"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {}});
    let custom =
        json!({"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "+ x"});
    let done = json!({"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"});
    let log = log(&[
        item(json!({"type": "ghost_snapshot", "ghost_commit": {}})),
        item(compaction.clone()),
        item(user("Mend it.")),
        item(search.clone()),
        item(shell.clone()),
        item(output("c1")),
        item(custom.clone()),
        item(done.clone()),
    ]);
    assert_eq!(
        messages(&log),
        [
            compaction,
            user("Mend it."),
            search,
            shell,
            output("c1"),
            custom,
            done
        ]
    );
}

// LCX-10
#[test]
fn compaction_starts_anew_from_its_history() {
    let summary = user("They want crates counted.");
    let history = [user("Count the crates."), summary];
    let log = log(&[
        item(user("Count the crates.")),
        item(answer("Twelve.")),
        line(
            "compacted",
            json!({"message": "They want crates counted.",
                                 "replacement_history": history}),
        ),
        item(user("And barrels?")),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("Count the crates."),
            json!({"role": "user", "content": "[They want crates counted.]"}),
            user("And barrels?"),
        ]
    );
    assert_eq!(
        (log.facts.recorded_summaries, log.facts.earlier_messages),
        (1, 2)
    );
}

// LCX-10
#[test]
fn compaction_without_history_leaves_what_the_user_said_and_a_summary() {
    let log = log(&[
        item(user("<environment_context>/harbour</environment_context>")),
        item(user("Count the crates.")),
        item(call("c1")),
        line("compacted", json!({"message": "Twelve crates."})),
        item(output("c1")),
        item(user("And barrels?")),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("<environment_context>/harbour</environment_context>"),
            user("Count the crates."),
            json!({"role": "user", "content": "[Twelve crates.]"}),
            user("And barrels?"),
        ]
    );
    let facts = log.facts;
    assert_eq!((facts.dropped_results, facts.earlier_messages), (1, 1));
}

pub(super) fn roll_back(turns: usize) -> Value {
    line(
        "event_msg",
        json!({"type": "thread_rolled_back", "num_turns": turns}),
    )
}

// LCX-11
#[test]
fn turns_that_were_rolled_back_are_gone() {
    let log = log(&[
        item(user("<environment_context>/harbour</environment_context>")),
        item(user("Count the crates.")),
        item(answer("Twelve.")),
        count(90),
        item(user("Paint them red.")),
        item(user("<turn_aborted>no paint</turn_aborted>")),
        item(user("Blue, then.")),
        item(answer("Done.")),
        count(120),
        roll_back(2),
        item(user("Paint them green.")),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("<environment_context>/harbour</environment_context>"),
            user("Count the crates."),
            answer("Twelve."),
            user("Paint them green."),
        ]
    );
    assert_eq!(log.facts.other_branches, 4);
}

// LCX-11
#[test]
fn only_what_codex_wrote_as_a_whole_begins_no_turn() {
    let left = |text: &str| {
        messages(&log(&[
            item(user("Count the crates.")),
            item(answer("Twelve.")),
            item(user("Paint them red.")),
            item(user(text)),
            roll_back(1),
        ]))
    };
    let first = [user("Count the crates."), answer("Twelve.")];
    for text in [
        "<external_browser>The pier.</external_browser>",
        "<codex_internal_context source=\"goal\">\nGo on.\n</codex_internal_context>",
        "<goal_context>Go on.</goal_context>",
        "<recommended_plugins>\n- Tide\n</recommended_plugins>",
        "<environment_context>\n<cwd>/harbour</cwd>\n</environment_context>\n",
        "<external_context source=\"tab\" kind=\"untrusted\">\nThe pier.\n</external_context>",
        "<hook_prompt hook_run_id=\"7\">Row.</hook_prompt>",
        "<SKILL>\nRow.\n</skill>",
        "# AGENTS.md instructions for /harbour\n\n<INSTRUCTIONS>\nRow.\n</INSTRUCTIONS>",
        "Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.",
    ] {
        assert_eq!(left(text), first, "{text}");
    }
    for text in [
        "<skill> tags in our docs are broken.",
        "# AGENTS.md instructions are outdated.",
        "<environment_context>/harbour</environment_context>\nGo on.",
        "<user_action>\n<results>All is fine.</results>\n</user_action>",
        // Not closed, or not by its own tag.
        "<skill>\nRow.",
        "# AGENTS.md instructions for /harbour\n\n<INSTRUCTIONS>\nRow.",
        "<external_browser>The pier.</external_bridge>",
        "<environment_context>/harbour</user_instructions>",
        // Pasted from other programs.
        "<terminal_output>\nerror: no such pier\n</terminal_output>",
        "Observation:\nThe pier is wet.",
        "<system-reminder>\nRow.\n</system-reminder>",
        "[read_file for 'pier.rs'] Result:\nfn pier() {}",
    ] {
        let [count, twelve] = first.clone();
        assert_eq!(
            left(text),
            [count, twelve, user("Paint them red.")],
            "{text}"
        );
    }
}

// LCX-11
#[test]
fn rollback_past_all_turns_leaves_what_came_before_them() {
    let log = log(&[
        item(user("<environment_context>/harbour</environment_context>")),
        item(user("Count the crates.")),
        roll_back(9),
        item(user("Count the barrels.")),
    ]);
    assert_eq!(
        messages(&log),
        [
            user("<environment_context>/harbour</environment_context>"),
            user("Count the barrels."),
        ]
    );
}

// LCX-10, LCX-11
#[test]
fn compaction_is_rolled_back_with_its_turn() {
    let lines = |turns| {
        log(&[
            item(user("Count the crates.")),
            item(answer("Twelve.")),
            item(user("Count the barrels.")),
            line("compacted", json!({"message": "Twelve crates."})),
            item(user("And ropes?")),
            item(answer("Three.")),
            roll_back(turns),
        ])
    };
    let summary = json!({"role": "user", "content": "[Twelve crates.]"});
    assert_eq!(
        messages(&lines(1)),
        [
            user("Count the crates."),
            user("Count the barrels."),
            summary
        ]
    );
    assert_eq!(lines(1).facts.recorded_summaries, 1);
    assert_eq!(
        messages(&lines(2)),
        [user("Count the crates."), answer("Twelve.")]
    );
    assert_eq!(lines(2).facts.recorded_summaries, 0);
}

// RESP-1, RESP-2, RESP-3
#[test]
fn aborted_turn_becomes_valid() {
    let log = log(&[
        item(user("Tie the knot.")),
        item(reasoning()),
        item(call("c1")),
        item(call("c2")),
        item(output("c2")),
        item(output("c2")),
        item(output("lost")),
        item(reasoning()),
        item(user("Stop.")),
        item(reasoning()),
        item(call("c3")),
    ]);
    let kinds: Vec<_> = messages(&log)
        .iter()
        .map(|m| m["call_id"].clone())
        .collect();
    let none = Value::Null;
    assert_eq!(
        kinds,
        [
            none.clone(),
            none.clone(),
            "c1".into(),
            "c2".into(),
            "c2".into(),
            "c1".into(),
            none.clone(),
            none,
            "c3".into()
        ]
    );
    let facts = log.facts;
    assert_eq!(
        (
            facts.completed_calls,
            facts.dropped_results,
            facts.aborted_responses
        ),
        (1, 2, 1)
    );
}

#[test]
fn lines_of_another_kind_are_no_items() {
    let foreign = json!({"type": "bookmark", "role": "user", "content": "here"});
    let wrapped = log(&[
        line("session_meta", json!({"id": "x"})),
        item(user("Count the crates.")),
        foreign.clone(),
        user("This one lost its wrapper."),
        item(answer("Twelve.")),
    ]);
    assert_eq!(
        messages(&wrapped),
        [user("Count the crates."), answer("Twelve.")]
    );
    assert_eq!(wrapped.facts.skipped_lines, 3);
    let bare = log(&[
        user("Count the crates."),
        json!({"type": "bookmark", "at": 1}),
        answer("Twelve."),
    ]);
    assert_eq!(
        messages(&bare),
        [user("Count the crates."), answer("Twelve.")]
    );
}

#[test]
fn sessions_in_one_file_are_counted_and_reasoning_goes_with_its_call() {
    let mut second = reasoning();
    second["encrypted_content"] = json!("gBBBBB=");
    let log = log(&[
        line("session_meta", json!({"id": "x"})),
        item(user("Count the crates.")),
        item(reasoning()),
        item(call("c1")),
        item(output("c1")),
        item(answer("Twelve.")),
        line("session_meta", json!({"id": "y"})),
        item(user("And the barrels?")),
        item(second),
        item(json!({"type": "shell_call", "call_id": "c2"})),
        item(user("Well?")),
        item(reasoning()),
        item(answer("Nine.")),
    ]);
    assert_eq!(log.facts.sessions, 2);
    assert_eq!(
        (log.facts.dropped_calls, log.facts.aborted_responses),
        (1, 1)
    );
    assert_eq!(
        messages(&log)[5..],
        [
            user("And the barrels?"),
            user("Well?"),
            reasoning(),
            answer("Nine.")
        ]
    );
}

// LCX-9: Codex answers its own shell as it answers a function.
#[test]
fn local_shell_calls_get_outputs_that_the_format_takes() {
    let shell = |key: &str, id: &str| json!({"type": "local_shell_call", key: id, "status": "completed", "action": {"type": "exec", "command": ["ls"]}});
    let log = log(&[
        item(user("Count the crates.")),
        item(shell("call_id", "c1")),
        item(output("c1")),
        item(shell("call_id", "c2")),
        item(user("And barrels?")),
        // Older versions recorded the id of the item alone.
        item(shell("id", "lsh_1")),
        item(output("lsh_1")),
        item(answer("Twelve.")),
    ]);
    assert_eq!((log.facts.completed_calls, log.facts.dropped_calls), (1, 0));
    let read = Conversation::of(&log.document, Some(log.format)).expect("reads");
    assert_eq!(read.violations(), []);
    let lengths: Vec<usize> = read.units().iter().map(|unit| unit.messages).collect();
    assert_eq!(lengths, [1, 2, 2, 1, 2, 1]);
}
