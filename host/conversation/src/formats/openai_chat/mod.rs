//! OpenAI Chat Completions.
//!
//! Data model and rules: docs/wire-formats.md, section "OpenAI Chat Completions".

pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod write;

use serde_json::{Value, json};

use super::body::{Body, Raw};
use super::openai::{is_openais, tool_definitions};
use super::{Facts, ProviderLimits, WireFormat};
use crate::json;
use crate::model::envelope::Envelope;
use crate::model::message::{Message, Role};

pub(super) struct OpenAiChat;

/// Types of parts that only this format has.
const OWN_PARTS: [&str; 3] = ["image_url", "input_audio", "file"];

/// Signs that only this format has.
pub(super) fn looks_like(body: &Body<'_>) -> bool {
    body.messages.iter().enumerate().any(|(index, raw)| {
        match raw.text("role").as_deref() {
            Some("developer" | "tool" | "function") => true,
            // Newer models of Anthropic's take one in the middle.
            Some("system") => index == 0,
            _ => raw.has("tool_calls") || raw.has("function_call") || has_own_parts(raw),
        }
    })
}

/// Whether a tool of the request is written as no other format writes one.
pub(super) fn has_own_tools(body: &Body<'_>) -> bool {
    body.member("tools").is_some_and(|tools| {
        let mut tools = json::objects(tools.get(), 0).flatten();
        tools.any(|tool| {
            let function = tool.members.get("function");
            function.is_some_and(|function| json::is_object(function.get()))
        })
    })
}

/// Whether its content has a part of a type that no other format has.
fn has_own_parts(raw: &Raw<'_>) -> bool {
    raw.get("content")
        // Most have none, and are not read for it.
        .filter(|content| {
            let raw = content.get();
            let may_have = |own: &&str| raw.contains(own) || raw.contains("\\u");
            json::is_list(raw) && OWN_PARTS.iter().any(may_have)
        })
        .is_some_and(|content| {
            let parts = json::objects(content.get(), 0).flatten();
            let mut kinds = parts.filter_map(|part| part.members.text("type"));
            kinds.any(|kind| OWN_PARTS.contains(&&*kind))
        })
}

const FACTS: &Facts = &Facts {
    inserted: &[Role::System, Role::Developer, Role::User],
    ..Facts::of(read::message, rules::CHECKS, ProviderLimits::OPENAI)
};

impl WireFormat for OpenAiChat {
    fn facts(&self) -> &'static Facts {
        FACTS
    }

    fn unit_length(&self, messages: &[Message]) -> usize {
        if !messages[0].has_calls() {
            return 1;
        }
        let after = messages[1..].iter();
        1 + after.take_while(|own| own.role == Role::Tool).count()
    }

    fn envelope(&self, body: &Body<'_>) -> Envelope {
        let tools = body.member("tools").or_else(|| body.member("functions"));
        Envelope {
            tools: tool_definitions(body, tools),
            tool_list: tools.map(|raw| body.place(raw)),
            is_makers_own: is_openais(&body.text("model")),
            ..Envelope::default()
        }
    }

    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value {
        json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters}
        })
    }
}
