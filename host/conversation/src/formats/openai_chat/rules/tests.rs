//! The rules of OpenAI Chat, each with a conversation that breaks it alone and one that keeps it.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::formats::rules::tests::{Case, error, hello, warning};
use crate::model::format::Format::OpenAiChat;
use crate::model::rule::{Rule, Severity};

/// The cases of all rules that OpenAI Chat checks.
pub(crate) fn cases() -> Vec<Case> {
    [
        shared(),
        calls_and_outputs(),
        contents(),
        call_members(),
        older_calls(),
    ]
    .concat()
}

fn shared() -> Vec<Case> {
    vec![
        warning("ALL-1", [0])
            .broken(json!([system()]))
            .valid(json!([system(), hello()])),
        error("ALL-1", [0])
            .broken(json!([]))
            .valid(json!([hello()])),
        error("ALL-4", [2])
            .broken(json!([
                hello(),
                calls(&["a", "a"]),
                answer("a"),
                answer("a")
            ]))
            .valid(json!([
                hello(),
                calls(&["a"]),
                answer("a"),
                calls(&["a"]),
                answer("a")
            ])),
        error("ALL-4", [4])
            .broken(json!([hello(), calls(&["a"]), answer("a"), answer("a")]))
            .valid(json!([
                hello(),
                calls(&["a", "b"]),
                answer("b"),
                answer("a")
            ])),
        warning("ALL-6", [1])
            .broken(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}]))
            .valid(json!([{"role": "user", "content": ""}])),
        warning("ALL-6", [1])
            .broken(json!([{"role": "user", "content": []}]))
            .valid(json!([hello()])),
        error("ALL-8", [0])
            .broken(json!([{"role": "user", "content": vec![picture_url(); 1_501]}]))
            .valid(json!([{"role": "user", "content": vec![picture_url(); 1_500]}])),
    ]
}

fn calls_and_outputs() -> Vec<Case> {
    vec![
        error("CHAT-1", [2])
            .broken(json!([hello(), answer("a")]))
            .valid(json!([hello(), calls(&["a"]), answer("a")])),
        error("CHAT-1", [4])
            .broken(json!([hello(), calls(&["a"]), answer("a"), {"role": "tool", "content": "ok"}]))
            .valid(json!([hello(), calls(&["a"]), answer("a"), hello()])),
        warning("CHAT-1", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "tool", "content": "ok"}]))
            .valid(json!([hello(), calls(&["a"]), answer("a")])),
        warning("CHAT-1", [3])
            // It comes after the call, whatever it calls the tool.
            .broken(json!([hello(), calls(&["a"]), {"role": "tool", "name": "files__read", "content": "ok"}]))
            .valid(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "name": "files__read", "content": "ok"}])),
        error("CHAT-2", [2])
            .broken(json!([hello(), calls(&["a", "b"]), answer("a"), hello()]))
            // Pending at the end.
            .valid(json!([hello(), calls(&["a", "b"]), answer("a")])),
    ]
}

fn contents() -> Vec<Case> {
    vec![
        error("CHAT-3", [2])
            .broken(json!([hello(), {"role": "assistant", "content": null}]))
            .valid(json!([hello(), {"role": "assistant", "content": null, "refusal": "No."}])),
        error("CHAT-3", [2])
            .broken(json!([hello(), {"role": "assistant", "content": "Done.", "tool_calls": []}]))
            .valid(json!([hello(), {"role": "assistant", "content": ""}])),
        error("CHAT-3", [1])
            .broken(json!([{"role": "user"}]))
            .valid(json!([hello()])),
        error("CHAT-3", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": null}]))
            .valid(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": ""}])),
        warning("CHAT-3", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": []}]))
            // The older role takes null.
            .valid(json!([hello(), old_call(), {"role": "function", "name": "read", "content": null}])),
        error("CHAT-3", [2])
            .broken(json!([hello(), {"role": "assistant", "reasoning_content": "Leap years."}]))
            .valid(json!([hello(), {"role": "assistant", "reasoning_content": "Leap years.", "content": "Done."}])),
        error("CHAT-3", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": {"exit": 0}}]))
            .valid(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": "{\"exit\":0}"}])),
        error("CHAT-3", [3])
            .broken(json!([hello(), old_call(), {"role": "function", "name": "read", "content": true}]))
            .valid(json!([hello(), old_call(), {"role": "function", "name": "read", "content": "true"}])),
        warning("CHAT-3", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": ["ok"]}]))
            .valid(json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "ok"}]}])),
    ]
}

fn call_members() -> Vec<Case> {
    vec![
        error("CHAT-4", [2])
            .broken(json!([hello(), call_with_object(), answer("a")]))
            .valid(json!([hello(), calls(&["a"]), answer("a")])),
        warning("CHAT-4", [2])
            .broken(json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "read", "arguments": "{}"}}]}]))
            .valid(json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "read", "input": ""}}]}])),
        error("CHAT-4", [2])
            .broken(json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read"}}]}]))
            .valid(json!([hello(), calls(&["a"])])),
        error("CHAT-4", [2])
            .broken(json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]}]))
            .valid(json!([hello(), calls(&["a"])])),
        warning("CHAT-4", [2])
            .broken(json!([hello(), call_without_id()]))
            .valid(json!([hello(), calls(&["a"])])),
    ]
}

fn older_calls() -> Vec<Case> {
    vec![
        warning("CHAT-5", [2])
            .broken(json!([hello(), old_call(), hello()]))
            .valid(json!([hello(), old_call(), old_answer(), hello()])),
        warning("CHAT-5", [2])
            .broken(json!([hello(), old_answer()]))
            .valid(json!([hello(), old_call()])),
    ]
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

/// An answer of the model with calls of these ids.
fn calls(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn answer(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

fn old_call() -> Value {
    json!({"role": "assistant", "content": null, "function_call": {"name": "read", "arguments": "{}"}})
}

fn old_answer() -> Value {
    json!({"role": "function", "name": "read", "content": "ok"})
}

fn system() -> Value {
    json!({"role": "system", "content": "Be brief."})
}

fn call_with_object() -> Value {
    let function = json!({"name": "read", "arguments": {}});
    json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]})
}

fn call_without_id() -> Value {
    let function = json!({"name": "read", "arguments": "{}"});
    json!({"role": "assistant", "content": null, "tool_calls": [{"type": "function", "function": function}]})
}

fn picture_url() -> Value {
    json!({"type": "image_url", "image_url": {"url": "https://example.org/plan.png"}})
}

/// CHAT-3: vLLM puts an empty list into answers without calls, and takes it back.
#[test]
fn empty_tool_calls_are_an_error_only_for_models_of_openai() {
    let says = json!({"role": "assistant", "content": "Done.", "tool_calls": []});
    for (model, expected) in [
        ("", Severity::Error),
        ("gpt-5", Severity::Error),
        ("openai/o4-mini", Severity::Error),
        ("openai/gpt-oss-20b", Severity::Warning),
        ("Qwen/Qwen3-32B", Severity::Warning),
    ] {
        let body = json!({"model": model, "messages": [hello(), says, hello()]});
        let conversation = Conversation::of(&body.to_string(), Some(OpenAiChat)).expect("reads");
        let found = conversation.violations().iter();
        let found: Vec<_> = found.map(|own| (own.rule, own.severity)).collect();
        assert_eq!(found, [(Rule::Chat3, expected)], "{model}");
    }
}

/// CHAT-4: there are APIs that name no type of a function, and none that take another type for it.
#[test]
fn call_without_type_is_an_error_unless_it_calls_a_function() {
    let function = json!({"name": "read", "arguments": "{}"});
    let custom = json!({"name": "read", "input": ""});
    for (call, expected) in [
        (json!({"id": "a", "function": function}), Severity::Warning),
        (json!({"id": "a", "custom": custom}), Severity::Error),
        (
            json!({"id": "a", "type": 1, "function": function}),
            Severity::Error,
        ),
        (
            json!({"id": "a", "type": null, "function": function}),
            Severity::Error,
        ),
    ] {
        let messages = json!([hello(), {"role": "assistant", "tool_calls": [call]}]);
        let conversation = Conversation::of(&messages.to_string(), Some(OpenAiChat));
        let conversation = conversation.expect("reads");
        let found = conversation.violations().iter();
        let found: Vec<_> = found.map(|own| (own.rule, own.severity)).collect();
        assert_eq!(found, [(Rule::Chat4, expected)], "{messages}");
    }
}
