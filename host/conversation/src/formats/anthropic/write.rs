//! Blocks of this format, written from raw JSON values.

use crate::formats::space_at_the_end as space;
use crate::json::{self, Place};

/// A text.
pub(crate) fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{text}}}"#)
}

/// The model's thinking.
pub(crate) fn thinking(text: &str, signature: &str) -> String {
    format!(r#"{{"type":"thinking","thinking":{text},"signature":{signature}}}"#)
}

/// The model's thinking, encrypted.
pub(crate) fn redacted_thinking(data: &str) -> String {
    format!(r#"{{"type":"redacted_thinking","data":{data}}}"#)
}

/// A picture.
pub(crate) fn picture(mime: &str, data: &str) -> String {
    format!(r#"{{"type":"image","source":{{"type":"base64","media_type":{mime},"data":{data}}}}}"#)
}

/// A call of a tool.
pub(crate) fn call(id: &str, name: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
}

/// What a tool returned.
pub(crate) fn result(id: &str, content: &str, failed: bool) -> String {
    let failed = if failed { r#","is_error":true"# } else { "" };
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content}{failed}}}"#)
}

/// A block whose text is replaced by what `change` makes of it; `None` if the block has no text or `change`
/// leaves it.
pub(crate) fn with_text(
    block: &str,
    change: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let old = json::members(block)?.raw("text")?;
    Some(json::replaced(block, old, &change(old)?))
}

/// Whether a block is thinking.
pub(super) fn is_thinking(block: &str) -> bool {
    let kind = json::members(block).and_then(|members| members.text("type"));
    matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
}

/// Where the white space at the end of a block that is a text lies in it.
pub(super) fn space_at_the_end(block: &str) -> Option<Place> {
    let members = json::members(block)?;
    members.text("type").filter(|kind| kind == "text")?;
    let text = members.raw("text")?;
    space(text, json::place_of(block, text).start)
}
