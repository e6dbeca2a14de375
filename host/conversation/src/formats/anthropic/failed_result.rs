//! Tool results that report an error, as the API accepts them (ANTH-11): texts alone, and at least one.

use serde_json::value::RawValue;

use crate::json;

/// The text of an error that has none.
const NO_TEXT: &str = r#""(no output)""#;

/// Rewrites a result that the API would refuse; `None` if it accepts the result as it is. For logs, which hold
/// what the tool gave.
pub(crate) fn accepted(raw: &str) -> Option<String> {
    let members = json::members(raw)?;
    let mark = members.raw("is_error").filter(|mark| *mark == "true")?;
    let Some(content) = members.get("content") else {
        // It has other members.
        let rest = raw.strip_prefix('{')?;
        return Some(format!(r#"{{"content":{NO_TEXT},{rest}"#));
    };
    let (has_text, has_others) = holds(content);
    // A picture tells more than the mark.
    if has_others {
        Some(json::replaced(raw, mark, "false"))
    } else if has_text {
        None
    } else {
        Some(json::replaced(raw, content.get(), NO_TEXT))
    }
}

/// Whether a content holds a text that is not empty, and whether it holds anything else.
fn holds(content: &RawValue) -> (bool, bool) {
    let raw = content.get();
    if !json::is_list(raw) {
        return (raw != "null" && raw != r#""""#, false);
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
    let mut found = (false, false);
    for block in blocks {
        let text = match json::members(block.get()) {
            Some(members) => members
                .text("text")
                .filter(|_| members.string("type") == "text"),
            None => json::is_text(block.get()).then(|| json::decode(block.get())),
        };
        match text {
            Some(text) => found.0 |= !text.is_empty(),
            None => found.1 = true,
        }
    }
    found
}
