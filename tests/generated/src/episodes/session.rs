//! Writes the events of a session as the body of a request.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Kind;

/// What happens in a session.
#[derive(Debug, Clone)]
pub(super) enum Event {
    User(String),
    Assistant(String),
    Call {
        tool: String,
        arguments: Value,
        output: String,
        failed: bool,
    },
}

impl Event {
    fn tool(&self) -> Option<&str> {
        match self {
            Self::Call { tool, .. } => Some(tool),
            Self::User(_) | Self::Assistant(_) => None,
        }
    }
}

const SYSTEM: &str =
    "You are an agent with tools. Do what the user asks, carefully, and say what you did.";

/// Returns the body. A model ends its turn with words before the user speaks again.
pub(super) fn body(kind: Kind, events: &[Event]) -> Value {
    let mut whole = Vec::new();
    for event in events {
        let follows_call = matches!(whole.last(), Some(Event::Call { .. }));
        if matches!(event, Event::User(_)) && follows_call {
            whole.push(Event::Assistant("That is it for this part.".to_owned()));
        }
        whole.push(event.clone());
    }
    let mut messages = Vec::new();
    for (number, event) in whole.iter().enumerate() {
        write(kind, number, event, &mut messages);
    }
    match kind {
        Kind::OpenAiChat => {
            messages.insert(0, json!({"role": "system", "content": SYSTEM}));
            json!({"model": "gpt-4o", "messages": messages})
        }
        Kind::OpenAiResponses => {
            json!({"model": "gpt-4.1", "instructions": SYSTEM, "input": messages})
        }
        Kind::Anthropic => {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 8_000, "system": SYSTEM, "messages": merged(messages, "content")})
        }
        Kind::Gemini => {
            json!({"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": merged(messages, "parts")})
        }
        Kind::BedrockConverse => {
            let called: BTreeSet<&str> = whole.iter().filter_map(Event::tool).collect();
            let tools: Vec<Value> = called
                .into_iter()
                .map(|tool| json!({"toolSpec": {"name": tool, "inputSchema": {"json": {"type": "object"}}}}))
                .collect();
            json!({"modelId": "amazon.nova-pro-v1:0", "system": [{"text": SYSTEM}], "toolConfig": {"tools": tools}, "messages": merged(messages, "content")})
        }
    }
}

/// Joins neighbouring messages of one role, as these formats have them.
fn merged(messages: Vec<Value>, list: &str) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for message in messages {
        match merged.last_mut() {
            Some(last) if last["role"] == message["role"] => {
                if let (Some(all), Some(more)) =
                    (last[list].as_array_mut(), message[list].as_array())
                {
                    all.extend(more.iter().cloned());
                }
            }
            _ => merged.push(message),
        }
    }
    merged
}

fn write(kind: Kind, number: usize, event: &Event, messages: &mut Vec<Value>) {
    let id = format!("call_{number:05}");
    match (kind, event) {
        (Kind::OpenAiChat | Kind::OpenAiResponses, Event::User(text)) => {
            messages.push(json!({"role": "user", "content": text}))
        }
        (Kind::OpenAiChat | Kind::OpenAiResponses, Event::Assistant(text)) => {
            messages.push(json!({"role": "assistant", "content": text}))
        }
        (
            Kind::OpenAiChat,
            Event::Call {
                tool,
                arguments,
                output,
                ..
            },
        ) => {
            let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}});
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        }
        (
            Kind::OpenAiResponses,
            Event::Call {
                tool,
                arguments,
                output,
                ..
            },
        ) => {
            messages.push(json!({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments.to_string()}));
            messages.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
        }
        (Kind::Anthropic, Event::User(text)) => {
            messages.push(json!({"role": "user", "content": [{"type": "text", "text": text}]}))
        }
        (Kind::Anthropic, Event::Assistant(text)) => {
            messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": text}]}))
        }
        (
            Kind::Anthropic,
            Event::Call {
                tool,
                arguments,
                output,
                failed,
            },
        ) => {
            messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": arguments}]}));
            messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]}));
        }
        (Kind::Gemini, Event::User(text)) => {
            messages.push(json!({"role": "user", "parts": [{"text": text}]}))
        }
        (Kind::Gemini, Event::Assistant(text)) => {
            messages.push(json!({"role": "model", "parts": [{"text": text}]}))
        }
        (
            Kind::Gemini,
            Event::Call {
                tool,
                arguments,
                output,
                failed,
            },
        ) => {
            let key = if *failed { "error" } else { "output" };
            messages.push(json!({"role": "model", "parts": [{"functionCall": {"name": tool, "args": arguments}}]}));
            messages.push(json!({"role": "user", "parts": [{"functionResponse": {"name": tool, "response": {key: output}}}]}));
        }
        (Kind::BedrockConverse, Event::User(text)) => {
            messages.push(json!({"role": "user", "content": [{"text": text}]}))
        }
        (Kind::BedrockConverse, Event::Assistant(text)) => {
            messages.push(json!({"role": "assistant", "content": [{"text": text}]}))
        }
        (
            Kind::BedrockConverse,
            Event::Call {
                tool,
                arguments,
                output,
                failed,
            },
        ) => {
            let status = if *failed { "error" } else { "success" };
            messages.push(json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": id, "name": tool, "input": arguments}}]}));
            messages.push(json!({"role": "user", "content": [{"toolResult": {"toolUseId": id, "content": [{"text": output}], "status": status}}]}));
        }
    }
}
