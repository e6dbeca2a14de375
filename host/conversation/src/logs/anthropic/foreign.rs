//! What programs that speak to many providers keep in blocks of Anthropic's form for themselves or for other
//! providers, and Anthropic's API refuses.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::blocks::{Block, BlockKind};
use crate::json::{self, Members};
use crate::logs::body::Body;
use crate::model::log::LogFacts;

/// The members that a block of each type has in a request.
const OWN: [(&str, &str); 7] = [
    ("text", "type text citations cache_control"),
    ("image", "type source cache_control"),
    (
        "document",
        "type source title context citations cache_control",
    ),
    ("tool_use", "type id name input cache_control"),
    (
        "tool_result",
        "type tool_use_id content is_error cache_control",
    ),
    ("thinking", "type thinking signature"),
    ("redacted_thinking", "type data"),
];

/// The members of the source of a picture or document.
const SOURCE: &str = "type media_type data url file_id content";

/// Leaves out blocks that cannot be sent, and counts them: reasoning in another provider's form, thinking without
/// a signature, and pictures and documents whose data the program keeps elsewhere.
pub(in crate::logs) fn leave_out(blocks: &mut Vec<Block<'_>>, facts: &mut LogFacts) {
    blocks.retain(|block| {
        let members: Option<Members<'_>> = match block.kind {
            BlockKind::Thinking | BlockKind::Other => serde_json::from_str(block.raw).ok(),
            _ => None,
        };
        let Some(members) = members else {
            return true;
        };
        let says = |key: &str| {
            let value = members.raw(key);
            value.is_some_and(|raw| json::is_text(raw) && !json::is_blank(raw))
        };
        match members.text("type").as_deref() {
            Some("thinking") if !says("signature") => facts.dropped_blocks += 1,
            Some("reasoning" | "thoughtSignature") => facts.dropped_blocks += 1,
            Some("image" | "document") if is_elsewhere(&members) => facts.dropped_attachments += 1,
            _ => return true,
        }
        false
    });
}

/// Whether the data of a picture or document is not in it.
fn is_elsewhere(block: &Members<'_>) -> bool {
    block.object("source").is_some_and(|source| {
        let data = source.get("data").map(RawValue::get);
        data.is_some_and(json::is_blank)
    })
}

/// Leaves out the members of blocks that the API does not know.
pub(in crate::logs) fn leave_out_members(body: &mut Body<'_>) {
    body.rewrite_parts(|block| {
        let members = json::members(block)?;
        let kind = members.text("type")?;
        let (_, own) = OWN.iter().find(|(known, _)| *known == kind)?;
        let source = members
            .get("source")
            .and_then(|source| with_members(source.get(), SOURCE));
        match (with_members(block, own), source) {
            (changed, None) => changed,
            (changed, Some(source)) => {
                let block = changed.map_or(Cow::Borrowed(block), Cow::Owned);
                let old = json::members(&block)?.get("source")?.get();
                Some(json::replaced(&block, old, &source))
            }
        }
    });
}

/// An object with these of its members alone; `None` if it has no others.
fn with_members(raw: &str, own: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(raw).ok()?;
    let all = members.len();
    let kept: Vec<String> = members
        .iter()
        .filter(|(key, _)| own.split(' ').any(|name| name == key))
        .map(|(key, value)| format!("{}:{}", json::encode(key), value.get()))
        .collect();
    (kept.len() < all).then(|| format!("{{{}}}", kept.join(",")))
}
