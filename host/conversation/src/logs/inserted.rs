//! Texts of programs that only the record of a log tells from the user's own.

use baler_provenance::{INSERTED, is_by_program};

use crate::formats::anthropic::write;
use crate::json;

/// A raw text in the tags that say that a program wrote it, its own bytes as they are. `None` if it says
/// so itself, as the program marks it for the model.
pub(super) fn marked(raw: &str) -> Option<String> {
    if is_by_program(&json::decode(raw)) {
        return None;
    }
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(format!(r#""<{INSERTED}>\n{inside}\n</{INSERTED}>""#))
}

/// The same for a block of Anthropic's that has a text, as raw JSON, or for a content that is a text.
pub(super) fn marked_block(raw: &str) -> Option<String> {
    if json::is_text(raw) {
        let text = marked(raw)?;
        return Some(write::text(&text));
    }
    write::with_text(raw, marked)
}
