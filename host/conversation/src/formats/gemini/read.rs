//! From a content of Gemini to a message of ours.

use serde_json::value::RawValue;

use crate::formats::body::{Body, Raw, no_role};
use crate::formats::meaning;
use crate::formats::media::{self, printable};
use crate::json::{self, Members, Object, Place};
use crate::model::message::{Call, Content, Link, Meaning, Media, Message, Output, Part, Role};
use crate::model::rule::Rule;

/// The kind of a part that holds nothing.
pub(crate) const EMPTY: &str = "empty";

/// The kind of a part that holds nothing but the signature of a thought.
const SIGNATURE: &str = "signature";

/// Reads one content.
pub(super) fn message(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let members = raw.object()?;
    let role = match members.text("role").as_deref() {
        // The API takes a content without a role for the user's.
        Some("user" | "function") => Role::User,
        None if members.present("role").is_none() => Role::User,
        Some("model") => Role::Assistant,
        // Not allowed, and a rule says so; the reader can still tell the user which message.
        Some("system") => Role::System,
        _ => return Err(no_role(members, "Gemini (user, model)")),
    };
    let parts = members.present("parts");
    let list = parts.filter(|parts| json::is_list(parts.get()));
    let mut message = Message {
        content: list.map(|raw| body.place(raw)),
        ..Message::new(role, raw.place.clone())
    };
    if members.text("role").as_deref() == Some("function") {
        // Google's own documents had it once.
        let what = "the role is `function`, which newer models refuse: it is `user` now";
        message.warning(Rule::Gem1, what);
    }
    if let Some(list) = list {
        for part in body.objects(list) {
            let part =
                part.map_err(|error| format!("a part: {}", json::without_position(&error)))?;
            add_part(body, part, &mut message)?;
        }
    } else if let Some(part) = parts {
        if !json::is_object(part.get()) {
            return Err("expected `parts` to be a list of parts, or one part".to_owned());
        }
        let members = serde_json::from_str(part.get())
            .map_err(|error| format!("a part: {}", json::without_position(&error)))?;
        let place = body.place(part);
        add_part(body, Object { members, place }, &mut message)?;
        // Nothing can be added next to it.
        message.opaque = true;
    }
    Ok(message)
}

fn add_part(body: &Body<'_>, part: Object<'_>, message: &mut Message) -> Result<(), String> {
    let Object { members, place } = part;
    let content = read_part(body, &members, &place)?;
    message.opaque |= matches!(content, Content::Opaque(_)) || has_signature(&members);
    message.parts.push(Part { content, place });
    Ok(())
}

/// Whether a part has the signature of a thought.
pub(crate) fn has_signature(part: &Members<'_>) -> bool {
    part.first(&["thoughtSignature", "thought_signature"])
        .is_some()
}

/// What a picture, a document or the like lies in.
fn data<'a>(part: &Members<'a>) -> Option<&'a RawValue> {
    part.first(&["inlineData", "inline_data", "fileData", "file_data"])
}

fn read_part(body: &Body<'_>, part: &Members<'_>, place: &Place) -> Result<Content, String> {
    let is_thought = part.is_true("thought");
    let is_signed = has_signature(part);
    if let Some(text) = part.present("text") {
        if !json::is_text(text.get()) {
            return Err("expected the `text` of a part to be a string".to_owned());
        }
        let place = body.place(text);
        if text.get() == "\"\"" && is_signed {
            return Ok(Content::opaque(SIGNATURE, Meaning::Empty));
        }
        return Ok(if is_thought {
            Content::Thinking(place)
        } else {
            Content::Text(place)
        });
    }
    if let Some(call) = part.first(&["functionCall", "function_call"]) {
        let call = json::members(call.get()).ok_or("expected a `functionCall` to be an object")?;
        return Ok(Content::Call(Box::new(Call {
            id: call.string("id"),
            name: call.string("name"),
            arguments: call.get("args").map(|raw| body.place(raw)),
            ..Call::default()
        })));
    }
    if let Some(response) = part.first(&["functionResponse", "function_response"]) {
        return read_response(body, response).map(|output| Content::Output(Box::new(output)));
    }
    if let Some(data) = data(part) {
        return Ok(Content::Media(Box::new(Media {
            is_thought,
            ..media::gemini(body, Some(data), place)
        })));
    }
    let kind = part
        .0
        .iter()
        .map(|(key, _)| key.as_ref())
        .find(|key| !matches!(*key, "thought" | "thoughtSignature" | "thought_signature"));
    // The API writes a signature without a text as well, and accepts it back (GEM-5).
    if kind.is_none() && is_signed {
        return Ok(Content::opaque(SIGNATURE, Meaning::Empty));
    }
    let kind = kind.unwrap_or(EMPTY);
    if is_hosted(kind) {
        return Ok(Content::linked(
            printable(kind),
            Meaning::Other,
            Link::Hosted,
        ));
    }
    let kind = printable(kind);
    let meaning = meaning::of_type(&kind);
    Ok(Content::opaque(kind, meaning))
}

/// Whether a part of this name is what a tool of Google's own was asked or returned.
fn is_hosted(kind: &str) -> bool {
    matches!(
        kind,
        "executableCode"
            | "executable_code"
            | "codeExecutionResult"
            | "code_execution_result"
            | "toolCall"
            | "tool_call"
            | "toolResponse"
            | "tool_response"
    )
}

fn read_response(body: &Body<'_>, raw: &RawValue) -> Result<Output, String> {
    let response =
        json::members(raw.get()).ok_or("expected a `functionResponse` to be an object")?;
    let mut output = Output {
        call_id: response.string("id"),
        name: response.string("name"),
        ..Output::default()
    };
    if let Some(inner) = response.present("response") {
        read_object(body, inner, &mut output);
    }
    let parts = response.present("parts").map(|list| body.objects(list));
    for Object { members, place } in parts.into_iter().flatten().flatten() {
        let media = media::gemini(body, data(&members), &place);
        output.others.push((place, media));
    }
    Ok(output)
}

/// The object that a function returned. Where it is nothing but one text, as the API's own
/// `output` and `error`, that text is the output's; else the object as JSON is.
fn read_object(body: &Body<'_>, object: &RawValue, output: &mut Output) {
    let members = json::members(object.get()).map_or_else(Vec::new, |members| members.0);
    output.failed = members
        .iter()
        .any(|(key, value)| key == "error" && value.get() != "null");
    let place = match members.as_slice() {
        [(_, only)] if json::is_text(only.get()) => {
            output.failed |= Output::begins_like_a_failure(only.get());
            body.place(only)
        }
        _ => {
            output.failed |= Output::begins_like_a_failure(object.get());
            body.place(object)
        }
    };
    output.texts.push(place.clone());
    output.content = Some(place);
}
