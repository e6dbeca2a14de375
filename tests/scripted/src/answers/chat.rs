//! Answers of OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::{OUTPUT, Said, pieces};

/// Returns the whole answer, and its events.
pub(super) fn write(said: &Said) -> (Value, Vec<Value>) {
    let input = said.usage.cached + said.usage.written;
    let usage = json!({"prompt_tokens": input, "completion_tokens": OUTPUT, "total_tokens": input + OUTPUT, "prompt_tokens_details": {"cached_tokens": said.usage.cached}});
    let head = |kind: &str| json!({"id": format!("chatcmpl-{}", said.number), "object": kind, "created": 1, "model": "scripted"});
    let chunk = |delta: Value, reason: Option<&str>| {
        let mut chunk = head("chat.completion.chunk");
        chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        chunk
    };
    let mut deltas = vec![json!({"role": "assistant", "content": null})];
    let mut message = json!({"role": "assistant", "content": null});
    let reason = if said.calls.is_empty() {
        message["content"] = json!(said.text);
        deltas.extend(
            pieces(&said.text)
                .into_iter()
                .map(|piece| json!({"content": piece})),
        );
        "stop"
    } else {
        let call = |(index, id, name, arguments): (usize, &str, &str, &str)| json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        let mut calls = Vec::new();
        for (index, said) in said.calls.iter().enumerate() {
            let arguments = said.arguments.to_string();
            let begun = call((index, &said.id, &said.name, ""));
            deltas.push(json!({"tool_calls": [begun]}));
            let more =
                |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]});
            deltas.extend(pieces(&arguments).into_iter().map(more));
            calls.push(call((index, &said.id, &said.name, &arguments)));
        }
        message["tool_calls"] = json!(calls);
        "tool_calls"
    };
    let mut whole = head("chat.completion");
    whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    whole["usage"] = usage.clone();
    let mut events: Vec<Value> = deltas.into_iter().map(|delta| chunk(delta, None)).collect();
    events.push(chunk(json!({}), Some(reason)));
    let mut last = head("chat.completion.chunk");
    last["choices"] = json!([]);
    last["usage"] = usage;
    events.push(last);
    (whole, events)
}
