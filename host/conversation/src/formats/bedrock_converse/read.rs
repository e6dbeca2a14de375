//! From a message of Bedrock Converse to a message of ours. A block has one member, whose name says
//! what the block is.

use serde_json::value::RawValue;

use crate::formats::body::{Body, Raw, no_role};
use crate::formats::media::{self, printable};
use crate::json::{self, Members, Object, Place};
use crate::model::message::{Call, Content, Link, Meaning, Message, Output, Part, Role};
use crate::model::rule::Rule;

/// What a block can be, of all that is read.
pub(super) const KINDS: [&str; 10] = [
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
];

/// A mark for the cache, which is a block of its own.
pub(crate) const CACHE_POINT: &str = "cachePoint";

/// The kind of media whose names have to differ.
pub(crate) const DOCUMENT: &str = "document";

/// The most characters of the id of a call, and of the name of a tool.
const LONGEST_NAME: usize = 64;

/// Reads one message.
pub(super) fn message(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let members = raw.object()?;
    let role = match members.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        // Only newer models take one (BED-1).
        Some("system") => Role::System,
        _ => return Err(no_role(members, "Bedrock Converse (user, assistant)")),
    };
    let content = members.present("content").ok_or("`content` is missing")?;
    let mut message = Message {
        content: Some(body.place(content)),
        ..Message::new(role, raw.place.clone())
    };
    if role == Role::System {
        let what = "a system message is in the list, which only newer models accept";
        message.warning(Rule::Bed1, what);
    }
    if json::is_text(content.get()) {
        let what = "the content is a text instead of a list of blocks";
        message.flaw(Rule::Bed8, what);
        message.parts.push(Part::text(body.place(content)));
        return Ok(message);
    }
    let mut is_after_reasoning = false;
    for block in body.content_parts(content, "block")? {
        let Object {
            members: block,
            place,
        } = block?;
        let content = read_block(body, &block, &place, &mut message)?;
        if is_cache_point(&content) {
            message.cache_marks += 1;
            if is_after_reasoning {
                message.flaw(Rule::Bed10, "a `cachePoint` directly follows reasoning");
            }
        } else {
            message.opaque |=
                matches!(content, Content::Opaque(_)) || content.is_thinking() && is_signed(&block);
        }
        is_after_reasoning = content.is_thinking();
        message.parts.push(Part { content, place });
    }
    Ok(message)
}

/// Whether a part is a mark for the cache and no content.
pub(crate) fn is_cache_point(content: &Content) -> bool {
    matches!(content, Content::Opaque(opaque) if opaque.kind == CACHE_POINT)
}

/// Whether a block of reasoning has a signature.
fn is_signed(block: &Members<'_>) -> bool {
    let reasoning = block.object("reasoningContent");
    let text = reasoning.and_then(|reasoning| reasoning.object("reasoningText"));
    text.is_some_and(|text| !text.string("signature").is_empty())
}

fn read_block(
    body: &Body<'_>,
    block: &Members<'_>,
    place: &Place,
    message: &mut Message,
) -> Result<Content, String> {
    let mut known = KINDS.iter();
    let Some((kind, value)) = known.find_map(|kind| Some((*kind, block.present(kind)?))) else {
        return Ok(Content::opaque(printable(first_key(block)), Meaning::Other));
    };
    if kind == "text" {
        return if json::is_text(value.get()) {
            Ok(Content::Text(body.place(value)))
        } else {
            Err("expected the `text` of a block to be a string".to_owned())
        };
    }
    let Some(inner) = json::members(value.get()) else {
        return Err(format!("expected the `{kind}` of a block to be an object"));
    };
    Ok(match kind {
        "toolUse" => call(body, &inner, message),
        "toolResult" => result(body, &inner, message)?,
        "reasoningContent" => reasoning(body, &inner, message),
        "guardContent" => guarded(body, &inner, place),
        CACHE_POINT => Content::opaque(CACHE_POINT, Meaning::Empty),
        _ => {
            if message.role == Role::Assistant && matches!(kind, "image" | DOCUMENT) {
                message.warning(Rule::Bed8, "a picture or document is not in a user message");
            }
            Content::Media(Box::new(media::bedrock(body, kind, &inner, place)))
        }
    })
}

/// What a block is that is not known.
fn first_key<'b>(block: &'b Members<'_>) -> &'b str {
    block.0.first().map_or("empty", |(key, _)| key.as_ref())
}

fn call(body: &Body<'_>, call: &Members<'_>, message: &mut Message) -> Content {
    let id = call.text("toolUseId").unwrap_or_default();
    // The provider runs it itself, and its result is in the same message.
    if call.present("type").is_some() {
        let link = Link::Opens(id.into_owned());
        return Content::linked("server_tool_use", Meaning::Other, link);
    }
    let name = call.text("name").unwrap_or_default();
    if message.role != Role::Assistant {
        message.warning(Rule::Bed8, "a `toolUse` is not in an assistant message");
    }
    if !is_legal(&id, &['_', '.', ':', '-']) {
        let what = "the `toolUseId` of a `toolUse` is missing, longer than 64 characters, or has others than letters, digits and `_.:-`";
        message.flaw(Rule::Bed8, what);
    }
    if !is_legal(&name, &['_', '-']) {
        let what = "the `name` of a `toolUse` is missing, longer than 64 characters, or has others than letters, digits, `_` and `-`";
        message.flaw(Rule::Bed8, what);
    }
    let input = call.get("input");
    if !input.is_some_and(|raw| json::is_object(raw.get())) {
        message.flaw(Rule::Bed8, "the `input` of a `toolUse` is not an object");
    }
    Content::Call(Box::new(Call {
        id: id.into_owned(),
        name: name.into_owned(),
        arguments: input.map(|raw| body.place(raw)),
        ..Call::default()
    }))
}

/// Whether an id or a name is one that the service accepts, with these characters beside letters and digits.
fn is_legal(name: &str, others: &[char]) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || others.contains(&c);
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_known)
}

fn result(body: &Body<'_>, result: &Members<'_>, message: &mut Message) -> Result<Content, String> {
    let id = result.text("toolUseId").unwrap_or_default();
    if result.present("type").is_some() {
        let link = Link::Closes(id.into_owned());
        return Ok(Content::linked("server_tool_result", Meaning::Other, link));
    }
    if !is_legal(&id, &['_', '.', ':', '-']) {
        let what = "the `toolUseId` of a `toolResult` is missing, longer than 64 characters, or has others than letters, digits and `_.:-`";
        message.flaw(Rule::Bed8, what);
    }
    let content = result.present("content");
    let mut output = Output {
        call_id: id.into_owned(),
        content: content.map(|raw| body.place(raw)),
        ..Output::default()
    };
    match content {
        Some(list) if json::is_list(list.get()) => read_list(body, list, &mut output, message)?,
        other => {
            message.flaw(Rule::Bed8, "the content of a `toolResult` is not a list");
            output.texts.extend(other.map(|raw| body.place(raw)));
        }
    }
    let status = result.text("status");
    output.marked_failed = status.as_deref() == Some("error");
    output.failed = match status {
        Some(_) => output.marked_failed,
        None => body.reports_failure(&output),
    };
    Ok(Content::Output(Box::new(output)))
}

/// Reads the blocks of a result. What a tool returned as JSON is a text of exactly that JSON.
fn read_list(
    body: &Body<'_>,
    list: &RawValue,
    output: &mut Output,
    message: &mut Message,
) -> Result<(), String> {
    if json::is_empty_list(list.get()) {
        message.warning(Rule::Bed8, "the content of a `toolResult` is empty");
    }
    let part = "a block of a `toolResult`";
    let has_texts = body.output_list(list, part, output, |inner, place, output| {
        let text = inner.text_value("text");
        match text.or_else(|| inner.present("json")) {
            Some(text) => output.texts.push(body.place(text)),
            None => {
                let named = ["image", DOCUMENT, "video"]
                    .into_iter()
                    .find_map(|kind| Some((kind, inner.object(kind)?)));
                let media = match &named {
                    Some((kind, inner)) => media::bedrock(body, kind, inner, &place),
                    None => media::bedrock(body, first_key(inner), inner, &place),
                };
                output.others.push((place, media));
            }
        }
    })?;
    if has_texts {
        let what = "a block of a `toolResult` is a string instead of an object";
        message.flaw(Rule::Bed8, what);
    }
    Ok(())
}

fn reasoning(body: &Body<'_>, reasoning: &Members<'_>, message: &mut Message) -> Content {
    if message.role != Role::Assistant {
        message.warning(Rule::Bed8, "reasoning is not in an assistant message");
    }
    let shown = reasoning.object("reasoningText");
    match shown.and_then(|text| text.text_value("text")) {
        Some(text) => Content::Thinking(body.place(text)),
        None => Content::opaque("redactedContent", Meaning::Thinking),
    }
}

/// What the user says, marked for a guardrail to look at.
fn guarded(body: &Body<'_>, guarded: &Members<'_>, place: &Place) -> Content {
    let text = guarded.object("text");
    if let Some(text) = text.and_then(|text| text.text_value("text")) {
        return Content::Text(body.place(text));
    }
    match guarded.object("image") {
        Some(image) => Content::Media(Box::new(media::bedrock(body, "image", &image, place))),
        None => Content::opaque("guardContent", Meaning::Other),
    }
}
