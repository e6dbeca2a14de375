//! Anthropic Messages.
//!
//! Data model and rules: docs/wire-formats.md, section "Anthropic Messages".

pub(crate) mod binding;
pub(crate) mod failed_result;
pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod write;

use std::collections::HashSet;

use serde_json::{Value, json};

use super::body::{Body, Raw};
use super::{Asked, Facts, ProviderLimits, WireFormat, openai_chat};
use crate::json::{self, Place};
use crate::model::envelope::{Envelope, ToolDefinition};
use crate::model::message::{Content, Link, Message, Opaque, Role};
use crate::model::unit::{Unit, UnitKind};

pub(super) struct Anthropic;

/// Signs that only this format has.
pub(super) fn looks_like(body: &Body<'_>) -> bool {
    if body.member("system").is_some() || body.member("anthropic_version").is_some() {
        return true;
    }
    // Routers serve its models through the format of OpenAI Chat.
    if body.text("model").contains("claude") && !openai_chat::has_own_tools(body) {
        return true;
    }
    let mut blocks = body.messages.iter().flat_map(Raw::blocks);
    blocks.any(|block| {
        matches!(
            block.text("type").as_deref(),
            Some(
                "tool_use"
                    | "tool_result"
                    | "thinking"
                    | "redacted_thinking"
                    | "server_tool_use"
                    | "document"
                    | "image"
                    | "compaction"
            )
        )
    })
}

const FACTS: &Facts = &Facts {
    alternates: true,
    moves_instructions: true,
    ..Facts::of(read::message, rules::CHECKS, ProviderLimits::ANTHROPIC)
};

impl WireFormat for Anthropic {
    fn facts(&self) -> &'static Facts {
        FACTS
    }

    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize> {
        let begins = begin_responses(messages);
        let mut lengths = Vec::new();
        let mut at = 0;
        while at < messages.len() {
            let length = step(&messages[at..], &begins[at..]);
            lengths.push(length);
            at += length;
        }
        lengths
    }

    fn reopens(
        &self,
        messages: &[Message],
        units: &[Unit],
        next: &Message,
        _: &mut Asked,
    ) -> usize {
        // All else stands alone.
        if next.role == Role::Assistant && holds_its_turn(next) {
            start_of_turn(messages, units, reopened_step(messages, units))
        } else if next.role == Role::Assistant || next.answers() {
            reopened_step(messages, units)
        } else {
            units.len().saturating_sub(1)
        }
    }

    fn envelope(&self, body: &Body<'_>) -> Envelope {
        let mut envelope = Envelope::default();
        match body.member("system") {
            Some(text) if json::is_text(text.get()) => envelope.texts.push(body.place(text)),
            Some(blocks) => {
                for block in json::all_objects(Some(blocks)) {
                    let text = block.present("text").map(|raw| body.place(raw));
                    envelope.has_empty_block |= text
                        .as_ref()
                        .is_some_and(|place| json::is_blank(body.get(place)));
                    envelope.texts.extend(text);
                    envelope.cache_marks += u32::from(block.present("cache_control").is_some());
                }
            }
            None => {}
        }
        // One of the whole request takes a place of its own.
        envelope.cache_marks += u32::from(body.member("cache_control").is_some());
        let tools = body.member("tools");
        for tool in json::all_objects(tools) {
            envelope.cache_marks += u32::from(tool.present("cache_control").is_some());
            let parameters = tool.get("input_schema").map(|raw| body.place(raw));
            envelope.tools.push(ToolDefinition::of(&tool, parameters));
        }
        envelope.tool_list = tools.map(|raw| body.place(raw));
        envelope.thinks = type_of(body, "thinking") == "enabled";
        envelope.binding = binding::of(body.member("thinking"), &body.text("model"));
        // `create` begins one, and carries the whole conversation.
        envelope.continues = type_of(body, "thread") == "continue";
        envelope.asks_to_compact = type_of(body, "compaction") == "summarize";
        envelope
    }

    fn instructions(&self, text: &str) -> Option<String> {
        Some(format!(r#""system":{text}"#))
    }

    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value {
        json!({"name": name, "description": description, "input_schema": parameters})
    }

    fn binds_thinking(&self, model: &str) -> bool {
        binding::binds(model)
    }

    fn is_thinking(&self, part: &str) -> bool {
        write::is_thinking(part)
    }

    fn refused_space(&self, part: &str) -> Option<Place> {
        write::space_at_the_end(part)
    }
}

/// The `type` of an object in the request body; empty where there is none.
fn type_of(body: &Body<'_>, member: &str) -> String {
    body.member(member)
        .and_then(|raw| json::members(raw.get()))
        .map_or_else(String::new, |object| object.string("type"))
}

/// The length of the turn that `messages` begin with: neighbours of one role, which the API
/// takes for one message (ANTH-2).
fn run(messages: &[Message]) -> usize {
    messages
        .first()
        .map_or(0, |first| run_of(messages, first.role))
}

/// How many messages of a role `messages` begin with.
fn run_of(messages: &[Message], role: Role) -> usize {
    let run = messages.iter().take_while(|message| message.role == role);
    run.count()
}

/// Whether a message of the model's makes its whole turn one response. The API takes neighbours for
/// one message, and refuses calls that are parted from their thinking (ANTH-5).
fn holds_its_turn(message: &Message) -> bool {
    let mut parts = message.parts.iter().map(|part| &part.content);
    parts.any(|content| matches!(content, Content::Call(_)) || content.is_thinking())
}

/// For each message, whether a unit that begins with it holds the rest of its turn and the results
/// after that. What a provider's own compaction left before a response stands alone.
fn begin_responses(messages: &[Message]) -> Vec<bool> {
    let mut begin = Vec::with_capacity(messages.len());
    for (_, turn) in rules::turns(messages) {
        let is_models = turn[0].role == Role::Assistant;
        let is_response = is_models && turn.iter().any(holds_its_turn);
        begin.extend(turn.iter().map(|message| {
            if is_models {
                is_response && !(message.has_compaction() && message.parts.len() == 1)
            } else {
                message.has_calls()
            }
        }));
    }
    begin
}

/// The length of the step that `messages` begin with: a response with the results of its calls, or one
/// message. Code that the provider runs may call the client's tools: then its result comes after
/// theirs (ANTH-7), and after what the user says beside them. `begins` says which messages begin a
/// response.
fn step(messages: &[Message], begins: &[bool]) -> usize {
    let mut length = answered(messages, begins);
    if messages[0].role != Role::Assistant {
        return length;
    }
    let mut running: HashSet<&str> = HashSet::new();
    let mut seen = 0;
    loop {
        for opaque in messages[seen..length].iter().flat_map(Message::opaques) {
            match &opaque.link {
                Link::Opens(id) => {
                    running.insert(id);
                }
                Link::Closes(id) => {
                    running.remove(id.as_str());
                }
                Link::None | Link::Hosted | Link::Unknown => {}
            }
        }
        let rest = &messages[length..];
        let said = match messages[length - 1].role {
            Role::User => run_of(rest, Role::User),
            _ => 0,
        };
        // Instructions may come before what goes on.
        let between = said + run_of(&rest[said..], Role::System);
        let is_result = |opaque: &Opaque| matches!(&opaque.link, Link::Closes(id) if running.contains(id.as_str()));
        let goes_on = rest.get(between).is_some_and(|next| {
            next.role == Role::Assistant && (said == 0 || next.opaques().any(is_result))
        });
        if running.is_empty() || !goes_on {
            return length;
        }
        seen = length;
        length += between + answered(&rest[between..], &begins[length + between..]);
    }
}

/// The number of messages of a response and the results of its calls; or 1.
fn answered(messages: &[Message], begins: &[bool]) -> usize {
    if begins.first() != Some(&true) {
        return 1;
    }
    let calling = run(messages);
    let answers = &messages[calling..];
    let outputs = answers[..run(answers)]
        .iter()
        .rposition(Message::has_outputs);
    calling + outputs.map_or(0, |last| last + 1)
}

/// The unit that a result, or what the model goes on with, can still belong to: the last step, if
/// only messages of the user and instructions come after it; else the last unit.
fn reopened_step(messages: &[Message], units: &[Unit]) -> usize {
    let last = units.len().saturating_sub(1);
    let is_others = |unit: &Unit| {
        messages
            .get(unit.first_message)
            .is_some_and(|message| message.role != Role::Assistant)
    };
    let Some(step) = units.iter().rposition(|unit| !is_others(unit)) else {
        return last;
    };
    if units[step].kind == UnitKind::Step {
        step
    } else {
        last
    }
}

/// The unit with which the turn begins that `unit` begins in, where that is the model's.
fn start_of_turn(messages: &[Message], units: &[Unit], mut unit: usize) -> usize {
    let is_models = |index: usize| {
        let message = messages.get(index);
        message.is_some_and(|message| message.role == Role::Assistant)
    };
    let goes_on = |unit: &Unit| {
        is_models(unit.first_message) && unit.first_message.checked_sub(1).is_some_and(is_models)
    };
    while unit > 0 && units.get(unit).is_some_and(goes_on) {
        unit -= 1;
    }
    unit
}
