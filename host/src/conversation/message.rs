//! Messages and their parts: what stands where in the document.

use std::borrow::Cow;

use crate::formats::json::{self, Place};

/// Who speaks, in the words of the wire formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// System instructions.
    System,
    /// Developer instructions (OpenAI formats).
    Developer,
    /// The user, or a tool output in a format that carries outputs under this role.
    User,
    /// The model.
    Assistant,
    /// A tool output, in a format that has a role for it.
    Tool,
}

/// One message of the document.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) name: Option<String>,
    pub(crate) parts: Vec<Part>,
    /// The whole message in the document.
    pub(crate) place: Place,
    /// The value of `content`, where there is one.
    pub(crate) content: Option<Place>,
    /// Holds a signed, encrypted or unknown part: it may stay or go, never change.
    pub(crate) opaque: bool,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) content: Content,
    /// The part in the document: an element of a content list, or the value that makes it up.
    pub(crate) place: Place,
}

/// What a part holds. Texts are places of raw JSON strings, read only when somebody asks.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Text(Place),
    Thinking(Place),
    Call(Call),
    Output(Output),
    Media(Media),
    /// The format's name of a part that is not read.
    Opaque(String),
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// A JSON string that holds JSON, or the JSON value itself.
    pub(crate) arguments: Option<Place>,
}

/// A tool output.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) call_id: String,
    /// Name of the tool, where the output or its call tells.
    pub(crate) name: String,
    pub(crate) failed: bool,
    /// The texts, in order.
    pub(crate) texts: Vec<Place>,
    /// Blocks that are not texts, in order; they stay when the texts are rewritten.
    pub(crate) others: Vec<(Place, Media)>,
    /// The value that holds texts and blocks.
    pub(crate) content: Option<Place>,
}

/// A picture, document, recording or other file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Media {
    pub(crate) kind: String,
    pub(crate) name: Option<String>,
    pub(crate) bytes: u32,
}

/// The text of a raw JSON string, or raw JSON as it stands.
pub(crate) fn text_at<'a>(document: &'a str, place: &Place) -> Cow<'a, str> {
    let raw = document.get(place.clone()).unwrap_or_default();
    if json::is_text(raw) {
        json::decode(raw)
    } else {
        Cow::Borrowed(raw)
    }
}

impl Output {
    /// The texts, joined by line breaks.
    pub(crate) fn text<'a>(&self, document: &'a str) -> Cow<'a, str> {
        match self.texts.as_slice() {
            [one] => text_at(document, one),
            many => Cow::Owned(
                many.iter()
                    .map(|place| text_at(document, place))
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        }
    }
}

impl Message {
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match &part.content {
            Content::Call(call) => Some(call),
            _ => None,
        })
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.parts.iter().filter_map(|part| match &part.content {
            Content::Output(output) => Some(output),
            _ => None,
        })
    }
}

impl Output {
    /// Whether an output without a flag for it tells of a failure: it begins like one. Only
    /// its beginning is read, so that a long output costs nothing.
    pub(crate) fn reports_failure(&self, document: &str) -> bool {
        let Some(raw) = self
            .texts
            .first()
            .and_then(|place| document.get(place.clone()))
        else {
            return false;
        };
        let start = raw.trim_start_matches(['"', ' ']);
        [
            "error",
            "traceback (most recent",
            "fatal:",
            "exception",
            "panicked at",
            "{\\\"error\\\"",
            "{\\\"status\\\":\\\"error",
        ]
        .iter()
        .any(|sign| {
            start
                .get(..sign.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(sign))
        })
    }
}
