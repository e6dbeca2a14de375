//! Conversations that break rules, and the places that `baler` names in them.

use serde_json::{Value, json};

/// A chat with an empty text, which OpenAI's servers answer, and long outputs.
pub(crate) fn chat_with_a_warning() -> Value {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "dig", "arguments": "{}"}});
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find the treasure."},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "only secret sand; ".repeat(200)},
        {"role": "assistant", "content": "Nothing here."},
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "Go on."}]},
    ]})
}

/// A chat with an id that two calls of one response have and an output without a call.
pub(crate) fn broken_chat() -> Value {
    let calls = |ids: &[&str]| {
        let calls = ids.iter().map(|id| json!({"id": id, "type": "function", "function": {"name": "dig", "arguments": "{}"}}));
        json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
    };
    let output = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text.repeat(50)});
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find the treasure."},
        calls(&["c1"]),
        output("c1", "only sand here, and more of it; "),
        output("c9", "a secret map; "),
        calls(&["c1", "c1"]),
        output("c1", "a wooden box; "),
        {"role": "tool", "tool_call_id": "c1", "content": "a key"},
        {"role": "user", "content": "Open it."},
    ]})
}

/// A conversation with a break that can be mended and, behind it, one that cannot.
pub(crate) fn half_mendable() -> String {
    let sealed = json!([{"type": "thinking", "thinking": "secret", "signature": "c2ln"}, {"type": "text", "text": ""}]);
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "Find the treasure."},
        {"role": "user", "content": []},
        {"role": "assistant", "content": sealed},
        {"role": "user", "content": "Open it."},
    ]})
    .to_string()
}

/// The rules that a list of violations or repairs names, with the messages' numbers.
pub(crate) fn places(list: &Value) -> Vec<(&str, u64)> {
    let entries = list.as_array().expect("a list").iter();
    entries
        .map(|entry| {
            let rule = entry["rule"].as_str().expect("a rule");
            (rule, entry["message"].as_u64().expect("a number"))
        })
        .collect()
}

/// What `--repair` repairs in [`broken_chat`]: each rule, with the number of the message.
pub(crate) const REPAIRS: [(&str, u64); 3] = [("CHAT-1", 4), ("ALL-4", 5), ("ALL-4", 7)];
