//! Sessions by what happens in them, in any wire format.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Kind;

/// What happens in a session.
#[derive(Debug, Clone)]
pub enum Event {
    /// The user says something.
    User(String),
    /// The model says something.
    Assistant(String),
    /// The model calls a tool, and gets its output.
    Call {
        /// Name of the tool.
        tool: String,
        /// The arguments, an object.
        arguments: Value,
        /// What the tool returns.
        output: String,
        /// Whether the call failed.
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

/// Returns the body of the request that continues a session. A model ends its turn with words before the user speaks again.
#[must_use]
pub fn body(kind: Kind, events: &[Event]) -> Value {
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
    match kind {
        Kind::OpenAiChat | Kind::OpenAiResponses => write_items(kind, &id, event, messages),
        Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => {
            let (list, model) = match kind {
                Kind::Gemini => ("parts", "model"),
                _ => ("content", "assistant"),
            };
            let mut add =
                |role: &str, block: Value| messages.push(json!({"role": role, list: [block]}));
            let text = |text: &str| match kind {
                Kind::Anthropic => json!({"type": "text", "text": text}),
                _ => json!({"text": text}),
            };
            match event {
                Event::User(said) => add("user", text(said)),
                Event::Assistant(said) => add(model, text(said)),
                Event::Call {
                    tool,
                    arguments,
                    output,
                    failed,
                } => {
                    let [call, output] = blocks(kind, &id, (tool, arguments), (output, *failed));
                    add(model, call);
                    add("user", output);
                }
            }
        }
    }
}

/// Adds the messages of OpenAI's formats.
fn write_items(kind: Kind, id: &str, event: &Event, messages: &mut Vec<Value>) {
    let (tool, arguments, output) = match event {
        Event::User(text) => return messages.push(json!({"role": "user", "content": text})),
        Event::Assistant(text) => {
            return messages.push(json!({"role": "assistant", "content": text}));
        }
        Event::Call {
            tool,
            arguments,
            output,
            ..
        } => (tool, arguments.to_string(), output),
    };
    messages.extend(match kind {
        Kind::OpenAiChat => {
            let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}});
            [
                json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": id, "content": output}),
            ]
        }
        _ => [
            json!({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments}),
            json!({"type": "function_call_output", "call_id": id, "output": output}),
        ],
    });
}

/// Returns the block of a call and that of its output.
fn blocks(
    kind: Kind,
    id: &str,
    (tool, arguments): (&str, &Value),
    (output, failed): (&str, bool),
) -> [Value; 2] {
    match kind {
        Kind::Gemini => {
            let key = if failed { "error" } else { "output" };
            [
                json!({"functionCall": {"name": tool, "args": arguments}}),
                json!({"functionResponse": {"name": tool, "response": {key: output}}}),
            ]
        }
        Kind::BedrockConverse => {
            let status = if failed { "error" } else { "success" };
            [
                json!({"toolUse": {"toolUseId": id, "name": tool, "input": arguments}}),
                json!({"toolResult": {"toolUseId": id, "content": [{"text": output}], "status": status}}),
            ]
        }
        _ => [
            json!({"type": "tool_use", "id": id, "name": tool, "input": arguments}),
            json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}),
        ],
    }
}
