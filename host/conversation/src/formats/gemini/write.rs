//! Contents and parts of this format, written from raw JSON values.

use std::borrow::Cow;

use crate::json;

/// One content.
pub(crate) struct Content<'a> {
    pub(crate) role: &'static str,
    pub(crate) parts: Vec<Part<'a>>,
    /// Tokens that the provider counted up to here; 0 where it told none.
    pub(crate) tokens: u64,
    /// Whether it is a summary that a program recorded.
    pub(crate) is_summary: bool,
}

impl<'a> Content<'a> {
    /// What the user says, or what answers calls.
    pub(crate) fn user(parts: Vec<Part<'a>>) -> Self {
        Self {
            role: "user",
            parts,
            tokens: 0,
            is_summary: false,
        }
    }
}

/// Adds what the model says, with the tokens that the provider counted up to there. A turn with calls follows a
/// turn of the user (GEM-2), so it joins what the model said before.
pub(crate) fn add_answer<'a>(
    contents: &mut Vec<Content<'a>>,
    mut parts: Vec<Part<'a>>,
    tokens: u64,
) {
    match contents.last_mut() {
        Some(before) if before.role == "model" => {
            before.parts.append(&mut parts);
            before.tokens = tokens;
        }
        _ => contents.push(Content {
            role: "model",
            parts,
            tokens,
            is_summary: false,
        }),
    }
}

/// One part, as raw JSON.
pub(crate) struct Part<'a> {
    pub(crate) raw: Cow<'a, str>,
    pub(crate) kind: PartKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// A call; whether it has a signature.
    Call {
        signed: bool,
    },
    Response,
    Other,
}

impl<'a> Part<'a> {
    pub(crate) fn other(raw: Cow<'a, str>) -> Self {
        Self {
            raw,
            kind: PartKind::Other,
        }
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, PartKind::Call { .. })
    }
}

/// A call; `id`, `name` and `args` are raw JSON.
pub(crate) fn call<'a>(
    id: Option<&str>,
    name: &str,
    args: &str,
    signature: Option<&str>,
) -> Part<'a> {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let mut raw = format!(r#"{{"functionCall":{{{id}"name":{name},"args":{args}}}}}"#);
    if let Some(signature) = signature {
        sign(&mut raw, signature);
    }
    Part {
        raw: Cow::Owned(raw),
        kind: PartKind::Call {
            signed: signature.is_some(),
        },
    }
}

/// What answers a call; `id`, `name` and `value` are raw JSON. `key` is `output` or `error`
/// (LGE-3).
pub(crate) fn response<'a>(id: Option<&str>, name: &str, key: &str, value: &str) -> Part<'a> {
    response_of(id, name, &format!(r#"{{"{key}":{value}}}"#))
}

/// What answers a call, with an object that is raw JSON.
pub(crate) fn response_of<'a>(id: Option<&str>, name: &str, object: &str) -> Part<'a> {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let raw = format!(r#"{{"functionResponse":{{{id}"name":{name},"response":{object}}}}}"#);
    Part {
        raw: Cow::Owned(raw),
        kind: PartKind::Response,
    }
}

/// Gives the calls of the current turn the signature that stands for one that was not recorded,
/// where the model asks for signatures (GEM-3, LGE-5): to the first call of each step. A model
/// that signed one of them asks for all.
pub(crate) fn sign_current_turn(contents: &mut [Content<'_>], model: Option<&str>) {
    let is_request = |content: &Content<'_>| {
        content.role == "user"
            && content
                .parts
                .iter()
                .all(|part| part.kind != PartKind::Response)
    };
    let start = contents.iter().rposition(is_request).unwrap_or(0);
    let mut calls: Vec<&mut Part<'_>> = contents[start..]
        .iter_mut()
        .filter_map(|content| content.parts.iter_mut().find(|part| part.is_call()))
        .collect();
    let signed = PartKind::Call { signed: true };
    let signs = model.is_some_and(|model| model.starts_with("gemini-3"))
        || calls.iter().any(|call| call.kind == signed);
    for call in calls.iter_mut().filter(|call| signs && call.kind != signed) {
        sign(call.raw.to_mut(), r#""skip_thought_signature_validator""#);
    }
}

/// Adds a signature, raw JSON, to a part.
pub(crate) fn sign(part: &mut String, signature: &str) {
    if part.pop() == Some('}') {
        part.push_str(&format!(r#","thoughtSignature":{signature}}}"#));
    }
}

/// A text part; `text` is raw JSON.
pub(crate) fn text<'a>(text: &str) -> Part<'a> {
    Part::other(Cow::Owned(format!(r#"{{"text":{text}}}"#)))
}

/// A text part of what is not JSON yet.
pub(crate) fn plain<'a>(plain: &str) -> Part<'a> {
    text(&json::encode(plain))
}

/// A part that the model thought; `text` is raw JSON.
pub(crate) fn thought(text: &str) -> String {
    format!(r#"{{"text":{text},"thought":true}}"#)
}

/// A picture; `mime` and `data` are raw JSON.
pub(crate) fn picture(mime: &str, data: &str) -> String {
    format!(r#"{{"inlineData":{{"mimeType":{mime},"data":{data}}}}}"#)
}
