//! Blocks that lack what their type wants (ANTH-11).

use crate::json;
use crate::model::message::{Content, Output, Part, Role};
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
                    if fix_error(reading, draft, index, part, output) {
                        continue;
                    }
                    let content = output.content.as_ref();
                    let edits = content
                        .map_or_else(Vec::new, |place| outputs::content_edits(reading, place));
                    let what = "the content of a `tool_result` became text";
                    draft.change_all(index, edits, what);
                }
                _ => {}
            }
        }
    }
    leave_out_final_thinking(reading, draft);
}

fn give_input(reading: &Reading, draft: &mut Draft<'_>, index: usize, part: &Part) {
    let old = reading.member(&part.place, &["input"]);
    if let Some(with) = outputs::arguments(old.as_ref().map(|place| reading.raw(place))) {
        let edit = reading.set_member(&part.place, "input", &with);
        draft.change(index, edit, "the `input` of a `tool_use` became an object");
    }
}

/// What reports an error holds texts, and at least one. Returns whether the content was replaced.
fn fix_error(
    reading: &Reading,
    draft: &mut Draft<'_>,
    index: usize,
    part: &Part,
    output: &Output,
) -> bool {
    let place = &part.place;
    let content = output.content.as_ref().map(|place| reading.raw(place));
    let is_json = content.is_some_and(|raw| !json::is_list(raw) && !json::is_text(raw));
    let has_text = is_json || output.texts.iter().any(|text| text.len() > 2);
    let has_others = !output.others.is_empty();
    let is_error = reading
        .member(place, &["is_error"])
        .is_some_and(|mark| reading.raw(&mark) == "true");
    if !is_error || has_text && !has_others {
        return false;
    }
    if has_others {
        let edit = reading.without_member(place, "is_error");
        let what = "removed: the `is_error` of a result with blocks other than texts";
        draft.change(index, edit, what);
    } else {
        let text = json::encode(&reading.output_note(NONE_RECORDED));
        let edit = reading.set_member(place, "content", &text);
        let what = "an empty result that reports an error got a note";
        draft.change(index, edit, what);
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
        draft.leave_out(index, "left out: a response that is only thinking");
    }
}
