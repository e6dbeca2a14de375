//! How conversations of Gemini are repaired.

use std::collections::HashMap;
use std::slice::from_ref;

use crate::formats::Replacement;
use crate::formats::gemini::read::{EMPTY, has_signature};
use crate::formats::gemini::rules::{pairing, takes_calls_behind};
use crate::json::{self, Place};
use crate::model::message::{Call, Content, Message, Output, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::Rule;
use crate::repair::answers::{NONE_RECORDED, Waiting};
use crate::repair::moves::{self, last_output, settle, strays};
use crate::repair::{Draft, Fix, Reading, ids, texts};

pub(super) const FIXES: &[Fix] = &[
    (Rule::Gem5, leave_out_empty_parts),
    (Rule::Gem4, make_responses_objects),
    (Rule::All4, make_ids_unique),
    (Rule::Gem2, name_responses),
    (Rule::Gem2, settle_responses),
    (Rule::Gem2, answer_calls),
    (Rule::Gem2, part_calls_from_the_models_words),
    (Rule::Gem1, moves::begin_with_the_user),
];

/// What a part calls a response, in either spelling.
const RESPONSE: [&str; 2] = ["functionResponse", "function_response"];

/// A content of the user with these parts.
fn content_of(parts: &str) -> String {
    format!(r#"{{"role":"user","parts":[{parts}]}}"#)
}

fn leave_out_empty_parts(reading: &Reading, draft: &mut Draft<'_>) {
    let mut speakers = texts::Speakers::of(reading);
    for (index, message) in reading.each() {
        let is_signed = |part: &Part| {
            json::members(reading.raw(&part.place)).is_none_or(|part| has_signature(&part))
        };
        let is_empty = |part: &Part| match &part.content {
            Content::Opaque(opaque) => opaque.kind == EMPTY,
            _ => part.is_empty_text(),
        };
        let parts = message.parts_where(is_empty);
        if parts.len() == message.parts.len() {
            if speakers.may_go(message) {
                draft.leave_out(index, texts::MESSAGE);
            }
            continue;
        }
        if parts.is_empty() {
            continue;
        }
        // An empty part is no reason to take the others for sealed.
        let is_sealed = message.parts.iter().any(|part| {
            !is_empty(part) && (matches!(part.content, Content::Opaque(_)) || is_signed(part))
        });
        if !is_sealed {
            draft.cut_parts(index, &parts, texts::PART);
        }
    }
}

fn make_responses_objects(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque {
            continue;
        }
        for part in &message.parts {
            if !part.is_output() {
                continue;
            }
            let Some(outer) = reading.member(&part.place, &RESPONSE) else {
                continue;
            };
            let edit = match reading.member(&outer, &["response"]) {
                Some(place) if reading.raw(&place).starts_with('{') => None,
                Some(place) => {
                    let with = format!(r#"{{"output":{}}}"#, reading.raw(&place));
                    Some(Replacement { place, with })
                }
                None => reading.with_member(&outer, "response", "{}"),
            };
            draft.change(index, edit, "a `response` became an object");
        }
    }
}

fn make_ids_unique(reading: &Reading, draft: &mut Draft<'_>) {
    ids::make_unique(reading, draft, |reading, part| {
        let keys = match &part.content {
            Content::Call(_) => ["functionCall", "function_call"],
            _ => RESPONSE,
        };
        let inner = reading.member(&part.place, &keys)?;
        reading.member(&inner, &["id"])
    });
}

/// Responses under other names than the only calls that they can answer get those. Without ids,
/// where they stand tells more than what they are called.
fn name_responses(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message, next) in reading.pairs() {
        if !calls(message) || next.opaque {
            continue;
        }
        let pairing = Pairing::between(message.calls(), next.outputs(), false);
        let (calls, strays) = (&pairing.unanswered, &pairing.orphans);
        let has_no_ids = calls.iter().all(|call| call.id.is_empty())
            && strays.iter().all(|output| output.call_id.is_empty());
        if calls.len() != strays.len() || !has_no_ids {
            continue;
        }
        let places: HashMap<*const Output, &Place> = next
            .parts
            .iter()
            .filter_map(|part| match &part.content {
                Content::Output(output) => {
                    Some((std::ptr::from_ref::<Output>(output), &part.place))
                }
                _ => None,
            })
            .collect();
        for (call, stray) in calls.iter().zip(strays) {
            let place = places.get(&std::ptr::from_ref(*stray));
            let inner = place.and_then(|place| reading.member(place, &RESPONSE));
            let name = json::encode(&call.name);
            let edit = inner.and_then(|inner| reading.set_member(&inner, "name", &name));
            draft.change(index + 1, edit, "a response got the name of its call");
        }
    }
}

fn settle_responses(reading: &Reading, draft: &mut Draft<'_>) {
    let messages = &reading.messages;
    let mut orphans: Among<Output> = Among::default();
    let (mut by_id, mut by_name) = (Waiting::default(), Waiting::default());
    for (index, message) in reading.each() {
        let next = messages.get(index + 1);
        if calls(message) {
            let pairing = match next {
                Some(next) => pairing(from_ref(message), from_ref(next)),
                None => Pairing::of([message]),
            };
            // Nothing can join answers that are sealed.
            let is_sealed = next.is_some_and(|next| next.opaque && next.has_outputs());
            for call in pairing.unanswered.iter().filter(|_| !is_sealed) {
                if !call.id.is_empty() {
                    by_id.add(&call.id, index + 1);
                }
                by_name.add(&call.name, index + 1);
            }
        }
        if message.has_outputs() {
            let before = index.checked_sub(1).map(|before| &messages[before]);
            match before.filter(|before| before.has_calls()) {
                Some(before) => {
                    let pairing = pairing(from_ref(before), from_ref(message));
                    orphans.add(pairing.orphans.into_iter().chain(pairing.second));
                }
                None => orphans.add(message.outputs()),
            }
        }
    }
    let is_stray = |output: &Output| orphans.has(output);
    let strays = strays(reading, is_stray, |output, index| {
        if output.call_id.is_empty() {
            by_name.take(&output.name, index)
        } else {
            by_id.take(&output.call_id, index)
        }
    });
    let behind = |to: usize| last_output(messages.get(to)?, &orphans).map(|part| (to, part));
    settle(reading, draft, &strays, behind, content_of);
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    let output = |part: &Part, call: &Call| answer(reading, part, call);
    moves::answer_calls(reading, draft, unanswered, output, content_of);
}

fn unanswered<'m>(message: &'m Message, next: &'m Message) -> Vec<&'m Call> {
    let pairing = calls(message).then(|| pairing(from_ref(message), from_ref(next)));
    pairing
        .map(|pairing| pairing.unanswered)
        .unwrap_or_default()
}

/// Whether the content after it has to answer a content.
fn calls(message: &Message) -> bool {
    message.role == Role::Assistant && message.has_calls()
}

/// A part that answers a call, spelled as the call is.
fn answer(reading: &Reading, part: &Part, call: &Call) -> String {
    let is_snake = reading.member(&part.place, &["function_call"]).is_some();
    let key = if is_snake {
        "function_response"
    } else {
        "functionResponse"
    };
    let id = if call.id.is_empty() {
        String::new()
    } else {
        format!(r#""id":{},"#, json::encode(&call.id))
    };
    let name = json::encode(&call.name);
    let text = json::encode(&reading.output_note(NONE_RECORDED));
    format!(r#"{{"{key}":{{{id}"name":{name},"response":{{"error":{text}}}}}}}"#)
}

fn part_calls_from_the_models_words(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, before, message) in reading.pairs() {
        if calls(message) && before.role == Role::Assistant && !takes_calls_behind(before) {
            draft.put_note_of(Role::User, index + 1);
        }
    }
}
