//! Bedrock Converse.
//!
//! Data model and rules: docs/wire-formats.md, section "Rules".

pub(crate) mod read;
pub(crate) mod rules;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::anthropic::binding;
use super::body::{Body, List, Raw};
use super::{Facts, ProviderLimits, WireFormat};
use crate::json;
use crate::model::envelope::{Envelope, ToolDefinition};
use crate::model::message::{Message, Role};
use read::{CACHE_POINT, KINDS};

pub(super) struct BedrockConverse;

/// Members of a request that only this format has.
const OWN_MEMBERS: [&str; 5] = [
    "toolConfig",
    "inferenceConfig",
    "additionalModelRequestFields",
    "guardrailConfig",
    "modelId",
];

/// Signs that only this format has.
pub(super) fn looks_like(body: &Body<'_>) -> bool {
    OWN_MEMBERS.iter().any(|key| body.member(key).is_some())
        || body.messages.iter().any(has_own_blocks)
}

fn has_own_blocks(raw: &Raw<'_>) -> bool {
    // Of other formats the first block tells as much as all.
    raw.blocks().next().is_some_and(|block| {
        // Blocks of other formats have a `type`.
        let mut own = KINDS.iter().chain(&["citationsContent"]);
        block.get("type").is_none() && own.any(|key| block.get(key).is_some())
    })
}

const FACTS: &Facts = &Facts {
    names_model: false,
    alternates: true,
    parts_users: true,
    ..Facts::of(read::message, rules::CHECKS, ProviderLimits::BEDROCK)
};

impl WireFormat for BedrockConverse {
    fn facts(&self) -> &'static Facts {
        FACTS
    }

    fn unit_length(&self, messages: &[Message]) -> usize {
        let is_answered =
            messages[0].has_calls() && messages.get(1).is_some_and(Message::has_outputs);
        1 + usize::from(is_answered)
    }

    fn envelope(&self, body: &Body<'_>) -> Envelope {
        let mut envelope = Envelope::default();
        for block in json::all_objects(body.member("system")) {
            let guarded = || block.object("guardContent")?.inside("text", "text");
            let text = block.present("text").or_else(guarded);
            envelope.has_empty_block |= text.is_some_and(|raw| raw.get() == "\"\"");
            envelope.texts.extend(text.map(|raw| body.place(raw)));
            envelope.cache_marks += u32::from(block.present(CACHE_POINT).is_some());
        }
        let config = body.member("toolConfig");
        let tools = config.and_then(|config| json::members(config.get())?.present("tools"));
        for tool in json::all_objects(tools) {
            envelope.cache_marks += u32::from(tool.present(CACHE_POINT).is_some());
            if let Some(tool) = tool.object("toolSpec") {
                let schema = tool.object("inputSchema");
                let parameters = schema.and_then(|schema| schema.get("json"));
                let parameters = parameters.map(|raw| body.place(raw));
                envelope.tools.push(ToolDefinition::of(&tool, parameters));
            }
        }
        envelope.tool_list = tools.map(|raw| body.place(raw));
        envelope.lacks_tools = config.is_none() && body.list != List::Bare;
        let thinking = thinking(body);
        let asked = thinking.and_then(|raw| json::members(raw.get()));
        envelope.thinks = asked.is_some_and(|asked| asked.string("type") == "enabled");
        envelope.binding = binding::of(thinking, &body.model());
        envelope
    }

    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value {
        json!({"toolSpec": {
            "name": name, "description": description, "inputSchema": {"json": parameters}
        }})
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

/// What a request asks of the thinking of Anthropic's models, in the name of Anthropic or of Bedrock's guide.
fn thinking<'a>(body: &Body<'a>) -> Option<&'a RawValue> {
    let fields = json::members(body.member("additionalModelRequestFields")?.get())?;
    fields.first(&["thinking", "reasoning_config"])
}
