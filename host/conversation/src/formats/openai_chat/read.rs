//! From a message of OpenAI Chat to ours.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::rules::OLD;
use crate::formats::body::{Body, Raw, no_role};
use crate::formats::meaning;
use crate::formats::media::{self, printable};
use crate::json::{self, Members, Object, Place};
use crate::model::message::{Call, Content, Meaning, Message, Output, Part, Role};
use crate::model::rule::Rule;

const NO_TYPE: &str = "a call has no `type`";

/// The format and its roles, for errors.
const ROLES: &str = "OpenAI Chat (system, developer, user, assistant, tool)";

/// Reads one message.
pub(super) fn message(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let members = raw.object()?;
    let role = match members.text("role").as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => return Err(no_role(members, ROLES)),
    };
    let content = members.present("content");
    let mut message = Message {
        content: content.map(|raw| body.place(raw)),
        opaque: role == Role::Assistant && is_signed(body.get(&raw.place)),
        ..Message::new(role, raw.place.clone())
    };
    message.set_name(members.text("name").map(Cow::into_owned));
    if role == Role::Tool {
        let part = read_output(body, raw, members, &mut message)?;
        check_tool_content(members, content, &mut message);
        message.parts.push(part);
        return Ok(message);
    }
    read_thinking(body, members, &mut message);
    if let Some(content) = content {
        read_content(body, content, &mut message)?;
    }
    read_refusal_and_audio(body, members, &mut message);
    read_calls(body, members, &mut message)?;
    Ok(message)
}

/// Notes a tool message without content. The older `function` messages may have none.
fn check_tool_content(members: &Members<'_>, content: Option<&RawValue>, message: &mut Message) {
    if members.text("role").as_deref() == Some("function") {
        return;
    }
    match content {
        None => message.flaw(Rule::Chat3, "a tool message has no content"),
        Some(content) if json::is_empty_list(content.get()) => message.warning(
            Rule::Chat3,
            "the content of a tool message is an empty list",
        ),
        Some(_) => {}
    }
}

/// Reads the thinking that some servers send beside the content.
fn read_thinking(body: &Body<'_>, members: &Members<'_>, message: &mut Message) {
    for key in ["reasoning_content", "reasoning"] {
        if let Some(thinking) = members.text_value(key) {
            let place = body.place(thinking);
            message.parts.push(Part {
                content: Content::Thinking(place.clone()),
                place,
            });
        }
    }
}

fn read_refusal_and_audio(body: &Body<'_>, members: &Members<'_>, message: &mut Message) {
    for key in ["refusal", "audio"] {
        if let Some(value) = members.present(key) {
            let is_none = key == "refusal" && value.get() == "\"\"";
            // Some servers write an empty refusal where the model refused nothing.
            let content = if is_none {
                Content::opaque("no refusal", Meaning::Empty)
            } else {
                Content::opaque(key, Meaning::Other)
            };
            message.parts.push(Part {
                content,
                place: body.place(value),
            });
        }
    }
}

fn read_calls(body: &Body<'_>, members: &Members<'_>, message: &mut Message) -> Result<(), String> {
    if let Some(calls) = members.present("tool_calls") {
        if !json::is_list(calls.get()) {
            return Err("expected `tool_calls` to be a list".to_owned());
        }
        message.has_empty_calls = json::is_empty_list(calls.get());
        for call in body.objects(calls) {
            let call =
                call.map_err(|error| format!("a tool call: {}", json::without_position(&error)))?;
            let part = read_call(body, call, message)?;
            message.parts.push(part);
        }
    } else if let Some(call) = members.present("function_call") {
        let function =
            json::members(call.get()).ok_or("expected `function_call` to be an object")?;
        note_missing_members(&function, message);
        message
            .parts
            .push(call_part(body, body.place(call), "", OLD, &function));
    }
    Ok(())
}

fn read_content(body: &Body<'_>, content: &RawValue, message: &mut Message) -> Result<(), String> {
    if json::is_text(content.get()) {
        // Assistants beside calls often carry an empty text, which is not a part of its own.
        if content.get() != "\"\"" || message.role != Role::Assistant {
            message.parts.push(Part::text(body.place(content)));
        }
        return Ok(());
    }
    let parts = body.content_parts(content, "part")?;
    for part in parts {
        let Object { members, place } = part?;
        let kind = members.text("type").unwrap_or_default();
        let content = match (&*kind, members.present("text")) {
            ("text", Some(text)) if json::is_text(text.get()) => Content::Text(body.place(text)),
            ("image_url" | "input_audio" | "file", _) => {
                Content::Media(Box::new(media::chat(body, &kind, &members, &place)))
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
                let kind = printable(&kind);
                let meaning = meaning::of_type(&kind);
                Content::opaque(kind, meaning)
            }
        };
        message.parts.push(Part { content, place });
    }
    Ok(())
}

/// Notes what the function of a call lacks.
fn note_missing_members(function: &Members<'_>, message: &mut Message) {
    if function.text("name").is_none_or(|name| name.is_empty()) {
        message.flaw(Rule::Chat4, "a call has no `name`");
    }
    if arguments_of(function).is_none() {
        message.flaw(Rule::Chat4, "a call has no arguments");
    }
}

fn arguments_of<'a>(function: &Members<'a>) -> Option<&'a RawValue> {
    function.get("arguments").or_else(|| function.get("input"))
}

fn read_call(body: &Body<'_>, call: Object<'_>, message: &mut Message) -> Result<Part, String> {
    let Object {
        members: call,
        place,
    } = call;
    let id = call.text("id").unwrap_or_default();
    if id.is_empty() {
        message.warning(Rule::Chat4, "a call has no `id`");
    }
    let inner = call.present("function").or_else(|| call.present("custom"));
    let function = inner
        .and_then(|raw| json::members(raw.get()))
        .ok_or("a tool call has no `function`")?;
    if call.text("type").is_none() {
        // Some APIs know functions alone, and name no type in their answers.
        if call.get("type").is_none() && call.present("function").is_some() {
            message.warning(Rule::Chat4, NO_TYPE);
        } else {
            message.flaw(Rule::Chat4, NO_TYPE);
        }
    }
    note_missing_members(&function, message);
    Ok(call_part(body, place, &id, "", &function))
}

fn call_part(
    body: &Body<'_>,
    place: Place,
    id: &str,
    kind: &'static str,
    function: &Members<'_>,
) -> Part {
    Part {
        content: Content::Call(Box::new(Call {
            id: id.to_owned(),
            name: function.string("name"),
            arguments: arguments_of(function).map(|raw| body.place(raw)),
            kind,
            ..Call::default()
        })),
        place,
    }
}

fn read_output(
    body: &Body<'_>,
    raw: &Raw<'_>,
    members: &Members<'_>,
    message: &mut Message,
) -> Result<Part, String> {
    let content = members.present("content");
    let mut output = Output {
        call_id: members.string("tool_call_id"),
        name: message.name().unwrap_or_default().to_owned(),
        kind: if members.text("role").as_deref() == Some("function") {
            OLD
        } else {
            ""
        },
        content: content.map(|raw| body.place(raw)),
        ..Output::default()
    };
    match content {
        Some(text) if json::is_text(text.get()) => output.texts.push(body.place(text)),
        Some(list) if json::is_list(list.get()) => {
            let part = "a part of `content`";
            let has_texts = body.output_list(list, part, &mut output, |part, place, output| {
                match part.text_value("text") {
                    Some(text) => output.texts.push(body.place(text)),
                    None => {
                        let kind = part.text("type").unwrap_or_default();
                        let media = media::chat(body, &kind, part, &place);
                        output.others.push((place, media));
                    }
                }
            })?;
            if has_texts {
                let what =
                    "a part of the content of a tool message is a string instead of an object";
                message.warning(Rule::Chat3, what);
            }
        }
        // What a tool returned, not written as a text: its JSON is the text.
        Some(value) => {
            let what = "the content of a tool message is neither a text nor a list";
            message.flaw(Rule::Chat3, what);
            output.texts.push(body.place(value));
        }
        None => {}
    }
    output.failed = body.reports_failure(&output);
    Ok(Part {
        place: raw.place.clone(),
        content: Content::Output(Box::new(output)),
    })
}

/// Some servers send signed or encrypted reasoning in fields of their own.
fn is_signed(raw: &str) -> bool {
    const FIELDS: [&str; 4] = [
        "signature",
        "encrypted_content",
        "thought_signature",
        "reasoning_details",
    ];
    json::has_member_within(raw, &FIELDS)
}
