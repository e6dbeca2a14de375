//! Answers of Anthropic's Messages API.

use serde_json::{Value, json};

use super::{OUTPUT, Said, pieces};

/// Returns the whole answer, and its events.
pub(super) fn write(said: &Said) -> (Value, Vec<Value>) {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": said.usage.cached, "cache_creation_input_tokens": said.usage.written.saturating_sub(3), "output_tokens": OUTPUT});
    let thinking = said
        .thinking
        .map(|text| json!({"type": "thinking", "thinking": text, "signature": said.signature}));
    let calls = said.calls.iter().map(
        |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}),
    );
    let mut blocks: Vec<Value> = thinking.into_iter().chain(calls).collect();
    let mut reason = "tool_use";
    if said.calls.is_empty() {
        blocks.push(json!({"type": "text", "text": said.text}));
        reason = "end_turn";
    }
    let message = json!({"id": format!("msg_{}", said.number), "type": "message", "role": "assistant", "model": "claude-scripted", "content": blocks, "stop_reason": reason, "stop_sequence": null, "usage": usage});
    let mut begun = message.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut events = vec![
        json!({"type": "message_start", "message": begun}),
        json!({"type": "ping"}),
    ];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, deltas) = parts(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": OUTPUT}}));
    events.push(json!({"type": "message_stop"}));
    (message, events)
}

/// Returns a block as it begins, and what is added to it.
fn parts(block: &Value) -> (Value, Vec<Value>) {
    let cut = |text: &str, kind: &str, member: &str| -> Vec<Value> {
        let delta = |piece| json!({"type": kind, member: piece});
        pieces(text).into_iter().map(delta).collect()
    };
    let text = |member: &str| block[member].as_str().unwrap_or_default();
    let mut empty = block.clone();
    let deltas = match block["type"].as_str() {
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            let mut deltas = cut(text("thinking"), "thinking_delta", "thinking");
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            deltas
        }
        Some("tool_use") => {
            empty["input"] = json!({});
            cut(
                &block["input"].to_string(),
                "input_json_delta",
                "partial_json",
            )
        }
        _ => {
            empty["text"] = json!("");
            cut(text("text"), "text_delta", "text")
        }
    };
    (empty, deltas)
}
