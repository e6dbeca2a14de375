//! What is repaired, how, and what is not.

mod anthropic;
mod bedrock_converse;
mod gemini;
mod openai_chat;
mod openai_responses;
mod random;
mod table;

use baler_generated::broken_at;
use serde_json::{Value, json};

use super::{Draft, Fix, Reading};
use crate::conversation::Conversation;
use crate::conversation::repair_history::RepairHistory;
use crate::deadline::Deadline;
use crate::listed::MAX_LISTED;
use crate::marks::{self, By, Purpose, Site};
use crate::model::format::Format;
use crate::model::read_error::ReadError;
use crate::model::repair::{Repair, RepairCounts, Repairs, RuleRepairs};
use crate::model::rule::{Rule, Violation};

fn read(format: Format, document: &str) -> Conversation {
    Conversation::of(document, Some(format)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// Repairs `document` and compares the result with `expected`, in which `NOTE` stands for the
/// host's own note. Returns the rule and the message of each repair.
fn repair(format: Format, document: &Value, expected: &Value) -> Vec<(&'static str, usize)> {
    let before = read(format, &document.to_string());
    let after = before.repaired();
    let notes = before.key();
    let expected = [
        (super::answers::NONE_RECORDED, "NOTE", Site::Output("")),
        (super::answers::NOBODY_SPOKE, "OPENING", Site::User),
        (super::answers::NOBODY_ANSWERED, "ANSWER", Site::Assistant),
        (super::answers::NO_TEXT, "BESIDE", Site::User),
    ]
    .into_iter()
    .fold(expected.to_string(), |text, (note, short, site)| {
        let marked = marks::wrap(notes, Purpose::Note, site, By::Host, note);
        text.replace(&format!("\"{short}\""), &json!(marked).to_string())
    });
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("is JSON");
    assert_eq!(parse(after.document()), parse(&expected), "{document}");
    after
        .repairs()
        .iter()
        .map(|Repair { rule, message, .. }| (rule.id(), *message))
        .collect()
}

/// Calls in a long conversation.
const LONG: usize = 1_000;

fn hello() -> Value {
    json!({"role": "user", "content": "Fix the leap year bug."})
}

/// An output of OpenAI Chat without a call.
fn orphan(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

#[test]
fn repair_is_written_with_the_id_of_its_rule() {
    let document = json!([hello(), {"role": "assistant", "content": "Done.", "tool_calls": []}]);
    let after = read(Format::OpenAiChat, &document.to_string()).repaired();
    assert_eq!(
        serde_json::to_value(after.repairs()).expect("serializes"),
        json!([{"rule": "CHAT-3", "message": 2, "what": "an empty `tool_calls` was removed"}])
    );
    assert_eq!(
        after.repairs()[0].to_string(),
        "message 2: an empty `tool_calls` was removed (CHAT-3)"
    );
}

#[test]
fn repair_covers_appended_messages_and_keeps_their_numbers() {
    let mut conversation = read(
        Format::OpenAiChat,
        &json!([orphan("a"), hello()]).to_string(),
    );
    for message in [orphan("b"), hello(), orphan("c")] {
        conversation = conversation.repaired();
        conversation.append(&message.to_string()).expect("reads");
    }
    assert_eq!(conversation.unrepaired()[0].message, 5);
    let after = conversation.repaired();
    assert_eq!(after.document(), json!([hello(), hello()]).to_string());
    let numbers: Vec<usize> = after.repairs().iter().map(|own| own.message).collect();
    assert_eq!(numbers, [1, 3, 5]);
    let replaced: Vec<_> = after.replaced().collect();
    let [a, b, c] = ["a", "b", "c"].map(|id| orphan(id).to_string());
    assert_eq!(replaced, [(1, a.as_str()), (3, &b), (5, &c)]);
}

#[test]
fn what_is_left_has_the_numbers_that_came_in() {
    let sealed = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "a", "signature": "c2ln"}, {"type": "text", "text": " "}]});
    let gone = json!({"role": "user", "content": []});
    let document = json!([hello(), gone, sealed, hello()]).to_string();
    let after = read(Format::Anthropic, &document).repaired();
    let numbers = |found: &[Violation]| found.iter().map(|own| own.message).collect::<Vec<_>>();
    assert_eq!(numbers(after.violations()), [2]);
    assert_eq!(numbers(&after.unrepaired()), [3]);
}

#[test]
fn request_that_goes_on_from_a_stored_one_is_not_touched() {
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "ok"});
    let empty = json!({"role": "user", "content": []});
    let document = json!({"previous_response_id": "r", "input": [output, empty, hello()]});
    let before = read(Format::OpenAiResponses, &document.to_string());
    assert!(!before.violations().is_empty());
    assert_eq!(before.repaired().document(), before.document());
}

#[test]
fn what_the_provider_has_seen_ends_at_the_first_change() {
    let document = json!([hello(), orphan("a"), hello()]).to_string();
    let mut conversation = read(Format::OpenAiChat, &document);
    conversation.mark_sent();
    let after = conversation.repaired();
    assert_eq!(after.units().len(), 2);
    assert_eq!(after.units_sent(), Some(1));
}

/// A call and its output in the words of a format. Every pair has the same id, which is legal, and
/// every third output is not there, which is not.
fn pair(format: Format, number: usize) -> Vec<Value> {
    let (call, output) = match format {
        Format::OpenAiChat => (
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": {"n": number}}}]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "ok"}),
        ),
        Format::OpenAiResponses => (
            json!({"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": "a", "output": "ok"}),
        ),
        Format::Anthropic => (
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]}),
        ),
        Format::Gemini => (
            json!({"role": "model", "parts": [{"functionCall": {"name": "read", "id": "a", "args": {}}}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": "read", "id": "a", "response": {}}}]}),
        ),
        Format::BedrockConverse => (
            json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "read", "input": {}}}]}),
            json!({"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "ok"}]}}]}),
        ),
    };
    if number.is_multiple_of(3) {
        return vec![call];
    }
    vec![call, output]
}

#[test]
fn long_conversation_with_every_other_message_broken_is_repaired() {
    for format in Format::ALL.iter().copied() {
        let first = match format {
            Format::Gemini => json!({"role": "user", "parts": [{"text": "Fix it."}]}),
            Format::BedrockConverse => json!({"role": "user", "content": [{"text": "Fix it."}]}),
            _ => hello(),
        };
        let pairs = (0..LONG).flat_map(|number| pair(format, number));
        let messages: Vec<Value> = std::iter::once(first).chain(pairs).collect();
        let before = read(format, &Value::from(messages).to_string());
        let after = before.repaired();
        let rules: Vec<&str> = after.violations().iter().map(|own| own.rule.id()).collect();
        assert!(rules.is_empty(), "{format}: {rules:?}");
        let repairs = after.repairs().len();
        assert!(repairs >= LONG / 3, "{format}: {repairs}");
    }
}

#[test]
fn of_many_repairs_the_first_are_listed_and_all_are_done_and_counted() {
    const MANY: usize = 100_000;
    let document = broken_at(MANY);
    let after = read(Format::Gemini, &document).repaired();
    assert_eq!(after.document(), broken_at(0));
    let listed = after.repairs().iter().map(|own| own.message);
    assert!(listed.eq(2..2 + MAX_LISTED));
    let of_rule = RuleRepairs {
        rule: Rule::Gem5,
        repairs: MANY,
    };
    let counts = RepairCounts {
        total: MANY,
        rules: vec![of_rule],
    };
    assert_eq!(after.repair_counts(), counts);
    assert_eq!(after.replaced_count(), MANY);
    let replaced = (2..2 + MANY).map(|number| (number, "{}"));
    assert!(after.replaced().eq(replaced));
    // What is repaired later adds to that.
    let mut again = after;
    again.append("{}").expect("reads");
    let again = again.repaired();
    assert_eq!(again.repair_counts().total, MANY + 1);
    assert_eq!(again.repairs().len(), MAX_LISTED);
    assert_eq!(again.replaced().last(), Some((MANY + 3, "{}")));
}

thread_local! {
    static DEADLINE: Deadline = Deadline::never();
}

/// A fix that leaves all messages out, and runs out of time at the first.
fn leave_all_out(reading: &Reading, draft: &mut Draft<'_>) {
    let mut seen = 0;
    for (index, _) in reading.each() {
        draft.leave_out(index, "left out");
        DEADLINE.with(Deadline::stop);
        seen += 1;
    }
    assert!((1..100).contains(&seen), "{seen}");
    assert_eq!(reading.units().count(), 0);
    assert_eq!(reading.pairs().count(), 0);
}

#[test]
fn fix_that_runs_out_of_time_is_discarded() {
    let mut messages = vec![hello(); LONG];
    messages.push(orphan("a"));
    let document = Value::from(messages).to_string();
    let conversation = read(Format::OpenAiChat, &document);
    let deadline = DEADLINE.with(Clone::clone);
    let reading = || Reading::of(&conversation, &deadline);
    let fixes: [Fix; 1] = [(Rule::Chat1, leave_all_out)];
    let before = reading().expect("reads");
    let history = RepairHistory::of(&conversation, before.numbered(), Repairs::default());
    assert!(super::run_fixes(before, &fixes, &deadline).is_none());
    assert!(matches!(reading(), Err(ReadError::OutOfTime)));
    let repaired = conversation.read_repaired(document, history, &deadline);
    assert!(matches!(repaired, Err(ReadError::OutOfTime)));
    assert!(conversation.repaired_within(&deadline).is_none());
}
