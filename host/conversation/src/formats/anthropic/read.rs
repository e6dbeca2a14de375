//! From a message of Anthropic's to ours.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::formats::body::{Body, Raw, no_role};
use crate::formats::meaning;
use crate::formats::media::{self, printable};
use crate::json::{self, Members, Object, Place};
use crate::model::message::{Call, Content, Link, Meaning, Message, Output, Part, Role};
use crate::model::rule::Rule;

/// Reads one message.
pub(super) fn message(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let members = raw.object()?;
    let role = match members.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        // Not allowed, and a rule says so; the reader can still tell the user which message.
        Some("system") => Role::System,
        _ => return Err(no_role(members, "Anthropic Messages (user, assistant)")),
    };
    let content = members.present("content").ok_or("`content` is missing")?;
    let mut message = Message {
        content: Some(body.place(content)),
        expires: role == Role::System
            && members.text("clear_at").as_deref() == Some("next_user_message"),
        ..Message::new(role, raw.place.clone())
    };
    if json::is_text(content.get()) {
        message.parts.push(Part::text(body.place(content)));
        return Ok(message);
    }
    message.is_directive = role == Role::System
        && json::is_empty_list(content.get())
        && members.present("output_config").is_some();
    let blocks = body.content_parts(content, "block")?;
    for block in blocks {
        let Object {
            members: block,
            place,
        } = block?;
        let content = read_block(body, &block, &place, &mut message)?;
        note_flaws(&block, &content, &mut message);
        note_compaction(&block, &content, &mut message);
        message.cache_marks += u32::from(block.present("cache_control").is_some());
        message.opaque |= matches!(content, Content::Opaque(_))
            || (matches!(content, Content::Thinking(_)) && block.get("signature").is_some());
        message.parts.push(Part { content, place });
    }
    Ok(message)
}

/// Notes what is wrong with a block whatever stands around it (ANTH-11).
fn note_flaws(block: &Members<'_>, content: &Content, message: &mut Message) {
    let is_thinking = content.is_thinking();
    if message.role != Role::Assistant {
        if is_thinking {
            message.warning(Rule::Anth11, "thinking is not in an assistant message");
        }
        if matches!(content, Content::Call(_)) {
            message.warning(Rule::Anth11, "a `tool_use` is not in an assistant message");
        }
    }
    if is_thinking && block.present("cache_control").is_some() {
        message.flaw(Rule::Anth11, "thinking has a `cache_control` mark");
    }
    match content {
        Content::Call(call) => {
            if call.name.is_empty() {
                message.flaw(Rule::Anth11, "a `tool_use` has no `name`");
            }
            if call.id.is_empty() {
                message.warning(Rule::Anth11, "a `tool_use` has no `id`");
            }
            if !block.raw("input").is_some_and(json::is_object) {
                message.flaw(Rule::Anth11, "the `input` of a `tool_use` is not an object");
            }
        }
        Content::Output(output) if block.is_true("is_error") => {
            // The JSON of an output that is not a text is never empty.
            let is_text = |raw: &RawValue| json::is_text(raw.get()) || json::is_list(raw.get());
            let is_empty = block.present("content").is_none_or(is_text)
                && output.texts.iter().all(|place| place.len() == 2);
            if !output.others.is_empty() {
                let what = "a `tool_result` with `is_error` holds more than texts";
                message.flaw(Rule::Anth11, what);
            } else if is_empty {
                message.flaw(Rule::Anth11, "a `tool_result` with `is_error` is empty");
            }
        }
        _ => {}
    }
}

/// Notes what holds for a provider's own compaction (ANTH-8).
fn note_compaction(block: &Members<'_>, content: &Content, message: &mut Message) {
    if !matches!(content, Content::Opaque(opaque) if opaque.meaning == Meaning::Compaction) {
        return;
    }
    if block.text("content").is_some_and(|text| text.is_empty()) {
        message.flaw(Rule::Anth8, "the content of a `compaction` is empty");
    }
    if block.present("signature").is_none() {
        return;
    }
    if message.parts.is_empty() {
        message.stands_first = true;
    } else {
        message.flaw(Rule::Anth8, "a signed `compaction` is not the first block");
    }
}

/// Whether a `compaction` is one that failed: it stands for nothing, and the API passes it over.
fn is_failed_compaction(block: &Members<'_>) -> bool {
    block.present("content").is_none() && block.present("encrypted_content").is_none()
}

fn read_block(
    body: &Body<'_>,
    block: &Members<'_>,
    place: &Place,
    message: &mut Message,
) -> Result<Content, String> {
    let kind = block.text("type").unwrap_or_default();
    Ok(match &*kind {
        "text" => match block.text_value("text") {
            // Citations point into other blocks; such a text cannot change alone. One that says nothing
            // cites nothing, and is empty or blank like any other (ANTH-6).
            Some(text)
                if !json::is_blank(text.get())
                    && block
                        .present("citations")
                        .is_some_and(|raw| !json::is_empty_list(raw.get())) =>
            {
                Content::opaque("cited text", Meaning::Other)
            }
            Some(text) => Content::Text(body.place(text)),
            None => return Err("a `text` block has no text".to_owned()),
        },
        "thinking" => match block.text_value("thinking") {
            Some(text) => Content::Thinking(body.place(text)),
            None => Content::opaque("thinking", Meaning::Thinking),
        },
        "tool_use" => Content::Call(Box::new(Call {
            id: block.string("id"),
            name: block.string("name"),
            arguments: block.get("input").map(|raw| body.place(raw)),
            ..Call::default()
        })),
        "tool_result" => Content::Output(Box::new(read_output(body, block, message)?)),
        "image" | "document" => {
            Content::Media(Box::new(media::anthropic(body, &kind, block, place)))
        }
        "compaction" if is_failed_compaction(block) => {
            Content::opaque("failed compaction", Meaning::Empty)
        }
        "" => return Err("a block of `content` has no `type`".to_owned()),
        other => {
            let kind = printable(other);
            let meaning = meaning_of(&kind);
            Content::linked(kind, meaning, link(other, block))
        }
    })
}

/// The meaning of a block that is not read, by its type.
fn meaning_of(kind: &str) -> Meaning {
    match kind {
        // Instructions that Anthropic puts into messages of the user for clients.
        "mid_conv_system" => Meaning::Instructions,
        _ => meaning::of_type(kind),
    }
}

fn read_output(
    body: &Body<'_>,
    block: &Members<'_>,
    message: &mut Message,
) -> Result<Output, String> {
    let content = block.present("content");
    let mut output = Output {
        call_id: block.string("tool_use_id"),
        content: content.map(|raw| body.place(raw)),
        ..Output::default()
    };
    match content {
        Some(text) if json::is_text(text.get()) => output.texts.push(body.place(text)),
        Some(list) if json::is_list(list.get()) => {
            let part = "a block of a `tool_result`";
            let has_texts = body.output_list(list, part, &mut output, |inner, place, output| {
                let kind = inner.text("type").unwrap_or_default();
                message.cache_marks += u32::from(inner.present("cache_control").is_some());
                match inner.text_value("text").filter(|_| kind == "text") {
                    Some(text) => output.texts.push(body.place(text)),
                    None => {
                        let media = media::anthropic(body, &kind, inner, &place);
                        output.others.push((place, media));
                    }
                }
            })?;
            if has_texts {
                let what = "a block of a `tool_result` is a string instead of an object";
                message.warning(Rule::Anth11, what);
            }
        }
        // What a tool returned, not written as a text: its JSON is the text.
        Some(value) => {
            let what = "the content of a `tool_result` is neither a text nor a list";
            message.flaw(Rule::Anth11, what);
            output.texts.push(body.place(value));
        }
        None => {}
    }
    let is_error = block.get("is_error").map(RawValue::get);
    output.marked_failed = is_error == Some("true");
    output.failed = match is_error {
        Some(_) => output.marked_failed,
        None => body.reports_failure(&output),
    };
    Ok(output)
}

/// How a block of a server's own tools belongs with another.
fn link(kind: &str, block: &Members<'_>) -> Link {
    let id = |key: &str| block.text(key).map(Cow::into_owned);
    if matches!(kind, "server_tool_use" | "mcp_tool_use") {
        id("id").map_or(Link::None, Link::Opens)
    } else if kind.ends_with("_tool_result") {
        id("tool_use_id").map_or(Link::None, Link::Closes)
    } else {
        Link::None
    }
}
