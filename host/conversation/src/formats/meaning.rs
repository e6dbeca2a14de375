//! The meaning of opaque parts whose type every format reads alike: gateways pass parts of one format on in
//! another.

use crate::model::message::Meaning;

/// The meaning of an opaque part, by its type.
pub(super) fn of_type(kind: &str) -> Meaning {
    match kind {
        "thinking" | "redacted_thinking" => Meaning::Thinking,
        "reasoning" | "encrypted_content" => Meaning::Reasoning,
        "compaction" => Meaning::Compaction,
        _ => Meaning::Other,
    }
}
