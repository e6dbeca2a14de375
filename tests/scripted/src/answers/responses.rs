//! Answers of OpenAI's Responses API.

use serde_json::{Value, json};

use super::{OUTPUT, Said, pieces};
use crate::script::Call;

/// Returns the whole answer, and its events.
pub(super) fn write(said: &Said) -> (Value, Vec<Value>) {
    let input = said.usage.cached + said.usage.written;
    let usage = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": said.usage.cached, "cache_write_tokens": 0}, "output_tokens": OUTPUT, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input + OUTPUT});
    let reasoning = said.thinking.map(|text| json!({"type": "reasoning", "id": format!("rs_{}", said.number), "summary": [{"type": "summary_text", "text": text}], "encrypted_content": said.signature}));
    let calls = said.calls.iter().map(called);
    let mut items: Vec<Value> = reasoning.into_iter().chain(calls).collect();
    if said.calls.is_empty() {
        items.push(json!({"type": "message", "id": format!("msg_{}", said.number), "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": said.text, "annotations": []}]}));
    }
    let whole = json!({"id": format!("resp_{}", said.number), "object": "response", "created_at": 1, "status": "completed", "model": "scripted", "output": items, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": usage});
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in items.iter().enumerate() {
        let (empty, parts) = parts(item);
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": empty}),
        );
        events.extend(parts.into_iter().map(|mut part| {
            part["item_id"] = item["id"].clone();
            part["output_index"] = json!(index);
            part
        }));
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    events.push(json!({"type": "response.completed", "response": whole}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    (whole, events)
}

fn called(call: &Call) -> Value {
    if call.name == "tool_search" {
        return json!({"type": "tool_search_call", "id": format!("tsc_{}", call.id), "call_id": call.id, "status": "completed", "execution": "client", "arguments": call.arguments});
    }
    let mut item = json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": call.name, "arguments": call.arguments.to_string(), "status": "completed"});
    // Codex has tools of servers in namespaces.
    if let Some((server, tool)) = call.name.rsplit_once("__") {
        item["namespace"] = json!(server);
        item["name"] = json!(tool);
    }
    item
}

/// Returns an item as it begins, and the events in which it grows.
fn parts(item: &Value) -> (Value, Vec<Value>) {
    let mut empty = item.clone();
    let grown = match item["type"].as_str() {
        Some("message") => {
            empty["status"] = json!("in_progress");
            empty["content"] = json!([]);
            let part = &item["content"][0];
            let mut begun = part.clone();
            begun["text"] = json!("");
            let place = json!({"content_index": 0, "logprobs": []});
            let mut events = vec![
                json!({"type": "response.content_part.added", "content_index": 0, "part": begun}),
            ];
            events.extend(said("response.output_text", "text", &part["text"], &place));
            events.push(
                json!({"type": "response.content_part.done", "content_index": 0, "part": part}),
            );
            events
        }
        Some("reasoning") => {
            empty["summary"] = json!([]);
            let part = &item["summary"][0];
            let begun = json!({"type": "summary_text", "text": ""});
            let mut events = vec![
                json!({"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": begun}),
            ];
            let place = json!({"summary_index": 0});
            let kind = "response.reasoning_summary_text";
            events.extend(said(kind, "text", &part["text"], &place));
            events.push(json!({"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": part}));
            events
        }
        Some("function_call") => {
            empty["status"] = json!("in_progress");
            empty["arguments"] = json!("");
            let place = json!({"name": item["name"]});
            let kind = "response.function_call_arguments";
            said(kind, "arguments", &item["arguments"], &place)
        }
        _ => Vec::new(),
    };
    (empty, grown)
}

/// Returns the events in which a text grows. `place`: what else all of them have.
fn said(kind: &str, member: &str, text: &Value, place: &Value) -> Vec<Value> {
    let event = |name: &str, member: &str, text: &str| {
        let mut event = place.clone();
        event["type"] = json!(format!("{kind}.{name}"));
        event[member] = json!(text);
        event
    };
    let text = text.as_str().unwrap_or_default();
    let mut events: Vec<Value> = pieces(text)
        .iter()
        .map(|piece| event("delta", "delta", piece))
        .collect();
    events.push(event("done", member, text));
    events
}
