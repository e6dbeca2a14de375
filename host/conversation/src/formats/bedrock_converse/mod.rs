//! Bedrock Converse.
//!
//! Data model and rules: docs/wire-formats.md, section "Rules".

pub(crate) mod read;
pub(crate) mod rules;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::anthropic::binding;
use super::body::{Body, List, Raw};
use super::rules::Check;
use super::{Asked, ProviderLimits, WireFormat};
use crate::json::{self, Members};
use crate::model::envelope::{Envelope, ToolDefinition};
use crate::model::message::{Message, Role};
use crate::model::unit::Unit;
use read::CACHE_POINT;

pub(super) struct BedrockConverse;

/// Members of a request that only this format has.
const OWN_MEMBERS: [&str; 5] = [
    "toolConfig",
    "inferenceConfig",
    "additionalModelRequestFields",
    "guardrailConfig",
    "modelId",
];

/// Members of which a block has one, in this format alone. Blocks of other formats have a `type`.
const OWN_BLOCKS: [&str; 11] = [
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "image",
    "document",
    "video",
    "audio",
    "guardContent",
    CACHE_POINT,
    "citationsContent",
];

/// Signs that only this format has.
pub(super) fn looks_like(body: &Body<'_>) -> bool {
    OWN_MEMBERS.iter().any(|key| body.member(key).is_some())
        || body.messages.iter().any(has_own_blocks)
}

fn has_own_blocks(raw: &Raw<'_>) -> bool {
    let content = raw.get("content").filter(|raw| json::is_list(raw.get()));
    // Of other formats the first block tells as much as all.
    let first = content.and_then(|content| json::objects(content.get(), 0).next()?.ok());
    first.is_some_and(|block| {
        let block = block.members;
        block.get("type").is_none() && OWN_BLOCKS.iter().any(|key| block.get(key).is_some())
    })
}

impl WireFormat for BedrockConverse {
    fn message(&self, body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
        read::message(body, raw)
    }

    /// Its URL does.
    fn names_model(&self) -> bool {
        false
    }

    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut rest = messages;
        while let Some((first, after)) = rest.split_first() {
            let is_answered = first.calls().next().is_some()
                && after
                    .first()
                    .is_some_and(|next| next.outputs().next().is_some());
            let length = 1 + usize::from(is_answered);
            lengths.push(length);
            rest = &rest[length..];
        }
        lengths
    }

    fn reopens(&self, _: &[Message], units: &[Unit], _: &Message, _: &mut Asked) -> usize {
        units.len().saturating_sub(1)
    }

    fn envelope(&self, body: &Body<'_>) -> Envelope {
        let mut envelope = Envelope::default();
        for block in objects(body.member("system")) {
            let guarded = || inside(block.present("guardContent")?, "text")?.present("text");
            let text = block.present("text").or_else(guarded);
            envelope.has_empty_block |= text.is_some_and(|raw| raw.get() == "\"\"");
            envelope.texts.extend(text.map(|raw| body.place(raw)));
            envelope.cache_marks += u32::from(block.present(CACHE_POINT).is_some());
        }
        let config = body.member("toolConfig");
        let tools = config.and_then(|config| members(config)?.present("tools"));
        for tool in objects(tools) {
            envelope.cache_marks += u32::from(tool.present(CACHE_POINT).is_some());
            if let Some(tool) = tool.present("toolSpec").and_then(members) {
                envelope.tools.push(ToolDefinition {
                    name: tool.text("name").unwrap_or_default().into_owned(),
                    description: tool.text("description").unwrap_or_default().into_owned(),
                    parameters: tool
                        .present("inputSchema")
                        .and_then(|schema| members(schema)?.get("json"))
                        .map(|raw| body.place(raw)),
                });
            }
        }
        envelope.tool_list = tools.map(|raw| body.place(raw));
        envelope.lacks_tools = config.is_none() && body.list != List::Bare;
        let thinking = thinking(body);
        let kind = thinking.and_then(|raw| Some(members(raw)?.text("type")?.into_owned()));
        envelope.thinks = kind.as_deref() == Some("enabled");
        envelope.binding = binding::of(thinking, &body.model());
        envelope
    }

    fn checks(&self) -> &'static [Check] {
        rules::CHECKS
    }

    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value {
        json!({"toolSpec": {
            "name": name, "description": description, "inputSchema": {"json": parameters}
        }})
    }

    fn limits(&self) -> ProviderLimits {
        ProviderLimits::BEDROCK
    }

    fn alternates(&self) -> bool {
        true
    }

    fn parts_users(&self) -> bool {
        true
    }

    fn text_part(&self, text: &str) -> String {
        format!(r#"{{"text":{text}}}"#)
    }

    fn text_message(&self, role: Role, text: &str) -> String {
        format!(
            r#"{{"role":"{}","content":[{}]}}"#,
            role.name(),
            self.text_part(&json::encode(text))
        )
    }

    fn output_content(&self, _: &str, text: &str, others: &[&str]) -> String {
        let text = self.text_part(text);
        let blocks: Vec<&str> = std::iter::once(text.as_str())
            .chain(others.iter().copied())
            .collect();
        format!("[{}]", blocks.join(","))
    }
}

fn members(raw: &RawValue) -> Option<Members<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// The members of an object that is a member of another.
fn inside<'a>(object: &'a RawValue, key: &str) -> Option<Members<'a>> {
    members(members(object)?.present(key)?)
}

/// The objects of a list; none where it is not one.
fn objects(list: Option<&RawValue>) -> Vec<Members<'_>> {
    list.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

/// What a request asks of the thinking of Anthropic's models, in the name of Anthropic or of Bedrock's guide.
fn thinking<'a>(body: &Body<'a>) -> Option<&'a RawValue> {
    let fields = members(body.member("additionalModelRequestFields")?)?;
    ["thinking", "reasoning_config"]
        .iter()
        .find_map(|key| fields.present(key))
}
