//! OpenAI Chat Completions.
//!
//! Data model and rules: docs/wire-formats.md, section "OpenAI Chat Completions".

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::body::{Body, Raw, without_position};
use super::json::{self, Members, Place};
use super::rules::Findings;
use super::{Overhead, Rule, ToolDefinition, Violation, WireFormat};
use crate::conversation::message::{Call, Content, Media, Message, Output, Part, Role};

pub(super) struct OpenAiChat;

/// Signs that only this format has.
pub(super) fn looks_like(body: &Body<'_>) -> bool {
    body.messages.iter().any(|raw| {
        matches!(
            raw.members.text("role").as_deref(),
            Some("system" | "developer" | "tool" | "function")
        ) || raw.members.get("tool_calls").is_some()
            || raw.members.get("function_call").is_some()
    })
}

impl WireFormat for OpenAiChat {
    fn message(&self, body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
        read(body, raw)
    }

    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut rest = messages;
        while let Some((first, after)) = rest.split_first() {
            let outputs = if first.calls().next().is_some() {
                after
                    .iter()
                    .take_while(|message| message.role == Role::Tool)
                    .count()
            } else {
                0
            };
            lengths.push(1 + outputs);
            rest = &after[outputs..];
        }
        lengths
    }

    fn overhead(&self, body: &Body<'_>) -> Overhead {
        let tools = body.member("tools").or_else(|| body.member("functions"));
        let list: Vec<Members<'_>> = tools
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        Overhead {
            texts: Vec::new(),
            tools: list
                .iter()
                .map(|tool| {
                    let inner = tool
                        .get("function")
                        .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok());
                    let definition = inner.as_ref().unwrap_or(tool);
                    ToolDefinition {
                        name: definition.text("name").unwrap_or_default().into_owned(),
                        description: definition
                            .text("description")
                            .unwrap_or_default()
                            .into_owned(),
                        parameters: definition.get("parameters").map(|raw| body.place(raw)),
                    }
                })
                .collect(),
            tool_list: tools.map(|raw| body.place(raw)),
        }
    }

    fn violations(&self, document: &str, messages: &[Message]) -> Vec<Violation> {
        let mut found = Findings::default();
        found.check_not_empty(messages);
        found.check_ids(messages);
        found.check_texts(Rule::All6, document, messages, true);
        let mut at = 0;
        for length in self.unit_lengths(messages) {
            let end = at + length;
            check_unit(
                &mut found,
                document,
                &messages[at..end],
                at,
                end == messages.len(),
            );
            at = end;
        }
        found.finish()
    }

    fn starts_with_user(&self) -> bool {
        false
    }

    fn has_role(&self, role: Role) -> bool {
        matches!(role, Role::System | Role::Developer | Role::User)
    }
}

fn check_unit(found: &mut Findings, document: &str, unit: &[Message], at: usize, last: bool) {
    let Some((first, outputs)) = unit.split_first() else {
        return;
    };
    if first.role == Role::Tool {
        found.add(
            Rule::Chat1,
            at,
            "a tool message answers no call directly before it",
        );
        return;
    }
    for (index, message) in outputs.iter().enumerate() {
        for output in message.outputs() {
            if !first.calls().any(|call| call.id == output.call_id) {
                found.add(
                    Rule::Chat1,
                    at + 1 + index,
                    "a tool message answers no call of the assistant message before it",
                );
            }
        }
    }
    for call in first.calls() {
        let answered = outputs
            .iter()
            .flat_map(Message::outputs)
            .any(|output| output.call_id == call.id);
        if !answered && !last {
            found.add(
                Rule::Chat2,
                at,
                "a tool call is not answered before the next message",
            );
        }
        if let Some(place) = &call.arguments
            && !json::is_text(document.get(place.clone()).unwrap_or_default())
        {
            found.add(
                Rule::Chat4,
                at,
                "the arguments of a call are not a JSON text",
            );
        }
    }
    if first.role == Role::Assistant && first.parts.is_empty() {
        found.add(
            Rule::Chat3,
            at,
            "an assistant message has neither content nor calls",
        );
    }
    if matches!(first.role, Role::User | Role::System | Role::Developer) && first.content.is_none()
    {
        found.add(Rule::Chat3, at, "a message has no content");
    }
}

fn read(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let members = &raw.members;
    let role = match members.text("role").as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        Some(other) => {
            return Err(format!(
                "`{}` is no role of OpenAI Chat (system, developer, user, assistant, tool)",
                printable(other)
            ));
        }
        None => return Err("it has no `role`".to_owned()),
    };
    let content = members.present("content");
    let name = members.text("name").map(Cow::into_owned);
    let mut message = Message {
        role,
        parts: Vec::new(),
        place: raw.place.clone(),
        content: content.map(|raw| body.place(raw)),
        opaque: role == Role::Assistant && is_signed(body.document, &raw.place),
        name: name.clone(),
    };
    if role == Role::Tool {
        message
            .parts
            .push(read_output(body, raw, name.unwrap_or_default())?);
        return Ok(message);
    }
    for key in ["reasoning_content", "reasoning"] {
        if let Some(thinking) = members.present(key).filter(|raw| json::is_text(raw.get())) {
            let place = body.place(thinking);
            message.parts.push(Part {
                content: Content::Thinking(place.clone()),
                place,
            });
        }
    }
    if let Some(content) = content {
        read_content(body, content, &mut message)?;
    }
    for key in ["refusal", "audio"] {
        if let Some(value) = members.present(key) {
            message.parts.push(Part {
                content: Content::Opaque(key.to_owned()),
                place: body.place(value),
            });
        }
    }
    if let Some(calls) = members.present("tool_calls") {
        let calls: Vec<&RawValue> = serde_json::from_str(calls.get())
            .map_err(|_| "`tool_calls` is not a list".to_owned())?;
        for call in calls {
            message.parts.push(read_call(body, call)?);
        }
    } else if let Some(call) = members.present("function_call") {
        let function: Members<'_> = serde_json::from_str(call.get())
            .map_err(|_| "`function_call` is not an object".to_owned())?;
        message.parts.push(call_part(body, call, "", &function));
    }
    Ok(message)
}

fn read_content(body: &Body<'_>, content: &RawValue, message: &mut Message) -> Result<(), String> {
    if json::is_text(content.get()) {
        let place = body.place(content);
        // Assistants beside calls often carry an empty text, which is no part of its own.
        if content.get() != "\"\"" || message.role != Role::Assistant {
            message.parts.push(Part {
                content: Content::Text(place.clone()),
                place,
            });
        }
        return Ok(());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(content.get())
        .map_err(|_| "`content` is neither a text nor a list of parts".to_owned())?;
    for part in parts {
        let members: Members<'_> = serde_json::from_str(part.get())
            .map_err(|error| format!("a part of `content`: {}", without_position(&error)))?;
        let kind = members.text("type").unwrap_or_default();
        let place = body.place(part);
        let content = match (&*kind, members.present("text")) {
            ("text", Some(text)) if json::is_text(text.get()) => Content::Text(body.place(text)),
            ("image_url" | "input_audio" | "file", _) => {
                Content::Media(media(&kind, &members, &place))
            }
            ("", _) => return Err("a part of `content` has no `type`".to_owned()),
            // As an unknown part it would be kept or dropped without its partner.
            ("tool_use" | "tool_result", _) => {
                return Err(format!(
                    "a `{kind}` block belongs to Anthropic Messages, and other messages are OpenAI Chat; \
                     for Anthropic put the system prompt in `system`, outside of the messages"
                ));
            }
            _ => {
                message.opaque = true;
                Content::Opaque(printable(&kind))
            }
        };
        message.parts.push(Part { content, place });
    }
    Ok(())
}

fn read_call(body: &Body<'_>, raw: &RawValue) -> Result<Part, String> {
    let call: Members<'_> = serde_json::from_str(raw.get())
        .map_err(|error| format!("a tool call: {}", without_position(&error)))?;
    let Some(id) = call.text("id") else {
        return Err("a tool call has no `id`".to_owned());
    };
    let inner = call.present("function").or_else(|| call.present("custom"));
    let function = inner
        .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok())
        .ok_or_else(|| "a tool call has no `function`".to_owned())?;
    Ok(call_part(body, raw, &id, &function))
}

fn call_part(body: &Body<'_>, raw: &RawValue, id: &str, function: &Members<'_>) -> Part {
    let arguments = function.get("arguments").or_else(|| function.get("input"));
    Part {
        content: Content::Call(Call {
            id: id.to_owned(),
            name: function.text("name").unwrap_or_default().into_owned(),
            arguments: arguments.map(|raw| body.place(raw)),
        }),
        place: body.place(raw),
    }
}

fn read_output(body: &Body<'_>, raw: &Raw<'_>, name: String) -> Result<Part, String> {
    let content = raw.members.present("content");
    let mut output = Output {
        call_id: raw
            .members
            .text("tool_call_id")
            .unwrap_or_default()
            .into_owned(),
        name,
        failed: false,
        texts: Vec::new(),
        others: Vec::new(),
        content: content.map(|raw| body.place(raw)),
    };
    match content {
        Some(text) if json::is_text(text.get()) => output.texts.push(body.place(text)),
        Some(list) if json::is_list(list.get()) => {
            let parts: Vec<Members<'_>> = serde_json::from_str(list.get())
                .map_err(|error| format!("a part of `content`: {}", without_position(&error)))?;
            let places: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
            for (part, raw) in parts.iter().zip(places) {
                let place = body.place(raw);
                match part
                    .present("text")
                    .filter(|text| json::is_text(text.get()))
                {
                    Some(text) => output.texts.push(body.place(text)),
                    None => {
                        let kind = part.text("type").unwrap_or_default();
                        output
                            .others
                            .push((place.clone(), media(&kind, part, &place)));
                    }
                }
            }
        }
        Some(_) => return Err("`content` is neither a text nor a list of parts".to_owned()),
        None => {}
    }
    output.failed = output.reports_failure(body.document);
    Ok(Part {
        place: raw.place.clone(),
        content: Content::Output(output),
    })
}

fn media(kind: &str, members: &Members<'_>, place: &Place) -> Media {
    let name = members
        .present("file")
        .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok())
        .and_then(|file| file.text("filename").map(Cow::into_owned));
    Media {
        kind: printable(kind),
        name,
        bytes: u32::try_from(place.len()).unwrap_or(u32::MAX),
    }
}

/// Some servers send signed or encrypted reasoning in fields of their own.
fn is_signed(document: &str, place: &Place) -> bool {
    let raw = document.get(place.clone()).unwrap_or_default();
    raw.contains("\"signature\":")
        || raw.contains("\"encrypted_content\":")
        || raw.contains("\"thought_signature\":")
        || raw.contains("\"reasoning_details\":")
}

/// A word from the document, for a message or a list: short and without control characters.
pub(super) fn printable(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(40).collect()
}
