//! The parts of what a recording holds as a content.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::formats::gemini::write::{self as gemini, Part, PartKind};
use crate::json;

/// A text, a part, or a list of both; without empty texts (LGE-4).
pub(super) fn parts(raw: Option<&str>) -> Vec<Part<'_>> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    if !json::is_list(raw) {
        return part(raw).into_iter().collect();
    }
    let raws: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
    raws.into_iter().filter_map(|raw| part(raw.get())).collect()
}

fn part(raw: &str) -> Option<Part<'_>> {
    if json::is_text(raw) {
        return (!json::is_blank(raw)).then(|| gemini::text(raw));
    }
    let members = json::members(raw)?;
    let kind = if members.get("functionResponse").is_some() {
        PartKind::Response
    } else if members.get("functionCall").is_some() {
        PartKind::Call {
            signed: members.get("thoughtSignature").is_some(),
        }
    } else {
        PartKind::Other
    };
    let is_empty = members.0.is_empty()
        || members
            .get("text")
            .is_some_and(|text| json::is_blank(text.get()))
            && members.get("thoughtSignature").is_none();
    let raw = Cow::Borrowed(raw);
    (!is_empty).then_some(Part { raw, kind })
}
