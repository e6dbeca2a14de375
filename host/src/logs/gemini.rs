//! Contents of the Gemini API, for the readers that make such.

use std::borrow::Cow;

use super::body::{Body, Message};
use crate::formats::json;

/// One content.
pub(super) struct Content<'a> {
    pub(super) role: &'static str,
    pub(super) parts: Vec<Part<'a>>,
    /// Tokens that the provider counted up to here; 0 where it told none.
    pub(super) tokens: u64,
}

/// One part, as raw JSON.
pub(super) struct Part<'a> {
    pub(super) raw: Cow<'a, str>,
    pub(super) kind: PartKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    /// A call; whether it has a signature.
    Call {
        signed: bool,
    },
    Response,
    Other,
}

impl<'a> Part<'a> {
    pub(super) fn other(raw: Cow<'a, str>) -> Self {
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
pub(super) fn call<'a>(
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
pub(super) fn response<'a>(id: Option<&str>, name: &str, key: &str, value: &str) -> Part<'a> {
    response_of(id, name, &format!(r#"{{"{key}":{value}}}"#))
}

/// What answers a call, with an object that is raw JSON.
pub(super) fn response_of<'a>(id: Option<&str>, name: &str, object: &str) -> Part<'a> {
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
pub(super) fn sign_current_turn(contents: &mut [Content<'_>], model: Option<&str>) {
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
pub(super) fn sign(part: &mut String, signature: &str) {
    if part.pop() == Some('}') {
        part.push_str(&format!(r#","thoughtSignature":{signature}}}"#));
    }
}

/// Adds the contents to the body.
pub(super) fn write<'a>(contents: Vec<Content<'a>>, body: &mut Body<'a>) {
    for content in contents {
        let parts = content.parts.into_iter().map(|part| part.raw).collect();
        body.push(Message::Parts(content.role, parts));
        body.report(content.tokens);
    }
}

/// A text part; `text` is raw JSON.
pub(super) fn text<'a>(text: &str) -> Part<'a> {
    Part::other(Cow::Owned(format!(r#"{{"text":{text}}}"#)))
}

/// A text part of what is not JSON yet.
pub(super) fn plain<'a>(plain: &str) -> Part<'a> {
    text(&json::encode(plain))
}
