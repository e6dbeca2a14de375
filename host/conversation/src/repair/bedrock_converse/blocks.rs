//! Blocks that lack what their kind wants (BED-8).

use super::set;
use crate::formats::Replacement;
use crate::json;
use crate::model::message::{Content, Output, Part};
use crate::repair::answers::NONE_RECORDED;
use crate::repair::{Draft, Reading, outputs};

pub(super) fn make_right(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque || message.flaws().is_empty() {
            continue;
        }
        if let Some(place) = message.content.clone()
            && json::is_text(reading.raw(&place))
        {
            let with = format!("[{}]", reading.wire().text_part(reading.raw(&place)));
            let what = "the content became a list of blocks";
            draft.change(index, Replacement { place, with }, what);
            continue;
        }
        for part in &message.parts {
            let (edit, what) = match &part.content {
                Content::Call(_) => (
                    input(reading, part),
                    "the `input` of a `toolUse` became an object",
                ),
                Content::Output(output) => (
                    content(reading, part, output),
                    "the content of a `toolResult` became a list of blocks",
                ),
                _ => continue,
            };
            draft.change(index, edit, what);
        }
    }
}

/// What makes the `input` of a call an object; `None` if it is one.
fn input(reading: &Reading, part: &Part) -> Option<Replacement> {
    let call = reading.member(&part.place, &["toolUse"])?;
    let old = reading.member(&call, &["input"]);
    let with = outputs::arguments(old.as_ref().map(|place| reading.raw(place)))?;
    set(reading, part, "toolUse", "input", &with)
}

/// What makes the content of a result a list of blocks that is not empty; `None` if it is one.
fn content(reading: &Reading, part: &Part, output: &Output) -> Option<Replacement> {
    let text = |raw: &str| reading.wire().text_part(raw);
    let old = output.content.as_ref().map(|place| reading.raw(place));
    let with = match old {
        Some(raw) if json::is_list(raw) && !json::is_empty_list(raw) => {
            return with_blocks_for_texts(reading, output);
        }
        Some(raw) if json::is_text(raw) => format!("[{}]", text(raw)),
        Some(raw) if json::is_object(raw) => format!(r#"[{{"json":{raw}}}]"#),
        Some(raw) if !json::is_list(raw) => format!("[{}]", text(&json::encode(raw))),
        _ => {
            let note = json::encode(&reading.output_note(NONE_RECORDED));
            format!("[{}]", text(&note))
        }
    };
    set(reading, part, "toolResult", "content", &with)
}

/// What makes each bare text in the list of a result a block with that text.
fn with_blocks_for_texts(reading: &Reading, output: &Output) -> Option<Replacement> {
    let place = output.content.clone()?;
    let edits = outputs::content_edits(reading, &place);
    if edits.is_empty() {
        return None;
    }
    let with = crate::formats::replace(&reading.document, &place, &edits);
    Some(Replacement { place, with })
}
