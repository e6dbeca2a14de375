//! How conversations of Anthropic Messages are repaired. Neighbours of one role count as one
//! message, as the API accepts them (ANTH-2).

use std::collections::HashSet;

use crate::formats::anthropic::rules::{
    CACHE_MARKS, is_in_place, pairing, system_groups, turns, with_answers,
};
use crate::formats::rules::common;
use crate::formats::{Replacement, space_at_the_end};
use crate::json;
use crate::model::message::{Call, Content, Message, Output, Part, Role};
use crate::model::pairing::Pairing;
use crate::repair::answers::{ANSWERED, NONE_RECORDED, Waiting};
use crate::repair::moves::{Stray, settle};
use crate::repair::{Draft, Fix, Reading, fixes, ids, texts};

mod blocks;
mod order;
mod servers;

pub(super) const FIXES: &[Fix] = fixes![
    Anth6 => leave_out_empty_texts,
    Anth6 => trim_the_end,
    Anth11 => blocks::make_right,
    All4 => make_ids_unique,
    Anth7 => servers::leave_out_halves,
    Anth4 => settle_results,
    Anth3 => answer_calls,
    Anth3 => order::put_results_first,
    Anth9 => remove_old_cache_marks,
    Anth1 => begin_with_the_user,
    Anth1 => put_instructions_behind_the_user,
];

/// A message of the user with these blocks.
fn message_of(blocks: &str) -> String {
    format!(r#"{{"role":"user","content":[{blocks}]}}"#)
}

/// White space beside other blocks stays: the API accepts it.
fn leave_out_empty_texts(reading: &Reading, draft: &mut Draft<'_>) {
    texts::leave_out(reading, draft, |message| {
        let holds_more = common::holds_more_than_blanks(&reading.document, message);
        let is_empty =
            |part: &Part| matches!(&part.content, Content::Text(place) if place.len() == 2);
        (0..message.parts.len())
            .filter(|part| !holds_more || is_empty(&message.parts[*part]))
            .collect()
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
        let with = String::new();
        draft.edit(index, Replacement { place, with });
        draft.did(index, "white space at the end was removed");
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
    let waiting: HashSet<*const Call> = pairing
        .unanswered
        .iter()
        .map(|call| std::ptr::from_ref(*call))
        .collect();
    turn.iter()
        .enumerate()
        .flat_map(|(index, message)| message.calls().map(move |call| (index, call)))
        .filter(|(_, call)| waiting.contains(&std::ptr::from_ref(*call)))
        .map(|(index, call)| (index, call.id.as_str()))
        .collect()
}

fn settle_results(reading: &Reading, draft: &mut Draft<'_>) {
    let mut waiting = Waiting::default();
    let mut paired: HashSet<*const Output> = HashSet::new();
    for (at, turn, answers) in with_answers(&reading.messages).take_while(|_| !reading.is_late()) {
        let pairing = pairing(turn, answers);
        let mut noted = HashSet::new();
        for (_, id) in unanswered(turn, &pairing) {
            if noted.insert(id) {
                waiting.add(id, at + turn.len());
            }
        }
        if turn.iter().any(|message| message.role == Role::Assistant) {
            let orphans: HashSet<*const Output> = pairing
                .orphans
                .into_iter()
                .map(std::ptr::from_ref)
                .collect();
            let answers = answers.iter().filter(|own| own.role == Role::User);
            let outputs = answers.flat_map(Message::outputs).map(std::ptr::from_ref);
            paired.extend(outputs.filter(|output| !orphans.contains(output)));
        }
    }
    let mut strays = Vec::new();
    for (index, message) in reading.each() {
        for (part, own) in message.parts.iter().enumerate() {
            if let Content::Output(output) = &own.content
                && !paired.contains(&std::ptr::from_ref::<Output>(output))
            {
                strays.push(Stray {
                    message: index,
                    part,
                    to: waiting.take(&output.call_id, index),
                });
            }
        }
    }
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
    let own: u32 = reading.messages.iter().map(|own| own.cache_marks).sum();
    let marks = reading.envelope.cache_marks + own;
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
                draft.edit(index, edit);
                draft.did(index, "a `cache_control` mark was removed");
            }
        }
    }
}

fn begin_with_the_user(reading: &Reading, draft: &mut Draft<'_>) {
    let first = reading.messages.first();
    if first.is_some_and(|first| first.role == Role::Assistant && !first.has_compaction()) {
        draft.put_note_before(0);
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
            draft.put_note_before(group.start);
            continue;
        };
        for index in group {
            draft.move_to(index, turn.end);
            draft.did(
                index,
                "instructions were moved after the next turn of the user",
            );
        }
    }
}
