//! Blocks that lack what their type wants (ANTH-11).

use crate::formats::Replacement;
use crate::json::{self, Place};
use crate::model::message::{Content, Part, Role};
use crate::repair::answers::NONE_RECORDED;
use crate::repair::{Draft, Reading, outputs, texts};

pub(super) fn make_right(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque || message.flaws().is_empty() {
            continue;
        }
        for part in &message.parts {
            match &part.content {
                Content::Call(_) => give_input(reading, draft, index, part),
                Content::Output(output) => {
                    let has_text = output.texts.iter().any(|text| text.len() > 2);
                    let has_others = !output.others.is_empty();
                    let is_list = |place: &Place| json::is_list(reading.raw(place));
                    let is_json = output
                        .content
                        .as_ref()
                        .is_some_and(|place| !is_list(place) && !json::is_text(reading.raw(place)));
                    let has_text = has_text || is_json;
                    if fix_error(reading, draft, index, &part.place, has_text, has_others) {
                        continue;
                    }
                    let content = output.content.as_ref();
                    let edits = content
                        .map_or_else(Vec::new, |place| outputs::content_edits(reading, place));
                    if !edits.is_empty() {
                        draft.did(index, "the content of a `tool_result` became text");
                    }
                    for edit in edits {
                        draft.edit(index, edit);
                    }
                }
                _ => {}
            }
        }
    }
    leave_out_final_thinking(reading, draft);
}

fn give_input(reading: &Reading, draft: &mut Draft<'_>, index: usize, part: &Part) {
    let old = reading.member(&part.place, &["input"]);
    let with = match old.as_ref().map(|place| reading.raw(place)) {
        Some(raw) if json::is_object(raw) => return,
        None | Some("null") => "{}".to_owned(),
        // Arguments as the formats of others spell them.
        Some(raw) if json::is_text(raw) && holds_object(raw) => json::decode(raw).into_owned(),
        Some(raw) => format!(r#"{{"input":{raw}}}"#),
    };
    if let Some(edit) = reading.set_member(&part.place, "input", &with) {
        draft.edit(index, edit);
        draft.did(index, "the `input` of a `tool_use` became an object");
    }
}

/// Whether a raw JSON string holds a JSON object.
fn holds_object(raw: &str) -> bool {
    let text = json::decode(raw);
    json::is_object(&text) && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok()
}

/// What reports an error holds texts, and at least one. Returns whether the content was replaced.
fn fix_error(
    reading: &Reading,
    draft: &mut Draft<'_>,
    index: usize,
    place: &Place,
    has_text: bool,
    has_others: bool,
) -> bool {
    let is_error = reading
        .member(place, &["is_error"])
        .is_some_and(|mark| reading.raw(&mark) == "true");
    if !is_error || has_text && !has_others {
        return false;
    }
    let edit: Option<Replacement> = if has_others {
        reading.without_member(place, "is_error")
    } else {
        let text = json::encode(&reading.output_note(NONE_RECORDED));
        reading.set_member(place, "content", &text)
    };
    if let Some(edit) = edit {
        draft.edit(index, edit);
        draft.did(
            index,
            if has_others {
                "removed: the `is_error` of a result with blocks other than texts"
            } else {
                "an empty result that reports an error got a note"
            },
        );
    }
    !has_others
}

/// A final message of nothing but thinking is half a response.
fn leave_out_final_thinking(reading: &Reading, draft: &mut Draft<'_>) {
    let Some((index, last)) = reading.messages.iter().enumerate().next_back() else {
        return;
    };
    let is_thinking = last.parts.iter().all(|part| part.content.is_thinking());
    if last.role == Role::Assistant
        && is_thinking
        && !last.parts.is_empty()
        && texts::Speakers::of(reading).may_go(last)
    {
        draft.leave_out(index);
        draft.did(index, "left out: a response that is only thinking");
    }
}
