//! Blocks of pi's messages. What is text in them stays raw JSON.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Members};
use crate::logs::body::is_blank;

/// A block; its members are raw JSON, if nothing else is said.
pub(super) enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        signature: Option<&'a str>,
    },
    /// Thinking that is signed for the API of the body.
    Thinking {
        text: &'a str,
        signature: &'a str,
        /// Whether the signature is all there is of it.
        redacted: bool,
    },
    Image {
        data: &'a str,
        mime: &'a str,
    },
    Call {
        /// The id in the log, not raw. It may be empty.
        logged: Cow<'a, str>,
        /// The id in the body, not raw.
        id: String,
        name: &'a str,
        /// An object.
        arguments: &'a str,
        signature: Option<&'a str>,
    },
}

/// What answers a call.
pub(super) struct Answer<'a> {
    /// The tool's name, raw JSON.
    pub(super) name: Cow<'a, str>,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) failed: bool,
}

impl<'a> Block<'a> {
    /// Reads a block. Signatures count only for the API that gave them (LPI-7).
    pub(super) fn new(raw: &'a str, same_api: bool) -> Option<Self> {
        let members: Members<'a> = serde_json::from_str(raw).ok()?;
        let text = |key| {
            members
                .get(key)
                .map(RawValue::get)
                .filter(|raw| json::is_text(raw))
        };
        let signature = |key| text(key).filter(|raw| same_api && !is_blank(raw));
        match members.text("type").as_deref()? {
            "text" => Some(Self::Text {
                text: Cow::Borrowed(text("text").filter(|text| !is_blank(text))?),
                signature: signature("textSignature"),
            }),
            "thinking" => Some(Self::Thinking {
                text: text("thinking")?,
                signature: signature("thinkingSignature")?,
                redacted: members
                    .get("redacted")
                    .is_some_and(|raw| raw.get() == "true"),
            }),
            "image" => Some(Self::Image {
                data: text("data")?,
                mime: text("mimeType")?,
            }),
            "toolCall" => {
                let logged = members.text("id").unwrap_or_default();
                let arguments = members.get("arguments").map(RawValue::get);
                Some(Self::Call {
                    id: logged.clone().into_owned(),
                    logged,
                    name: text("name")?,
                    arguments: arguments.filter(|raw| raw.starts_with('{')).unwrap_or("{}"),
                    signature: signature("thoughtSignature"),
                })
            }
            _ => None,
        }
    }

    pub(super) fn call_name(&self) -> Option<&'a str> {
        match self {
            Self::Call { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// The blocks of a content that is a text or a list. Blocks that say nothing are left out.
pub(super) fn read(content: Option<&RawValue>, same_api: bool) -> Vec<Block<'_>> {
    let raw = content.map_or("null", RawValue::get);
    if json::is_text(raw) {
        let text = Cow::Borrowed(raw);
        let signature = None;
        return if is_blank(raw) {
            Vec::new()
        } else {
            vec![Block::Text { text, signature }]
        };
    }
    let raws: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
    raws.into_iter()
        .filter_map(|raw| Block::new(raw.get(), same_api))
        .collect()
}

/// How many blocks of a content are of no known type.
pub(super) fn unknown(content: Option<&RawValue>) -> usize {
    let raws: Vec<&RawValue> = content
        .and_then(|content| serde_json::from_str(content.get()).ok())
        .unwrap_or_default();
    let is_known = |raw: &&RawValue| {
        let members = serde_json::from_str::<Members<'_>>(raw.get()).ok();
        let kind = members.as_ref().and_then(|members| members.text("type"));
        let kind = kind.as_deref();
        kind.is_some_and(|kind| matches!(kind, "text" | "thinking" | "image" | "toolCall"))
    };
    raws.iter().filter(|raw| !is_known(raw)).count()
}

/// The blocks of what is not a response: texts and images.
pub(super) fn read_shown(content: Option<&RawValue>) -> Vec<Block<'_>> {
    let mut blocks = read(content, false);
    blocks.retain(|block| matches!(block, Block::Text { .. } | Block::Image { .. }));
    blocks
}

/// The texts among blocks, raw.
pub(super) fn texts<'b>(blocks: &'b [Block<'_>]) -> Vec<&'b str> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(&**text),
            _ => None,
        })
        .collect()
}

/// Raw texts as one raw text, a line each.
pub(super) fn joined<'t>(texts: &[&'t str]) -> Cow<'t, str> {
    match texts {
        [] => Cow::Borrowed(r#""""#),
        [text] => Cow::Borrowed(text),
        texts => {
            let texts: Vec<_> = texts.iter().map(|text| json::decode(text)).collect();
            Cow::Owned(json::encode(&texts.join("\n")))
        }
    }
}

/// An image as a data URL, raw.
pub(super) fn data_url(data: &str, mime: &str) -> String {
    // Both are raw texts, and what a base64 text and a media type hold needs no escapes.
    let inside = |raw: &str| {
        raw.get(1..raw.len().saturating_sub(1))
            .unwrap_or("")
            .to_owned()
    };
    format!(r#""data:{};base64,{}""#, inside(mime), inside(data))
}
