//! How conversations of Anthropic Messages are repaired. Neighbours of one role count as one
//! message, as the API accepts them (ANTH-2).

use std::collections::HashSet;

use crate::formats::anthropic::rules::{
    CACHE_MARKS, is_in_place, pairing, system_groups, turns, with_answers,
};
use crate::formats::rules::common;
use crate::formats::{Replacement, space_at_the_end};
use crate::json;
use crate::model::message::{Content, Message, Output, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::Rule;
use crate::repair::answers::{ANSWERED, NONE_RECORDED, Waiting};
use crate::repair::moves::{message_of, settle, strays};
use crate::repair::{Draft, Fix, Reading, ids, texts};

mod blocks;
mod order;
mod servers;

pub(super) const FIXES: &[Fix] = &[
    (Rule::Anth6, leave_out_empty_texts),
    (Rule::Anth6, trim_the_end),
    (Rule::Anth11, blocks::make_right),
    (Rule::All4, make_ids_unique),
    (Rule::Anth7, servers::leave_out_halves),
    (Rule::Anth4, settle_results),
    (Rule::Anth3, answer_calls),
    (Rule::Anth3, order::put_results_first),
    (Rule::Anth9, remove_old_cache_marks),
    (Rule::Anth1, begin_with_the_user),
    (Rule::Anth1, put_instructions_behind_the_user),
];

/// White space beside other blocks stays: the API accepts it.
fn leave_out_empty_texts(reading: &Reading, draft: &mut Draft<'_>) {
    texts::leave_out(reading, draft, |message| {
        let holds_more = common::holds_more_than_blanks(&reading.document, message);
        message.parts_where(|part| !holds_more || part.is_empty_text())
    });
}

fn trim_the_end(reading: &Reading, draft: &mut Draft<'_>) {
    let Some((index, last)) = reading.messages.iter().enumerate().next_back() else {
        return;
    };
    if last.role != Role::Assistant || last.opaque {
        return;
    }
    if let Some(Content::Text(place)) = last.parts.last().map(|part| &part.content)
        && let Some(place) = space_at_the_end(reading.raw(place), place.start)
    {
        let edit = Replacement::of(place, "");
        draft.change(index, edit, "white space at the end was removed");
    }
}

fn make_ids_unique(reading: &Reading, draft: &mut Draft<'_>) {
    ids::make_unique(reading, draft, |reading, part| {
        let key = match &part.content {
            Content::Call(_) => "id",
            _ => "tool_use_id",
        };
        reading.member(&part.place, &[key])
    });
}

/// The calls of a turn that those after it do not answer, with the indices of their messages in it.
fn unanswered<'a>(turn: &'a [Message], pairing: &Pairing<'a>) -> Vec<(usize, &'a str)> {
    let waiting = Among::of(pairing.unanswered.iter().copied());
    turn.iter()
        .enumerate()
        .flat_map(|(index, message)| message.calls().map(move |call| (index, call)))
        .filter(|(_, call)| waiting.has(call))
        .map(|(index, call)| (index, call.id.as_str()))
        .collect()
}

fn settle_results(reading: &Reading, draft: &mut Draft<'_>) {
    let mut waiting = Waiting::default();
    let mut paired: Among<Output> = Among::default();
    for (at, turn, answers) in with_answers(&reading.messages).take_while(|_| !reading.is_late()) {
        let pairing = pairing(turn, answers);
        let mut noted = HashSet::new();
        for (_, id) in unanswered(turn, &pairing) {
            if noted.insert(id) {
                waiting.add(id, at + turn.len());
            }
        }
        if turn.iter().any(|message| message.role == Role::Assistant) {
            let orphans = Among::of(pairing.orphans);
            let answers = answers.iter().filter(|own| own.role == Role::User);
            let outputs = answers.flat_map(Message::outputs);
            paired.add(outputs.filter(|output| !orphans.has(output)));
        }
    }
    let is_stray = |output: &Output| !paired.has(output);
    let strays = strays(reading, is_stray, |output, index| {
        waiting.take(&output.call_id, index)
    });
    settle(reading, draft, &strays, |_| None, message_of);
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    let text = json::encode(&reading.output_note(NONE_RECORDED));
    for (at, turn, answers) in with_answers(&reading.messages).take_while(|_| !reading.is_late()) {
        let end = at + turn.len();
        if end == reading.messages.len() {
            continue;
        }
        let mut results = Vec::new();
        for (index, id) in unanswered(turn, &pairing(turn, answers)) {
            let id = json::encode(id);
            results.push(format!(
                r#"{{"type":"tool_result","tool_use_id":{id},"content":{text},"is_error":true}}"#
            ));
            draft.did(at + index, ANSWERED);
        }
        if !results.is_empty() {
            draft.add(end, 0, message_of(&results.join(",")));
        }
    }
}

fn remove_old_cache_marks(reading: &Reading, draft: &mut Draft<'_>) {
    let marks = common::cache_marks(&reading.envelope, &reading.messages);
    let mut left = marks.saturating_sub(CACHE_MARKS);
    let is_marked = |part: &Part| {
        let mark = reading.member(&part.place, &["cache_control"]);
        mark.is_some_and(|place| reading.raw(&place) != "null")
    };
    for (index, message) in reading.each() {
        if message.opaque || message.cache_marks == 0 {
            continue;
        }
        for (_, part) in reading.elements(message) {
            if left == 0 {
                return;
            }
            if is_marked(part)
                && let Some(edit) = reading.without_member(&part.place, "cache_control")
            {
                left -= 1;
                draft.change(index, edit, "a `cache_control` mark was removed");
            }
        }
    }
}

fn begin_with_the_user(reading: &Reading, draft: &mut Draft<'_>) {
    let first = reading.messages.first();
    if first.is_some_and(|first| first.role == Role::Assistant && !first.has_compaction()) {
        draft.put_note_of(Role::User, 0);
    }
}

/// Instructions in the middle go after the next turn of the user; where there is none, a note comes
/// before them. Those before all else have no other place than `system`.
fn put_instructions_behind_the_user(reading: &Reading, draft: &mut Draft<'_>) {
    let messages = &reading.messages;
    let of_user: Vec<_> = turns(messages)
        .filter(|(_, turn)| turn.iter().any(|message| message.role == Role::User))
        .map(|(at, turn)| at..at + turn.len())
        .collect();
    for group in system_groups(messages).take_while(|_| !reading.is_late()) {
        if group.start == 0 || is_in_place(messages, &group) {
            continue;
        }
        let next = of_user.partition_point(|turn| turn.start < group.end);
        let Some(turn) = of_user.get(next) else {
            draft.put_note_of(Role::User, group.start);
            continue;
        };
        let what = "instructions were moved after the next turn of the user";
        for index in group {
            draft.move_to(index, turn.end, what);
        }
    }
}
