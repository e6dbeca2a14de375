//! The contract's `history` and `situation` as JSON, for components that another engine runs ([`crate::engine`]).

use baler_strategy::bindings::baler::compaction::history::{
    Content, Figures, Media, Message, Role, Tool, UnitKind,
};
use baler_strategy::bindings::exports::baler::compaction::strategy::Trigger;
use serde_json::{Value, json};

use super::convert;
use crate::situation::Situation;

pub(crate) fn units(situation: &Situation) -> Value {
    let Figures {
        kinds,
        traits,
        turns,
        messages,
        tokens,
        shortest,
        bytes,
        media,
    } = convert::units(situation);
    let kinds: Vec<&str> = kinds.into_iter().map(kind).collect();
    let traits: Vec<u16> = traits.into_iter().map(|traits| traits.bits()).collect();
    json!({
        "kinds": kinds,
        "traits": traits,
        "turns": turns,
        "messages": messages,
        "tokens": tokens,
        "shortest": shortest,
        "bytes": bytes,
        "media": media,
    })
}

pub(crate) fn read(situation: &Situation, first: u32, count: u32) -> Value {
    let units = convert::read(situation, first, count).into_iter();
    Value::from_iter(units.map(|messages| Value::from_iter(messages.into_iter().map(message))))
}

pub(crate) fn tools(situation: &Situation) -> Value {
    let tools = convert::tools(&situation.conversation).into_iter();
    Value::from_iter(tools.map(|tool| {
        let Tool {
            name,
            description,
            parameters,
        } = tool;
        json!({"name": name, "description": description, "parameters": parameters})
    }))
}

/// The situation as the strategy called `name` sees it.
pub(crate) fn situation(situation: &Situation, name: &str) -> Value {
    let seen = convert::situation(situation, name);
    let trigger = match seen.trigger {
        Trigger::Threshold => json!({"tag": "threshold"}),
        Trigger::Overflow => json!({"tag": "overflow"}),
        Trigger::Manual(wish) => json!({"tag": "manual", "val": wish}),
        Trigger::Scheduled => json!({"tag": "scheduled"}),
    };
    json!({
        "trigger": trigger,
        "contextWindow": seen.context_window,
        "used": seen.used,
        "overhead": seen.overhead,
        "budget": seen.budget,
        "floor": seen.floor,
        "insertionOverhead": seen.insertion_overhead,
        "openingNote": seen.opening_note,
        "cachedUnits": seen.cached_units,
        "maxBytes": seen.max_bytes,
        "maxMedia": seen.max_media,
        "context": seen.context,
        "required": seen.required,
    })
}

fn message(message: Message) -> Value {
    let parts = message.parts.into_iter().map(|part| {
        json!({
            "content": content(part.content),
            "tokens": part.tokens,
            "traits": part.traits.bits(),
        })
    });
    json!({
        "role": role(message.role),
        "name": message.name,
        "parts": Value::from_iter(parts),
    })
}

fn content(content: Content) -> Value {
    let (tag, val) = match content {
        Content::Text(text) => ("text", json!(text)),
        Content::Thinking(text) => ("thinking", json!(text)),
        Content::Call(call) => (
            "call",
            json!({"id": call.id, "name": call.name, "arguments": call.arguments}),
        ),
        Content::Output(output) => (
            "output",
            json!({
                "callId": output.call_id,
                "name": output.name,
                "failed": output.failed,
                "text": output.text,
                "media": Value::from_iter(output.media.into_iter().map(medium)),
            }),
        ),
        Content::Media(media) => ("media", medium(media)),
        Content::Opaque(kind) => ("opaque", json!(kind)),
    };
    json!({"tag": tag, "val": val})
}

fn medium(media: Media) -> Value {
    json!({"kind": media.kind, "name": media.name, "bytes": media.bytes})
}

const fn kind(kind: UnitKind) -> &'static str {
    match kind {
        UnitKind::Instructions => "instructions",
        UnitKind::User => "user",
        UnitKind::Step => "step",
        UnitKind::Summary => "summary",
        UnitKind::Other => "other",
    }
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
