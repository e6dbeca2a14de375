//! Ids of calls: unique within one response, and not even there where they are empty (ALL-4).

use serde_json::{Value, json};

use super::{claude_code, codex, gemini_cli, log, messages, pi};
use crate::logs::Log;

const ANTHROPIC: &str = "anthropic-messages";

/// What stands at a pointer in each message that has something there.
fn all(log: &Log, pointer: &str) -> Vec<Value> {
    messages(log)
        .iter()
        .filter_map(|message| message.pointer(pointer).cloned())
        .collect()
}

fn dropped(log: &Log) -> (usize, usize) {
    (log.facts.dropped_calls, log.facts.dropped_results)
}

fn codex_output(id: &str, text: &str) -> Value {
    codex::item(json!({"type": "function_call_output", "call_id": id, "output": text}))
}

fn codex_call(id: &str) -> Value {
    codex::item(codex::call(id))
}

#[test]
fn codex_repeats_an_id_in_a_later_response_only() {
    let log = log(&[
        codex::item(codex::user("Tie the knots.")),
        codex_call("c1"),
        codex_output("c1", "a bowline"),
        codex_call("c1"),
        codex_call("c1"),
        codex_output("c1", "a hitch"),
        codex_output("c1", "nothing left to tie"),
        codex::item(codex::answer("Tied.")),
    ]);
    assert_eq!(all(&log, "/call_id"), ["c1", "c1", "c1", "c1"]);
    assert_eq!(all(&log, "/output"), ["a bowline", "a hitch"]);
    assert_eq!(dropped(&log), (1, 1));
}

#[test]
fn output_in_a_codex_log_answers_the_nearest_call_of_its_id() {
    let log = log(&[
        codex::item(codex::user("Tie the knot.")),
        codex_call("c1"),
        codex::item(codex::user("Stop. Another one.")),
        codex_call("c1"),
        codex_output("c1", "a hitch"),
    ]);
    let outputs = all(&log, "/output");
    assert_eq!((outputs.len(), &outputs[1]), (2, &json!("a hitch")));
    assert_eq!(log.facts.completed_calls, 1);
    // After its call, before what the user said next.
    assert_eq!(messages(&log)[2]["output"], outputs[0]);
}

#[test]
fn calls_with_an_empty_id_in_a_codex_log_get_one_and_pair_by_order() {
    let log = log(&[
        codex::item(codex::user("Tie the knots.")),
        codex_call(""),
        codex_call("call_2"),
        codex_call(""),
        codex_output("", "a bowline"),
        codex_output("call_2", "a hitch"),
        codex_output("", "a splice"),
        codex_call(""),
        codex_output("", "a sheet bend"),
        codex_output("", "of nothing"),
    ]);
    assert_eq!(
        all(&log, "/call_id"),
        [
            "call_1", "call_2", "call_3", "call_1", "call_2", "call_3", "call_4", "call_4"
        ]
    );
    assert_eq!(
        all(&log, "/output"),
        ["a bowline", "a hitch", "a splice", "a sheet bend"]
    );
    assert_eq!(dropped(&log), (0, 1));
}

// RESP-3: what reasoning led to stays after it, however many outputs come late.
#[test]
fn late_outputs_in_a_codex_log_stand_in_front_of_reasoning_in_their_order() {
    let reasoning = |n: usize| {
        codex::item(json!({"type": "reasoning", "summary": [], "encrypted_content": n.to_string()}))
    };
    let log = log(&[
        codex::item(codex::user("Tie the knots.")),
        codex_call("c1"),
        codex_call("c2"),
        reasoning(1),
        reasoning(2),
        codex_output("c2", "a hitch"),
        codex_output("c1", "a bowline"),
        codex::item(codex::answer("Tied.")),
    ]);
    assert_eq!(
        all(&log, "/type"),
        [
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "reasoning",
            "reasoning",
            "message"
        ]
    );
    assert_eq!(all(&log, "/output"), ["a hitch", "a bowline"]);
    assert_eq!(all(&log, "/encrypted_content"), ["1", "2"]);
}

#[test]
fn claude_code_repeats_an_id_in_a_later_response_only() {
    let log = log(&[
        claude_code::user("u1", "", json!("Weigh anchor.")),
        claude_code::calls("a1", "u1", "m1", "t1"),
        claude_code::result("r1", "a1", "t1", "up"),
        claude_code::calls("a2", "r1", "m2", "t1"),
        claude_code::calls("a3", "a2", "m2", "t1"),
        claude_code::result("r2", "a3", "t1", "down"),
        claude_code::result("r3", "r2", "t1", "up again"),
    ]);
    assert_eq!(all(&log, "/content/0/id"), ["t1", "t1"]);
    assert_eq!(all(&log, "/content/0/content"), ["up", "down"]);
    assert_eq!(dropped(&log), (1, 1));
}

#[test]
fn result_in_a_claude_code_log_answers_the_nearest_call_of_its_id() {
    let log = log(&[
        claude_code::user("u1", "", json!("Weigh anchor.")),
        claude_code::calls("a1", "u1", "m1", "t1"),
        claude_code::user("u2", "a1", json!("Stop. Drop it.")),
        claude_code::calls("a2", "u2", "m2", "t1"),
        claude_code::result("r2", "a2", "t1", "down"),
    ]);
    assert_eq!(all(&log, "/content/0/is_error"), [json!(true)]);
    assert_eq!(all(&log, "/content/0/content")[1], "down");
    assert_eq!(log.facts.completed_calls, 1);
}

#[test]
fn calls_with_an_empty_id_in_a_claude_code_log_get_one_and_pair_by_order() {
    let log = log(&[
        claude_code::user("u1", "", json!("Weigh anchor.")),
        claude_code::calls("a1", "u1", "m1", ""),
        claude_code::calls("a2", "a1", "m1", ""),
        claude_code::result("r1", "a1", "", "up"),
        claude_code::result("r2", "a2", "", "fast"),
        claude_code::calls("a3", "r2", "m2", ""),
        claude_code::result("r3", "a3", "", "down"),
    ]);
    assert_eq!(all(&log, "/content/0/id"), ["call_1", "call_3"]);
    assert_eq!(all(&log, "/content/1/id"), ["call_2"]);
    assert_eq!(all(&log, "/content/0/tool_use_id"), ["call_1", "call_3"]);
    assert_eq!(all(&log, "/content/0/content"), ["up", "down"]);
    assert_eq!(all(&log, "/content/1/content"), ["fast"]);
    assert_eq!(dropped(&log), (0, 0));
}

#[test]
fn pi_keeps_an_id_that_comes_again_in_a_later_response() {
    let log = log(&[
        pi::start(),
        pi::user("Weigh all."),
        pi::reply(ANTHROPIC, json!([pi::call("t1"), pi::call("t1")])),
        pi::result("t1", "40 kg"),
        pi::result("t1", "41 kg"),
        pi::reply(ANTHROPIC, json!([pi::call("t1")])),
        pi::user("Well?"),
        pi::reply(ANTHROPIC, json!([pi::call("t1")])),
        pi::result("t1", "42 kg"),
    ]);
    assert_eq!(all(&log, "/content/0/id"), ["t1", "t1", "t1"]);
    assert_eq!(all(&log, "/content/1/id"), ["t1_2"]);
    assert_eq!(all(&log, "/content/0/tool_use_id"), ["t1", "t1", "t1"]);
    assert_eq!(all(&log, "/content/1/content/0/text"), ["41 kg"]);
    // The result belongs to the last call, and the one before it has none.
    let texts = all(&log, "/content/0/content/0/text");
    assert_eq!((&texts[0], &texts[2]), (&json!("40 kg"), &json!("42 kg")));
    assert_eq!((log.facts.completed_calls, dropped(&log)), (1, (0, 0)));
}

#[test]
fn calls_with_an_empty_id_in_a_pi_log_get_one_and_pair_by_order() {
    let log = log(&[
        pi::start(),
        pi::user("Weigh all."),
        pi::reply(ANTHROPIC, json!([pi::call(""), pi::call("")])),
        pi::result("", "40 kg"),
        pi::result("", "41 kg"),
    ]);
    assert_eq!(all(&log, "/content/0/id"), ["call"]);
    assert_eq!(all(&log, "/content/1/id"), ["call_2"]);
    assert_eq!(all(&log, "/content/0/content/0/text"), ["40 kg"]);
    assert_eq!(all(&log, "/content/1/content/0/text"), ["41 kg"]);
    assert_eq!(dropped(&log), (0, 0));
}

#[test]
fn gemini_cli_repeats_an_id_in_a_later_message_only() {
    let booked = |text: &str| {
        gemini_cli::call(
            "c1",
            json!([gemini_cli::response("c1", "output", text)]),
            "success",
        )
    };
    let log = log(&[
        gemini_cli::head(),
        gemini_cli::user("1", "Oslo, and back."),
        gemini_cli::model("2", "", json!([booked("seat 4"), booked("seat 5")])),
        gemini_cli::model("3", "", json!([booked("seat 6")])),
    ]);
    assert_eq!(
        all(&log, "/parts/0/functionResponse/response/output"),
        ["seat 4", "seat 6"]
    );
    assert_eq!(all(&log, "/parts/0/functionCall/id"), ["c1", "c1"]);
    assert_eq!(dropped(&log), (1, 0));
}
