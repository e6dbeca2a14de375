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
use super::rules::Check;
use super::{ProviderLimits, WireFormat};
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
        || raw.get("content").is_some_and(|content| {
            json::objects(content.get(), 0).flatten().any(|part| {
                let part = part.members;
                part.text("type")
                    .is_some_and(|kind| kind.starts_with("input_") || kind == "output_text")
                    // OpenAI Chat has a part of this name.
                    && part.get("input_audio").is_none()
            })
        })
}

impl WireFormat for OpenAiResponses {
    fn message(&self, body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
        read::message(body, raw)
    }

    fn list(&self) -> List {
        List::Input
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
        let instructions = body
            .member("instructions")
            .filter(|raw| json::is_text(raw.get()));
        Envelope {
            texts: instructions
                .map(|raw| body.place(raw))
                .into_iter()
                .collect(),
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

    fn checks(&self) -> &'static [Check] {
        rules::CHECKS
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

    fn limits(&self) -> ProviderLimits {
        ProviderLimits::OPENAI
    }

    fn has_role(&self, role: Role) -> bool {
        matches!(role, Role::System | Role::Developer | Role::User)
    }

    fn text_part(&self, text: &str) -> String {
        format!(r#"{{"type":"input_text","text":{text}}}"#)
    }
}
