//! References: the keys of archived content.

use baler_conversation::Conversation;

use sha2::{Digest as _, Sha256};

/// Hex digits of a reference: 80 bits, short enough for a placeholder.
const DIGITS: usize = 20;

/// Returns the reference under which an archive stores a unit; `None` if the unit does not exist.
#[must_use]
pub fn reference(conversation: &Conversation, unit: usize) -> Option<String> {
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

pub(crate) fn reference_of(content: &[u8]) -> String {
    let mut hex = digest_of(content);
    hex.truncate(DIGITS);
    hex
}

/// SHA-256 in hex digits.
pub(crate) fn digest_of(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn is_reference(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
