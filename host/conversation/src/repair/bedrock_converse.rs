//! How conversations of Bedrock Converse are repaired.

use crate::formats::Replacement;
use crate::formats::bedrock_converse::read::is_cache_point;
use crate::formats::bedrock_converse::rules::{calls, is_empty, pairing};
use crate::formats::rules::common;
use crate::json;
use crate::model::message::{Call, Message, Output, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::Rule;
use crate::repair::answers::{NONE_RECORDED, Waiting};
use crate::repair::moves::{self, last_output, message_of, settle, strays};
use crate::repair::{Draft, Fix, Reading, ids, texts};

mod blocks;
mod cache_points;
mod documents;

pub(super) const FIXES: &[Fix] = &[
    (Rule::Bed6, leave_out_blank_texts),
    (Rule::Bed8, blocks::make_right),
    (Rule::All4, make_ids_unique),
    (Rule::Bed4, settle_results),
    (Rule::Bed3, answer_calls),
    (Rule::Bed9, documents::introduce),
    (Rule::Bed9, documents::name),
    (Rule::Bed10, cache_points::remove_behind_reasoning),
    (Rule::Bed10, cache_points::remove_old),
    (Rule::Bed1, moves::begin_with_the_user),
    (Rule::Bed2, part_neighbours),
];

fn leave_out_blank_texts(reading: &Reading, draft: &mut Draft<'_>) {
    let mut speakers = texts::Speakers::of(reading);
    let is_blank = |part: &Part| common::is_blank_part(&reading.document, part);
    for (index, message) in reading.each() {
        let blank = message.parts_where(is_blank);
        if blank.is_empty() && !is_empty(message) {
            continue;
        }
        let mut parts = message.parts.iter();
        if parts.all(|part| is_blank(part) || is_cache_point(&part.content)) {
            if speakers.may_go(message) {
                draft.leave_out(index, texts::MESSAGE);
            }
        } else if !message.opaque {
            draft.cut_parts(index, &blank, texts::PART);
        }
    }
}

fn make_ids_unique(reading: &Reading, draft: &mut Draft<'_>) {
    ids::make_unique(reading, draft, |reading, part| {
        let inner = reading.member(&part.place, &["toolUse", "toolResult"])?;
        reading.member(&inner, &["toolUseId"])
    });
}

fn settle_results(reading: &Reading, draft: &mut Draft<'_>) {
    let messages = &reading.messages;
    let mut orphans: Among<Output> = Among::default();
    let mut waiting = Waiting::default();
    for (index, message) in reading.each() {
        if calls(message) {
            let next = messages.get(index + 1);
            let unanswered = match next {
                Some(next) => pairing(message, next).unanswered,
                None => Pairing::of([message]).unanswered,
            };
            // Nothing can join results that are sealed.
            let is_sealed = next.is_some_and(|next| next.opaque && next.has_outputs());
            for call in unanswered.iter().filter(|_| !is_sealed) {
                waiting.add(&call.id, index + 1);
            }
        }
        let before = index.checked_sub(1).map(|before| &messages[before]);
        match before.filter(|before| calls(before) && message.role == Role::User) {
            Some(before) => orphans.add(pairing(before, message).orphans),
            None => orphans.add(message.outputs()),
        }
    }
    let is_stray = |output: &Output| orphans.has(output);
    let strays = strays(reading, is_stray, |output, index| {
        waiting.take(&output.call_id, index)
    });
    let behind = |to: usize| last_output(messages.get(to)?, &orphans).map(|part| (to, part));
    settle(reading, draft, &strays, behind, message_of);
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    let note = json::encode(&reading.output_note(NONE_RECORDED));
    let output = |_: &Part, call: &Call| {
        let id = json::encode(&call.id);
        format!(
            r#"{{"toolResult":{{"toolUseId":{id},"content":[{{"text":{note}}}],"status":"error"}}}}"#
        )
    };
    moves::answer_calls(reading, draft, unanswered, output, message_of);
}

fn unanswered<'m>(message: &'m Message, next: &'m Message) -> Vec<&'m Call> {
    let pairing = calls(message).then(|| pairing(message, next));
    pairing
        .map(|pairing| pairing.unanswered)
        .unwrap_or_default()
}

/// Neighbours stay messages of their own: some models refuse words beside results, which joining would put
/// there.
fn part_neighbours(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, before, message) in reading.pairs() {
        match (before.role, message.role) {
            (Role::User, Role::User) => draft.put_note_of(Role::Assistant, index + 1),
            (Role::Assistant, Role::Assistant) => draft.put_note_of(Role::User, index + 1),
            _ => {}
        }
    }
}

/// What replaces the member of a block's own object.
fn set(reading: &Reading, part: &Part, kind: &str, key: &str, value: &str) -> Option<Replacement> {
    let inner = reading.member(&part.place, &[kind])?;
    reading.set_member(&inner, key, value)
}
