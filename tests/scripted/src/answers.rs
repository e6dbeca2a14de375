//! Answers in the forms of providers.

use axum::http::StatusCode;
use baler_host::Format;
use serde_json::{Value, json};

use crate::check::Usage;
use crate::script::Call;

/// What a provider answers.
#[derive(Debug)]
pub(crate) enum Answer {
    Call {
        call: Call,
        signature: String,
        usage: Usage,
        number: usize,
    },
    Text {
        text: String,
        usage: Usage,
        number: usize,
    },
    TooLong {
        tokens: u32,
        window: u32,
    },
    Error(String),
}

const OUTPUT: u32 = 20;

/// Writes an answer: its status, whether it is a stream of events, and the body.
pub(crate) fn write(
    format: Format,
    answer: &Answer,
    is_stream: bool,
) -> (StatusCode, bool, String) {
    let (number, usage, call, text, signature) = match answer {
        Answer::Call {
            call,
            signature,
            usage,
            number,
        } => (number, *usage, Some(call), "", &**signature),
        Answer::Text {
            text,
            usage,
            number,
        } => (number, *usage, None, &**text, ""),
        Answer::TooLong { tokens, window } => {
            return error(format, true, &too_long(format, *tokens, *window));
        }
        Answer::Error(why) => return error(format, false, why),
    };
    let (whole, events) = match format {
        Format::Anthropic => anthropic(*number, usage, call, text, signature),
        Format::OpenAiResponses => responses(*number, usage, call, text),
        Format::Gemini => gemini(usage, call, text),
        _ => chat(*number, usage, call, text),
    };
    if !is_stream {
        return (StatusCode::OK, false, whole.to_string());
    }
    let mut written = String::new();
    for event in events {
        if let Some(name) = event["type"].as_str() {
            written += &format!("event: {name}\n");
        }
        written += &format!("data: {event}\n\n");
    }
    if format == Format::OpenAiChat {
        written += "data: [DONE]\n\n";
    }
    (StatusCode::OK, true, written)
}

fn too_long(format: Format, tokens: u32, window: u32) -> String {
    match format {
        Format::Anthropic => format!("prompt is too long: {tokens} tokens > {window} maximum"),
        Format::Gemini => format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."),
        Format::OpenAiResponses => "Your input exceeds the context window of this model. Please adjust your input and try again.".to_owned(),
        _ => format!("This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."),
    }
}

fn error(format: Format, is_length: bool, why: &str) -> (StatusCode, bool, String) {
    let code = is_length.then_some("context_length_exceeded");
    let body = match format {
        Format::Anthropic => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": why}})
        }
        Format::Gemini => {
            json!({"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}})
        }
        _ => {
            json!({"error": {"message": why, "type": "invalid_request_error", "param": null, "code": code}})
        }
    };
    (StatusCode::BAD_REQUEST, false, body.to_string())
}

fn anthropic(
    number: usize,
    usage: Usage,
    call: Option<&Call>,
    text: &str,
    signature: &str,
) -> (Value, Vec<Value>) {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": usage.written.saturating_sub(3), "output_tokens": OUTPUT});
    let (blocks, reason) = match call {
        Some(call) => (
            vec![
                json!({"type": "thinking", "thinking": "The next cellar.", "signature": signature}),
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}),
            ],
            "tool_use",
        ),
        None => (vec![json!({"type": "text", "text": text})], "end_turn"),
    };
    let message = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "claude-scripted", "content": blocks, "stop_reason": reason, "stop_sequence": null, "usage": usage});
    let mut begun = message.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": begun})];
    for (index, block) in blocks.iter().enumerate() {
        let mut empty = block.clone();
        let deltas = match block["type"].as_str() {
            Some("thinking") => {
                empty["thinking"] = json!("");
                empty["signature"] = json!("");
                vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ]
            }
            Some("tool_use") => {
                empty["input"] = json!({});
                vec![
                    json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
                ]
            }
            _ => {
                empty["text"] = json!("");
                vec![json!({"type": "text_delta", "text": block["text"]})]
            }
        };
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

fn chat(number: usize, usage: Usage, call: Option<&Call>, text: &str) -> (Value, Vec<Value>) {
    let usage = json!({"prompt_tokens": usage.cached + usage.written, "completion_tokens": OUTPUT, "total_tokens": usage.cached + usage.written + OUTPUT, "prompt_tokens_details": {"cached_tokens": usage.cached}});
    let (message, reason) = match call {
        Some(call) => (
            json!({"role": "assistant", "content": null, "tool_calls": [{"index": 0, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments.to_string()}}]}),
            "tool_calls",
        ),
        None => (json!({"role": "assistant", "content": text}), "stop"),
    };
    let head = |kind: &str| json!({"id": format!("chatcmpl-{number}"), "object": kind, "created": 1, "model": "scripted"});
    let mut whole = head("chat.completion");
    whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    whole["usage"] = usage.clone();
    let mut delta = head("chat.completion.chunk");
    delta["choices"] = json!([{"index": 0, "delta": message, "finish_reason": null}]);
    let mut end = head("chat.completion.chunk");
    end["choices"] = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
    let mut last = head("chat.completion.chunk");
    last["choices"] = json!([]);
    last["usage"] = usage;
    (whole, vec![delta, end, last])
}

fn responses(number: usize, usage: Usage, call: Option<&Call>, text: &str) -> (Value, Vec<Value>) {
    let usage = json!({"input_tokens": usage.cached + usage.written, "input_tokens_details": {"cached_tokens": usage.cached}, "output_tokens": OUTPUT, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage.cached + usage.written + OUTPUT});
    let item = match call {
        Some(call) if call.name == "tool_search" => {
            json!({"type": "tool_search_call", "id": format!("tsc_{number}"), "call_id": call.id, "status": "completed", "execution": "client", "arguments": call.arguments})
        }
        Some(call) => {
            let mut item = json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": call.name, "arguments": call.arguments.to_string(), "status": "completed"});
            // Codex has tools of servers in namespaces.
            if let Some((server, tool)) = call.name.rsplit_once("__") {
                item["namespace"] = json!(server);
                item["name"] = json!(tool);
            }
            item
        }
        None => {
            json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
    };
    let whole = json!({"id": format!("resp_{number}"), "object": "response", "created_at": 1, "status": "completed", "model": "scripted", "output": [item], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": usage});
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let events = vec![
        json!({"type": "response.created", "sequence_number": 0, "response": begun}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item}),
        json!({"type": "response.completed", "sequence_number": 3, "response": whole}),
    ];
    (whole, events)
}

fn gemini(usage: Usage, call: Option<&Call>, text: &str) -> (Value, Vec<Value>) {
    let part = match call {
        Some(call) => {
            json!({"functionCall": {"name": call.name, "args": call.arguments}, "thoughtSignature": "c2lnbmVk"})
        }
        None => json!({"text": text}),
    };
    let whole = json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": usage.cached + usage.written, "cachedContentTokenCount": usage.cached, "candidatesTokenCount": OUTPUT, "totalTokenCount": usage.cached + usage.written + OUTPUT}, "modelVersion": "scripted"});
    (whole.clone(), vec![whole])
}
