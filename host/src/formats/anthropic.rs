//! Anthropic Messages.
//!
//! Data model and rules: docs/wire-formats.md, section "Anthropic Messages".

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use super::body::{Body, Raw, without_position};
use super::json::{self, Members, Place};
use super::openai_chat::printable;
use super::rules::Findings;
use super::{Overhead, Rule, ToolDefinition, Violation, WireFormat};
use crate::conversation::message::{Call, Content, Media, Message, Output, Part, Role};

pub(super) struct Anthropic;

/// Signs that only this format has.
pub(super) fn looks_like(body: &Body<'_>) -> bool {
    if body.member("system").is_some() || body.member("anthropic_version").is_some() {
        return true;
    }
    if body
        .member("model")
        .is_some_and(|model| json::decode(model.get()).contains("claude"))
    {
        return true;
    }
    body.messages.iter().any(|raw| {
        raw.members
            .get("content")
            .filter(|content| json::is_list(content.get()))
            .and_then(|content| serde_json::from_str::<Vec<Members<'_>>>(content.get()).ok())
            .is_some_and(|blocks| {
                blocks.iter().any(|block| {
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
            })
    })
}

impl WireFormat for Anthropic {
    fn message(&self, body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
        read(body, raw)
    }

    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut rest = messages;
        while let Some(first) = rest.first() {
            let length = if first.calls().next().is_some() {
                let calling = run(rest);
                let answers = &rest[calling..];
                let outputs = answers[..run(answers)]
                    .iter()
                    .rposition(|message| message.outputs().next().is_some());
                calling + outputs.map_or(0, |last| last + 1)
            } else {
                1
            };
            lengths.push(length);
            rest = &rest[length..];
        }
        lengths
    }

    fn overhead(&self, body: &Body<'_>) -> Overhead {
        let texts = match body.member("system") {
            Some(text) if json::is_text(text.get()) => vec![body.place(text)],
            Some(blocks) => serde_json::from_str::<Vec<Members<'_>>>(blocks.get())
                .unwrap_or_default()
                .iter()
                .filter_map(|block| block.present("text").map(|raw| body.place(raw)))
                .collect(),
            None => Vec::new(),
        };
        let tools = body.member("tools");
        let list: Vec<Members<'_>> = tools
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        Overhead {
            texts,
            tools: list
                .iter()
                .map(|tool| ToolDefinition {
                    name: tool.text("name").unwrap_or_default().into_owned(),
                    description: tool.text("description").unwrap_or_default().into_owned(),
                    parameters: tool.get("input_schema").map(|raw| body.place(raw)),
                })
                .collect(),
            tool_list: tools.map(|raw| body.place(raw)),
        }
    }

    fn violations(&self, document: &str, messages: &[Message]) -> Vec<Violation> {
        let mut found = Findings::default();
        found.check_not_empty(messages);
        found.check_ids(messages);
        found.check_texts(Rule::Anth6, document, messages, false);
        for (index, message) in messages.iter().enumerate() {
            if index == 0 && message.role != Role::User {
                found.add(Rule::Anth1, 0, "the first message is not the user's");
            }
            if !matches!(message.role, Role::User | Role::Assistant) {
                found.add(Rule::Anth1, index, "the role is neither user nor assistant");
            }
        }
        let mut before: &[Message] = &[];
        let mut at = 0;
        while at < messages.len() {
            let end = at + run(&messages[at..]);
            let turn = &messages[at..end];
            check_outputs(&mut found, turn, before, at);
            check_calls(&mut found, turn, &messages[end..], at);
            before = turn;
            at = end;
        }
        found.finish()
    }

    fn starts_with_user(&self) -> bool {
        true
    }

    fn has_role(&self, role: Role) -> bool {
        role == Role::User
    }
}

/// The length of the turn that `messages` begin with: neighbours of one role, which the API
/// takes for one message (ANTH-2).
fn run(messages: &[Message]) -> usize {
    messages
        .iter()
        .take_while(|message| message.role == messages[0].role)
        .count()
}

/// ANTH-4, and the order of ANTH-3. `at` is the index of the turn's first message.
fn check_outputs(found: &mut Findings, turn: &[Message], before: &[Message], at: usize) {
    let called: HashSet<&str> = before
        .iter()
        .flat_map(Message::calls)
        .map(|call| call.id.as_str())
        .collect();
    let mut other = false;
    for (index, message) in turn.iter().enumerate() {
        for part in &message.parts {
            let Content::Output(output) = &part.content else {
                other = true;
                continue;
            };
            if message.role != Role::User {
                let what = "a `tool_result` is not in a user message";
                found.add(Rule::Anth4, at + index, what);
            } else if !called.contains(output.call_id.as_str()) {
                let what = "a `tool_result` has no `tool_use` in the message before it";
                found.add(Rule::Anth4, at + index, what);
            }
            if other {
                let what = "a `tool_result` stands behind other blocks";
                found.add(Rule::Anth3, at + index, what);
            }
        }
    }
}

/// ANTH-3. `after` is all that follows the turn.
fn check_calls(found: &mut Findings, turn: &[Message], after: &[Message], at: usize) {
    if after.is_empty() {
        return;
    }
    let answered: HashSet<&str> = after[..run(after)]
        .iter()
        .flat_map(Message::outputs)
        .map(|output| output.call_id.as_str())
        .collect();
    for (index, message) in turn.iter().enumerate() {
        if message
            .calls()
            .any(|call| !answered.contains(call.id.as_str()))
        {
            let what = "a `tool_use` has no `tool_result` in the next message";
            found.add(Rule::Anth3, at + index, what);
        }
    }
}

fn read(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let members = &raw.members;
    let role = match members.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        // Not allowed, and a rule says so; the reader can still tell the user which message.
        Some("system") => Role::System,
        Some(other) => {
            return Err(format!(
                "`{}` is no role of Anthropic Messages (user, assistant)",
                printable(other)
            ));
        }
        None => return Err("it has no `role`".to_owned()),
    };
    let Some(content) = members.present("content") else {
        return Err("it has no `content`".to_owned());
    };
    let mut message = Message {
        role,
        name: None,
        parts: Vec::new(),
        place: raw.place.clone(),
        content: Some(body.place(content)),
        opaque: false,
    };
    if json::is_text(content.get()) {
        let place = body.place(content);
        message.parts.push(Part {
            content: Content::Text(place.clone()),
            place,
        });
        return Ok(message);
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get())
        .map_err(|_| "`content` is neither a text nor a list of blocks".to_owned())?;
    for raw in blocks {
        let block: Members<'_> = serde_json::from_str(raw.get())
            .map_err(|error| format!("a block of `content`: {}", without_position(&error)))?;
        let place = body.place(raw);
        let content = read_block(body, &block, &place)?;
        message.opaque |= matches!(content, Content::Opaque(_))
            || (matches!(content, Content::Thinking(_)) && block.get("signature").is_some());
        message.parts.push(Part { content, place });
    }
    Ok(message)
}

fn read_block(body: &Body<'_>, block: &Members<'_>, place: &Place) -> Result<Content, String> {
    let kind = block.text("type").unwrap_or_default();
    Ok(match &*kind {
        "text" => match block
            .present("text")
            .filter(|text| json::is_text(text.get()))
        {
            // Citations point into other blocks; such a text cannot change alone.
            Some(_)
                if block
                    .present("citations")
                    .is_some_and(|raw| raw.get() != "[]") =>
            {
                Content::Opaque("cited text".to_owned())
            }
            Some(text) => Content::Text(body.place(text)),
            None => return Err("a `text` block has no text".to_owned()),
        },
        "thinking" => match block
            .present("thinking")
            .filter(|text| json::is_text(text.get()))
        {
            Some(text) => Content::Thinking(body.place(text)),
            None => Content::Opaque("thinking".to_owned()),
        },
        "tool_use" => Content::Call(Call {
            id: block
                .text("id")
                .ok_or_else(|| "a `tool_use` block has no `id`".to_owned())?
                .into_owned(),
            name: block.text("name").unwrap_or_default().into_owned(),
            arguments: block.get("input").map(|raw| body.place(raw)),
        }),
        "tool_result" => Content::Output(read_output(body, block)?),
        "image" | "document" => Content::Media(media(&kind, block, place)),
        "" => return Err("a block of `content` has no `type`".to_owned()),
        other => Content::Opaque(printable(other)),
    })
}

fn read_output(body: &Body<'_>, block: &Members<'_>) -> Result<Output, String> {
    let call_id = block
        .text("tool_use_id")
        .ok_or_else(|| "a `tool_result` block has no `tool_use_id`".to_owned())?
        .into_owned();
    let content = block.present("content");
    let mut output = Output {
        name: String::new(),
        call_id,
        failed: false,
        texts: Vec::new(),
        others: Vec::new(),
        content: content.map(|raw| body.place(raw)),
    };
    match content {
        Some(text) if json::is_text(text.get()) => output.texts.push(body.place(text)),
        Some(list) if json::is_list(list.get()) => {
            let raws: Vec<&RawValue> = serde_json::from_str(list.get())
                .map_err(|_| "the content of a `tool_result` cannot be read".to_owned())?;
            for raw in raws {
                let inner: Members<'_> = serde_json::from_str(raw.get()).map_err(|error| {
                    format!("a block of a `tool_result`: {}", without_position(&error))
                })?;
                let kind = inner.text("type").unwrap_or_default();
                let place = body.place(raw);
                match inner
                    .present("text")
                    .filter(|text| kind == "text" && json::is_text(text.get()))
                {
                    Some(text) => output.texts.push(body.place(text)),
                    None => output
                        .others
                        .push((place.clone(), media(&kind, &inner, &place))),
                }
            }
        }
        Some(_) => {
            return Err("the content of a `tool_result` is neither a text nor a list".to_owned());
        }
        None => {}
    }
    output.failed = match block.get("is_error").map(RawValue::get) {
        Some(raw) => raw == "true",
        None => output.reports_failure(body.document),
    };
    Ok(output)
}

fn media(kind: &str, block: &Members<'_>, place: &Place) -> Media {
    let source = block
        .present("source")
        .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok());
    let kind = source
        .as_ref()
        .and_then(|source| source.text("media_type"))
        .map_or_else(|| printable(kind), |kind| printable(&kind));
    Media {
        kind,
        name: block.text("title").map(Cow::into_owned),
        bytes: u32::try_from(place.len()).unwrap_or(u32::MAX),
    }
}
