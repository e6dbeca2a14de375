//! Blocks of pi's messages.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Members};
use crate::logs::turns::blocks::Block;

/// The blocks of a content that is a text or a list, without blocks that say nothing. Blocks of no known type are
/// left out too, and added to `unknown`.
pub(super) fn read<'a>(
    content: Option<&'a RawValue>,
    same_api: bool,
    unknown: &mut usize,
) -> Vec<Block<'a>> {
    let raw = content.map_or("null", RawValue::get);
    if json::is_text(raw) {
        return Block::text(raw, None).into_iter().collect();
    }
    let raws: Vec<&'a RawValue> = serde_json::from_str(raw).unwrap_or_default();
    raws.into_iter()
        .filter_map(|raw| block(raw.get(), same_api, unknown))
        .collect()
}

/// The blocks of what is not a response: texts and images.
pub(super) fn read_shown<'a>(content: Option<&'a RawValue>, unknown: &mut usize) -> Vec<Block<'a>> {
    let mut blocks = read(content, false, unknown);
    blocks.retain(|block| matches!(block, Block::Text { .. } | Block::Image { .. }));
    blocks
}

/// Reads a block. Signatures count only for the API that gave them (LPI-7).
fn block<'a>(raw: &'a str, same_api: bool, unknown: &mut usize) -> Option<Block<'a>> {
    let Ok(members) = serde_json::from_str::<Members<'a>>(raw) else {
        *unknown += 1;
        return None;
    };
    let text = |key| members.raw_text(key);
    let signature = |key| text(key).filter(|raw| same_api && !json::is_blank(raw));
    match members.text("type").as_deref() {
        Some("text") => Block::text(text("text")?, signature("textSignature")),
        Some("thinking") => Some(Block::Thinking {
            text: text("thinking")?,
            signature: signature("thinkingSignature")?,
            redacted: members
                .get("redacted")
                .is_some_and(|raw| raw.get() == "true"),
        }),
        Some("image") => Some(Block::Image {
            data: Cow::Borrowed(text("data")?),
            mime: Cow::Borrowed(text("mimeType")?),
        }),
        Some("toolCall") => {
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
        _ => {
            *unknown += 1;
            None
        }
    }
}
