//! The content list of a message, with some of its parts changed.

use std::ops::Range;
use std::slice;

use baler_conversation::document::Document;
use baler_conversation::edit::{self, Replacement};
use baler_conversation::message::Message;

/// The new text of a part.
pub(crate) struct NewText {
    pub(crate) part: usize,
    pub(crate) replacement: Replacement,
}

/// Returns the content list of `message`, which is at `list`, without the parts `removed` and with `texts`
/// replaced in the others. Both are in the order of the parts.
pub(crate) fn without(
    document: &Document,
    message: &Message,
    list: &Range<usize>,
    removed: &[usize],
    texts: &[NewText],
) -> String {
    let mut removed = removed.iter().peekable();
    let mut texts = texts.iter().peekable();
    let mut parts = Vec::with_capacity(message.parts.len());
    for (index, part) in message.parts.iter().enumerate() {
        let is_removed = removed.next_if(|part| **part == index).is_some();
        let text = texts.next_if(|text| text.part == index);
        let is_inside = part.place.start >= list.start && part.place.end <= list.end;
        if is_removed || !is_inside {
            continue;
        }
        let own = text.map_or(&[][..], |text| slice::from_ref(&text.replacement));
        parts.push(edit::replace(document, &part.place, own));
    }
    format!("[{}]", parts.join(","))
}
