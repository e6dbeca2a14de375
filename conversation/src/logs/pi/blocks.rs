//! Blocks of pi's messages.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Members};
use crate::logs::body::is_blank;
use crate::logs::turns::blocks::Block;

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
        .filter_map(|raw| block(raw.get(), same_api))
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

/// Reads a block. Signatures count only for the API that gave them (LPI-7).
fn block(raw: &str, same_api: bool) -> Option<Block<'_>> {
    let members: Members<'_> = serde_json::from_str(raw).ok()?;
    let text = |key| {
        members
            .get(key)
            .map(RawValue::get)
            .filter(|raw| json::is_text(raw))
    };
    let signature = |key| text(key).filter(|raw| same_api && !is_blank(raw));
    match members.text("type").as_deref()? {
        "text" => Some(Block::Text {
            text: Cow::Borrowed(text("text").filter(|text| !is_blank(text))?),
            signature: signature("textSignature"),
        }),
        "thinking" => Some(Block::Thinking {
            text: text("thinking")?,
            signature: signature("thinkingSignature")?,
            redacted: members
                .get("redacted")
                .is_some_and(|raw| raw.get() == "true"),
        }),
        "image" => Some(Block::Image {
            data: Cow::Borrowed(text("data")?),
            mime: Cow::Borrowed(text("mimeType")?),
        }),
        "toolCall" => {
            let logged = members.text("id").unwrap_or_default();
            let arguments = members.get("arguments").map(RawValue::get);
            Some(Block::Call {
                id: logged.clone().into_owned(),
                logged,
                name: text("name")?,
                arguments: Cow::Borrowed(
                    arguments.filter(|raw| raw.starts_with('{')).unwrap_or("{}"),
                ),
                signature: signature("thoughtSignature"),
            })
        }
        _ => None,
    }
}
