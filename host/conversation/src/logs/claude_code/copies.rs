//! Lines that a resumed session repeats (LCC-17).

use serde_json::value::RawValue;

use crate::json::{self, Members};

/// What a line says, unread.
pub(super) fn words<'a>(line: &Members<'a>) -> Option<&'a RawValue> {
    ["message", "attachment", "content"]
        .iter()
        .find_map(|key| line.get(key))
}

/// Whether two lines with one id are the same. What was counted for a message may differ.
pub(super) fn is_copy(one: Option<&RawValue>, other: Option<&RawValue>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return one.is_none() && other.is_none();
    };
    let content = content_of(one);
    one.get() == other.get() || content.is_some() && content == content_of(other)
}

/// The content of a message, unread.
fn content_of(message: &RawValue) -> Option<&str> {
    let members = json::members(message.get())?;
    members
        .get("role")
        .and(members.get("content"))
        .map(RawValue::get)
}
