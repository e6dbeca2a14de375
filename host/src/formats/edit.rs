//! Changes inside one message that leave all its other bytes alone.

use super::WireFormat;
use super::json::{self, Place};
use crate::conversation::message::{Content, Message, Part};

/// A change of a message: `with` in the place of `place`.
#[derive(Debug, Clone)]
pub(crate) struct Replacement {
    pub(crate) place: Place,
    pub(crate) with: String,
}

/// The JSON of what lies at `whole` with `replacements`, in order of place, made.
pub(crate) fn replace(document: &str, whole: &Place, replacements: &[Replacement]) -> String {
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

/// What to replace so that `part` reads `text`; none where the part is no text or output.
pub(crate) fn new_text(
    wire: &dyn WireFormat,
    document: &str,
    part: &Part,
    text: &str,
) -> Option<Replacement> {
    match &part.content {
        Content::Text(place) => Some(Replacement {
            place: place.clone(),
            with: json::encode(text),
        }),
        Content::Output(output) => {
            let place = output.content.clone()?;
            let with = if output.others.is_empty() {
                json::encode(text)
            } else {
                // Pictures and the like stay as they are, behind the new text.
                let mut list = vec![wire.text_part(text)];
                list.extend(
                    output
                        .others
                        .iter()
                        .filter_map(|(place, _)| Some(document.get(place.clone())?.to_owned())),
                );
                format!("[{}]", list.join(","))
            };
            Some(Replacement { place, with })
        }
        Content::Thinking(_) | Content::Call(_) | Content::Media(_) | Content::Opaque(_) => None,
    }
}

/// What to replace so that `starts` and `ends` are further parts of `message`, in front of and
/// behind its own.
pub(crate) fn joined(
    wire: &dyn WireFormat,
    document: &str,
    message: &Message,
    starts: &[String],
    ends: &[String],
) -> Option<Replacement> {
    let place = message.content.clone()?;
    let raw = document.get(place.clone())?;
    let own = if json::is_text(raw) {
        format!(r#"{{"type":"text","text":{raw}}}"#)
    } else {
        raw.strip_prefix('[')?.strip_suffix(']')?.to_owned()
    };
    let part = |text: &String| wire.text_part(text);
    let parts: Vec<String> = starts
        .iter()
        .map(part)
        .chain(Some(own).filter(|own| !own.trim().is_empty()))
        .chain(ends.iter().map(part))
        .collect();
    Some(Replacement {
        place,
        with: format!("[{}]", parts.join(",")),
    })
}
