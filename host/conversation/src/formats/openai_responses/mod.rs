//! OpenAI Responses.
//!
//! Data model and rules: docs/wire-formats.md, section "OpenAI Responses". What other formats
//! call a message is an item here: a message of somebody's, reasoning, a call, an output.

pub(crate) mod answers;
pub(crate) mod item;
pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod units;
pub(crate) mod write;

use serde_json::{Value, json};

use super::body::{Body, List, Raw};
use super::openai::{is_openais, tool_definitions};
use super::{Facts, ProviderLimits, WireFormat};
use crate::json;
use crate::model::envelope::Envelope;
use crate::model::message::{Message, Role};
use crate::model::unit::Unit;
pub(crate) use answers::Asked;

pub(super) struct OpenAiResponses;

/// Whether an element of a list is an item that only this format has.
pub(super) fn is_item(raw: &Raw<'_>) -> bool {
    let kind = raw.text("type").unwrap_or_default();
    item::is_known(&kind)
        || raw.members.as_ref().is_some_and(read::is_untyped_reference)
        || raw.blocks().any(|part| {
            let kind = part.string("type");
            let is_own = kind.starts_with("input_") || kind == "output_text";
            // OpenAI Chat has a part of this name.
            is_own && part.get("input_audio").is_none()
        })
}

const FACTS: &Facts = &Facts {
    list: List::Input,
    inserted: &[Role::System, Role::Developer, Role::User],
    ..Facts::of(read::message, rules::CHECKS, ProviderLimits::OPENAI)
};

impl WireFormat for OpenAiResponses {
    fn facts(&self) -> &'static Facts {
        FACTS
    }

    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize> {
        units::lengths(messages)
    }

    fn reopens(
        &self,
        messages: &[Message],
        units: &[Unit],
        next: &Message,
        asked: &mut Asked,
    ) -> usize {
        units::reopens(messages, units, next, asked)
    }

    fn envelope(&self, body: &Body<'_>) -> Envelope {
        let tools = body.member("tools");
        let instructions = body.member("instructions");
        let instructions = instructions.filter(|raw| json::is_text(raw.get()));
        Envelope {
            texts: Vec::from_iter(instructions.map(|raw| body.place(raw))),
            tools: tool_definitions(body, tools),
            tool_list: tools.map(|raw| body.place(raw)),
            is_makers_own: is_openais(&body.text("model")),
            stateless: body.member("store").is_some_and(|raw| raw.get() == "false"),
            continues: ["previous_response_id", "conversation"]
                .iter()
                .any(|key| body.member(key).is_some()),
            ..Envelope::default()
        }
    }

    fn instructions(&self, text: &str) -> Option<String> {
        Some(format!(r#""instructions":{text}"#))
    }

    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value {
        json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": false
        })
    }

    fn text_part(&self, text: &str) -> String {
        format!(r#"{{"type":"input_text","text":{text}}}"#)
    }
}
