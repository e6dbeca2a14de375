//! From a message of Anthropic's to ours.

use serde_json::value::RawValue;

use crate::formats::body::{Body, Raw, no_role};
use crate::formats::meaning;
use crate::formats::media::{self, printable};
use crate::json::{self, Members, Object, Place};
use crate::model::message::{Call, Content, Link, Meaning, Message, Opaque, Output, Part, Role};
use crate::model::rule::Rule;

/// Reads one message.
pub(super) fn message(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let Some(members) = &raw.members else {
        return Err("expected an object".to_owned());
    };
    let role = match members.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        // Not allowed, and a rule says so; the reader can still tell the user which message.
        Some("system") => Role::System,
        _ => return Err(no_role(members, "Anthropic Messages (user, assistant)")),
    };
    let Some(content) = members.present("content") else {
        return Err("`content` is missing".to_owned());
    };
    let mut message = Message {
        content: Some(body.place(content)),
        expires: role == Role::System
            && members.text("clear_at").as_deref() == Some("next_user_message"),
        ..Message::new(role, raw.place.clone())
    };
    if json::is_text(content.get()) {
        let place = body.place(content);
        message.parts.push(Part {
            content: Content::Text(place.clone()),
            place,
        });
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
            if !block
                .get("input")
                .is_some_and(|raw| json::is_object(raw.get()))
            {
                message.flaw(Rule::Anth11, "the `input` of a `tool_use` is not an object");
            }
        }
        Content::Output(output) if block.get("is_error").is_some_and(|raw| raw.get() == "true") => {
            // The JSON of an output that is not a text is never empty.
            let is_text = |raw: &RawValue| json::is_text(raw.get()) || json::is_list(raw.get());
            let is_empty = block.present("content").is_none_or(is_text)
                && output.texts.iter().all(|place| place.len() == 2);
            if !output.others.is_empty() {
                message.flaw(
                    Rule::Anth11,
                    "a `tool_result` with `is_error` holds more than texts",
                );
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
    let raw = block.get("content").map(RawValue::get);
    if raw.is_some_and(|raw| json::is_text(raw) && json::decode(raw).is_empty()) {
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
        "text" => match block
            .present("text")
            .filter(|text| json::is_text(text.get()))
        {
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
        "thinking" => match block
            .present("thinking")
            .filter(|text| json::is_text(text.get()))
        {
            Some(text) => Content::Thinking(body.place(text)),
            None => Content::opaque("thinking", Meaning::Thinking),
        },
        "tool_use" => Content::Call(Box::new(Call {
            id: block.text("id").unwrap_or_default().into_owned(),
            name: block.text("name").unwrap_or_default().into_owned(),
            arguments: block.get("input").map(|raw| body.place(raw)),
            detached: false,
            kind: "",
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
            Content::Opaque(Box::new(Opaque {
                meaning: meaning_of(&kind),
                kind,
                link: link(other, block),
            }))
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
    let call_id = block.text("tool_use_id").unwrap_or_default().into_owned();
    let content = block.present("content");
    let mut output = Output {
        name: String::new(),
        call_id,
        kind: "",
        failed: false,
        marked_failed: false,
        texts: Vec::new(),
        others: Vec::new(),
        content: content.map(|raw| body.place(raw)),
    };
    match content {
        Some(text) if json::is_text(text.get()) => output.texts.push(body.place(text)),
        Some(list) if json::is_list(list.get()) => {
            let has_texts = body
                .output_list(list, &mut output, |inner, place, output| {
                    let kind = inner.text("type").unwrap_or_default();
                    message.cache_marks += u32::from(inner.present("cache_control").is_some());
                    match inner
                        .present("text")
                        .filter(|text| kind == "text" && json::is_text(text.get()))
                    {
                        Some(text) => output.texts.push(body.place(text)),
                        None => {
                            let media = media::anthropic(body, &kind, inner, &place);
                            output.others.push((place, media));
                        }
                    }
                })
                .map_err(|error| {
                    format!(
                        "a block of a `tool_result`: {}",
                        json::without_position(&error)
                    )
                })?;
            if has_texts {
                message.warning(
                    Rule::Anth11,
                    "a block of a `tool_result` is a string instead of an object",
                );
            }
        }
        // What a tool returned, not written as a text: its JSON is the text.
        Some(value) => {
            message.flaw(
                Rule::Anth11,
                "the content of a `tool_result` is neither a text nor a list",
            );
            output.texts.push(body.place(value));
        }
        None => {}
    }
    let is_error = block.get("is_error").map(RawValue::get);
    output.marked_failed = is_error == Some("true");
    output.failed = match is_error {
        Some(_) => output.marked_failed,
        None => output
            .texts
            .first()
            .is_some_and(|text| Output::begins_like_a_failure(body.get(text))),
    };
    Ok(output)
}

/// How a block of a server's own tools belongs with another.
fn link(kind: &str, block: &Members<'_>) -> Link {
    if matches!(kind, "server_tool_use" | "mcp_tool_use") {
        block
            .text("id")
            .map_or(Link::None, |id| Link::Opens(id.into_owned()))
    } else if kind.ends_with("_tool_result") {
        block
            .text("tool_use_id")
            .map_or(Link::None, |id| Link::Closes(id.into_owned()))
    } else {
        Link::None
    }
}
