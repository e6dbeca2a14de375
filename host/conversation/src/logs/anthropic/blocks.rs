//! Blocks of messages that a program records as Anthropic's API takes them. They stay raw JSON.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::formats::anthropic::write;
use crate::json::{self, Members};
use crate::logs::inserted;
use crate::model::log::LogFacts;

/// A block, as raw JSON.
pub(in crate::logs) struct Block<'a> {
    pub(in crate::logs) raw: &'a str,
    pub(in crate::logs) kind: BlockKind<'a>,
}

pub(in crate::logs) enum BlockKind<'a> {
    /// A content that is a text: the raw JSON is the text alone.
    Bare,
    Thinking,
    Call(Cow<'a, str>),
    Result(Cow<'a, str>),
    /// A text that nothing but its record tells to be the program's: a text alone, or a block with one.
    Inserted,
    Other,
}

impl<'a> Block<'a> {
    /// Returns the block as an element of a list of blocks.
    pub(in crate::logs) fn listed(&self) -> Cow<'a, str> {
        match self.kind {
            BlockKind::Bare => Cow::Owned(write::text(self.raw)),
            BlockKind::Inserted => {
                inserted::marked_block(self.raw).map_or(Cow::Borrowed(self.raw), Cow::Owned)
            }
            _ => Cow::Borrowed(self.raw),
        }
    }
}

/// Notes which texts only the record tells to be the program's.
pub(in crate::logs) fn mark_inserted(blocks: &mut [Block<'_>]) {
    for block in blocks {
        let is_text = matches!(block.kind, BlockKind::Bare | BlockKind::Other);
        if is_text && inserted::marked_block(block.raw).is_some() {
            block.kind = BlockKind::Inserted;
        }
    }
}

/// The blocks of a content, without empty texts and without what is not a block, which is counted. `None` if
/// it is neither a text nor a list, or where nothing in the list is a block.
pub(in crate::logs) fn blocks<'a>(
    content: &'a RawValue,
    facts: &mut LogFacts,
) -> Option<Vec<Block<'a>>> {
    let raw = content.get();
    if json::is_text(raw) {
        return Some(bare(raw).into_iter().collect());
    }
    let raws: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    let mut blocks = Vec::with_capacity(raws.len());
    let mut odd = 0;
    for raw in raws {
        let raw = raw.get();
        if json::is_text(raw) {
            blocks.extend(bare(raw));
            continue;
        }
        let members = json::members(raw);
        match members.as_ref().and_then(kind_of) {
            None => odd += 1,
            Some(_) if members.as_ref().is_some_and(is_empty_text) => {}
            Some(kind) => blocks.push(Block { raw, kind }),
        }
    }
    facts.dropped_blocks += odd;
    (odd == 0 || !blocks.is_empty()).then_some(blocks)
}

/// The blocks of a member, if it is such a content.
pub(in crate::logs) fn blocks_of<'a>(
    members: &Members<'a>,
    key: &str,
    facts: &mut LogFacts,
) -> Option<Vec<Block<'a>>> {
    blocks(members.present(key)?, facts)
}

/// A text alone as a block, unless it is empty.
fn bare(raw: &str) -> Option<Block<'_>> {
    let kind = BlockKind::Bare;
    (!json::is_blank(raw)).then_some(Block { raw, kind })
}

/// What an object in a list of blocks is; `None` if it is not a block that can be sent.
fn kind_of<'a>(members: &Members<'a>) -> Option<BlockKind<'a>> {
    Some(match members.text("type").as_deref()? {
        "thinking" | "redacted_thinking" => BlockKind::Thinking,
        "tool_use" => BlockKind::Call(members.text("id")?),
        "tool_result" => BlockKind::Result(members.text("tool_use_id")?),
        _ => BlockKind::Other,
    })
}

fn is_empty_text(members: &Members<'_>) -> bool {
    let text = members.get("text");
    members.text("type").as_deref() == Some("text")
        && text.is_none_or(|text| json::is_blank(text.get()))
}

/// Whether some of the blocks are results of tools.
pub(in crate::logs) fn any_result(blocks: &[Block<'_>]) -> bool {
    blocks
        .iter()
        .any(|block| matches!(block.kind, BlockKind::Result(_)))
}

/// The texts among blocks as one text, as of a recorded summary.
pub(in crate::logs) fn joined_texts(blocks: &[Block<'_>]) -> String {
    let texts: Vec<String> = blocks.iter().filter_map(text_of).collect();
    texts.join("\n\n")
}

/// What a block says, if it is a text.
pub(in crate::logs) fn text_of(block: &Block<'_>) -> Option<String> {
    let text = match block.kind {
        BlockKind::Bare => json::decode(block.raw),
        _ => json::members(block.raw)?.text("text")?,
    };
    Some(text.into_owned())
}
