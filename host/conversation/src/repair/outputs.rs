//! Outputs and arguments of calls that are not written as their format wants them (CHAT-3, RESP-9, ANTH-11, BED-8).

use super::Reading;
use crate::formats::Replacement;
use crate::json::{self, Place};

/// What to write for the arguments of a call so that they are an object; `None` if `old`, as JSON, is one.
pub(crate) fn arguments(old: Option<&str>) -> Option<String> {
    Some(match old {
        Some(raw) if json::is_object(raw) => return None,
        None | Some("null") => "{}".to_owned(),
        // As other formats spell them.
        Some(raw) if json::is_text(raw) && holds_object(raw) => json::decode(raw).into_owned(),
        Some(raw) => format!(r#"{{"input":{raw}}}"#),
    })
}

/// Whether a raw JSON string holds a JSON object.
fn holds_object(raw: &str) -> bool {
    let text = json::decode(raw);
    json::is_object(&text) && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok()
}

/// What to replace so that the content of an output is a text or a list of parts. JSON of any other kind
/// becomes the text of exactly that JSON, and a bare text in a list a part with that text.
pub(crate) fn content_edits(reading: &Reading, content: &Place) -> Vec<Replacement> {
    let raw = reading.raw(content);
    if json::is_text(raw) {
        return Vec::new();
    }
    if !json::is_list(raw) {
        return vec![Replacement::of(content.clone(), json::encode(raw))];
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
