//! Blocks of messages that belong to no wire format. What is text in them stays raw JSON.

use std::borrow::Cow;

use crate::json;
use crate::logs::inserted;

/// A block; its members are raw JSON, if nothing else is said.
pub(in crate::logs) enum Block<'a> {
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
        data: Cow<'a, str>,
        mime: Cow<'a, str>,
    },
    Call {
        /// The id in the log, not raw. It may be empty.
        logged: Cow<'a, str>,
        /// The id in the body, not raw.
        id: String,
        name: &'a str,
        /// An object.
        arguments: Cow<'a, str>,
        signature: Option<&'a str>,
    },
}

/// What answers a call.
pub(in crate::logs) struct Answer<'a> {
    /// The tool's name, raw JSON.
    pub(in crate::logs) name: Cow<'a, str>,
    pub(in crate::logs) blocks: Vec<Block<'a>>,
    pub(in crate::logs) failed: bool,
}

impl<'a> Block<'a> {
    /// A raw text as a block, unless it is blank.
    pub(in crate::logs) fn text(raw: &'a str, signature: Option<&'a str>) -> Option<Self> {
        (!json::is_blank(raw)).then_some(Self::Text {
            text: Cow::Borrowed(raw),
            signature,
        })
    }

    /// A raw text that is not signed, as a block.
    pub(in crate::logs) fn unsigned(text: impl Into<Cow<'a, str>>) -> Self {
        let (text, signature) = (text.into(), None);
        Self::Text { text, signature }
    }

    /// Whether it is more than thinking.
    pub(super) fn says(&self) -> bool {
        !matches!(self, Self::Thinking { .. })
    }

    /// Whether it is a picture.
    pub(super) fn is_image(&self) -> bool {
        matches!(self, Self::Image { .. })
    }

    /// The name of the tool, raw, if it is a call.
    pub(super) fn call_name(&self) -> Option<&'a str> {
        match self {
            Self::Call { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Marks the texts of a message that the user did not write.
pub(in crate::logs) fn mark(blocks: &mut [Block<'_>]) {
    for block in blocks {
        if let Block::Text { text, .. } = block
            && let Some(marked) = inserted::marked(text)
        {
            *text = Cow::Owned(marked);
        }
    }
}

/// The texts among blocks, raw.
pub(in crate::logs) fn texts<'b>(blocks: &'b [Block<'_>]) -> Vec<&'b str> {
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
