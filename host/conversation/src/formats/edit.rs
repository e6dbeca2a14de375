//! Changes inside one message that leave all its other bytes alone.

use crate::json::{self, Place};
use crate::model::document::Document;
use crate::model::format::Format;
use crate::model::message::{Content, Message, Part};

/// A change of a message: `with` in the place of `place`.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// The place that is replaced.
    pub place: Place,
    /// The JSON in its place.
    pub with: String,
}

impl Replacement {
    pub(crate) fn of(place: Place, with: impl Into<String>) -> Self {
        let with = with.into();
        Self { place, with }
    }
}

/// Returns the JSON at `whole` with `replacements` applied, which are in order of place.
pub fn replace(document: &Document, whole: &Place, replacements: &[Replacement]) -> String {
    let mut written = String::with_capacity(whole.len());
    let mut at = whole.start;
    for Replacement { place, with } in replacements {
        written.push_str(document.get(at..place.start).unwrap_or_default());
        written.push_str(with);
        at = place.end;
    }
    written.push_str(document.get(at..whole.end).unwrap_or_default());
    written
}

/// What to replace so that `part` reads `text`; `None` if the part is not a text or output.
pub fn new_text(
    format: Format,
    document: &Document,
    part: &Part,
    text: &str,
) -> Option<Replacement> {
    match &part.content {
        Content::Text(place) => Some(Replacement::of(place.clone(), json::encode(text))),
        Content::Output(output) => {
            let others: Vec<&str> = output
                .others
                .iter()
                .filter_map(|(place, _)| document.get(place.clone()))
                .collect();
            let place = output.content.clone()?;
            let old = document.get(place.clone())?;
            let text = json::encode(text);
            let with = format.wire().output_content(old, &text, &others);
            Some(Replacement { place, with })
        }
        Content::Thinking(_) | Content::Call(_) | Content::Media(_) | Content::Opaque(_) => None,
    }
}

/// What to replace so that `starts` and `ends` are further parts of `message`, before and
/// after its own.
pub fn joined(
    format: Format,
    document: &Document,
    message: &Message,
    starts: &[String],
    ends: &[String],
) -> Option<Replacement> {
    let wire = format.wire();
    let place = message.content.clone()?;
    let raw = document.get(place.clone())?;
    let own = if json::is_text(raw) {
        wire.text_part(raw)
    } else {
        raw.strip_prefix('[')?.strip_suffix(']')?.to_owned()
    };
    let part = |text: &String| wire.text_part(&json::encode(text));
    let parts: Vec<String> = starts
        .iter()
        .map(part)
        .chain(Some(own).filter(|own| !own.trim().is_empty()))
        .chain(ends.iter().map(part))
        .collect();
    Some(Replacement::of(place, format!("[{}]", parts.join(","))))
}
