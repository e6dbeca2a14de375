//! Outputs that are not written as their format wants them (CHAT-3, RESP-9, ANTH-11).

use super::Reading;
use crate::formats::Replacement;
use crate::json::{self, Place};

/// What to replace so that the content of an output is a text or a list of parts. JSON of any other kind
/// becomes the text of exactly that JSON, and a bare text in a list a part with that text.
pub(crate) fn content_edits(reading: &Reading, content: &Place) -> Vec<Replacement> {
    let raw = reading.raw(content);
    if json::is_text(raw) {
        return Vec::new();
    }
    if !json::is_list(raw) {
        return vec![Replacement {
            place: content.clone(),
            with: json::encode(raw),
        }];
    }
    let mut edits = Vec::new();
    let mut elements = json::objects(raw, content.start);
    loop {
        if let Some(place) = elements.next_text() {
            let with = reading.wire().text_part(reading.raw(&place));
            edits.push(Replacement { place, with });
        } else if elements.next().is_none() {
            return edits;
        }
    }
}
