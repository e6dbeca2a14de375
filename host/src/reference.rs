//! References: the keys of archived content.

use baler_conversation::Conversation;

use crate::content_hash::ContentHash;

/// Hex digits of a reference: 80 bits, short enough for a placeholder.
const DIGITS: usize = 20;

/// The reference of a unit; `None` if the unit does not exist.
pub(crate) fn reference(conversation: &Conversation, unit: usize) -> Option<String> {
    conversation.units().get(unit)?;
    Some(reference_of(messages_of(conversation, unit).as_bytes()))
}

/// The messages of a unit, as a JSON list.
pub(crate) fn messages_of(conversation: &Conversation, unit: usize) -> String {
    list_of(conversation.raw_messages(unit))
}

/// A JSON list of values.
pub(crate) fn list_of<'a>(values: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

pub(super) fn reference_of(content: &[u8]) -> String {
    let mut hex = digest_of(content);
    hex.truncate(DIGITS);
    hex
}

/// SHA-256 in hex digits.
pub(super) fn digest_of(content: &[u8]) -> String {
    ContentHash::of(content).hex()
}

pub(super) fn is_reference(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
