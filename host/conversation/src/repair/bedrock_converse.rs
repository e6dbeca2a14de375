//! How conversations of Bedrock Converse are repaired.

use std::collections::HashSet;

use crate::formats::Replacement;
use crate::formats::bedrock_converse::read::is_cache_point;
use crate::formats::bedrock_converse::rules::{calls, is_empty, pairing};
use crate::formats::rules::common;
use crate::json;
use crate::model::message::{Call, Content, Message, Output, Part, Role};
use crate::model::pairing::Pairing;
use crate::repair::answers::{ANSWERED, NONE_RECORDED, Waiting};
use crate::repair::moves::{Stray, join, settle};
use crate::repair::{Draft, Fix, Reading, fixes, ids, texts};

mod blocks;
mod cache_points;
mod documents;

pub(super) const FIXES: &[Fix] = fixes![
    Bed6 => leave_out_blank_texts,
    Bed8 => blocks::make_right,
    All4 => make_ids_unique,
    Bed4 => settle_results,
    Bed3 => answer_calls,
    Bed9 => documents::introduce,
    Bed9 => documents::name,
    Bed10 => cache_points::remove_behind_reasoning,
    Bed10 => cache_points::remove_old,
    Bed1 => begin_with_the_user,
    Bed2 => part_neighbours,
];

/// A message of the user with these blocks.
fn message_of(blocks: &str) -> String {
    format!(r#"{{"role":"user","content":[{blocks}]}}"#)
}

fn leave_out_blank_texts(reading: &Reading, draft: &mut Draft<'_>) {
    let mut speakers = texts::Speakers::of(reading);
    let is_blank = |part: &Part| common::is_blank_part(&reading.document, part);
    for (index, message) in reading.each() {
        let blank: Vec<usize> = (0..message.parts.len())
            .filter(|part| is_blank(&message.parts[*part]))
            .collect();
        if blank.is_empty() && !is_empty(message) {
            continue;
        }
        let mut parts = message.parts.iter();
        if parts.all(|part| is_blank(part) || is_cache_point(&part.content)) {
            if speakers.may_go(message) {
                draft.leave_out(index);
                draft.did(index, texts::MESSAGE);
            }
        } else if !message.opaque && draft.cut_parts(index, &blank) {
            draft.did(index, texts::PART);
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
    let mut orphans: HashSet<*const Output> = HashSet::new();
    let mut waiting = Waiting::default();
    for (index, message) in reading.each() {
        if calls(message) {
            let next = messages.get(index + 1);
            let unanswered = match next {
                Some(next) => pairing(message, next).unanswered,
                None => Pairing::of([message]).unanswered,
            };
            // Nothing can join results that are sealed.
            let is_sealed = next.is_some_and(|next| next.opaque && next.outputs().next().is_some());
            for call in unanswered.iter().filter(|_| !is_sealed) {
                waiting.add(&call.id, index + 1);
            }
        }
        let before = index.checked_sub(1).map(|before| &messages[before]);
        match before.filter(|before| calls(before) && message.role == Role::User) {
            Some(before) => {
                let pairing = pairing(before, message).orphans;
                orphans.extend(pairing.into_iter().map(std::ptr::from_ref));
            }
            None => orphans.extend(message.outputs().map(std::ptr::from_ref)),
        }
    }
    let mut strays = Vec::new();
    for (index, message) in reading.each() {
        for (part, own) in message.parts.iter().enumerate() {
            if let Content::Output(output) = &own.content
                && orphans.contains(&std::ptr::from_ref::<Output>(output))
            {
                strays.push(Stray {
                    message: index,
                    part,
                    to: waiting.take(&output.call_id, index),
                });
            }
        }
    }
    let behind = |to: usize| last_result(messages.get(to)?, &orphans).map(|part| (to, part));
    settle(reading, draft, &strays, behind, message_of);
}

/// The index of the last part that answers a call of the message before.
fn last_result(message: &Message, orphans: &HashSet<*const Output>) -> Option<usize> {
    message.parts.iter().rposition(|part| match &part.content {
        Content::Output(output) => !orphans.contains(&std::ptr::from_ref::<Output>(output)),
        _ => false,
    })
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    let note = json::encode(&reading.output_note(NONE_RECORDED));
    for (index, message, next) in reading.pairs() {
        if !calls(message) {
            continue;
        }
        let unanswered: HashSet<*const Call> = pairing(message, next)
            .unanswered
            .into_iter()
            .map(std::ptr::from_ref)
            .collect();
        let behind = last_result(next, &HashSet::new());
        if unanswered.is_empty() || behind.is_some() && next.opaque {
            continue;
        }
        let mut results = Vec::new();
        for call in message.calls() {
            if unanswered.contains(&std::ptr::from_ref(call)) {
                let id = json::encode(&call.id);
                results.push(format!(
                    r#"{{"toolResult":{{"toolUseId":{id},"content":[{{"text":{note}}}],"status":"error"}}}}"#
                ));
                draft.did(index, ANSWERED);
            }
        }
        match behind {
            Some(part) => join(reading, draft, index + 1, part, &results),
            None => draft.add(index + 1, 0, message_of(&results.join(","))),
        }
    }
}

fn begin_with_the_user(reading: &Reading, draft: &mut Draft<'_>) {
    let first = reading.messages.first();
    if first.is_some_and(|first| first.role == Role::Assistant) {
        draft.put_note_before(0);
    }
}

/// Neighbours stay messages of their own: some models refuse words beside results, which joining would put
/// there.
fn part_neighbours(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, before, message) in reading.pairs() {
        match (before.role, message.role) {
            (Role::User, Role::User) => draft.put_note_of(Role::Assistant, index + 1),
            (Role::Assistant, Role::Assistant) => draft.put_note_before(index + 1),
            _ => {}
        }
    }
}

/// What replaces the member of a block's own object.
fn set(reading: &Reading, part: &Part, kind: &str, key: &str, value: &str) -> Option<Replacement> {
    let inner = reading.member(&part.place, &[kind])?;
    reading.set_member(&inner, key, value)
}
