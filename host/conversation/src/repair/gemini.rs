//! How conversations of Gemini are repaired.

use std::collections::{HashMap, HashSet};
use std::slice::from_ref;

use crate::formats::Replacement;
use crate::formats::gemini::read::{EMPTY, has_signature};
use crate::formats::gemini::rules::{has_calls, pairing, takes_calls_behind};
use crate::json::{self, Members, Place};
use crate::model::message::{Call, Content, Message, Output, Part, Role};
use crate::model::pairing::Pairing;
use crate::repair::answers::{ANSWERED, NONE_RECORDED, Waiting};
use crate::repair::moves::{Stray, join, settle};
use crate::repair::{Draft, Fix, Reading, fixes, ids, texts};

pub(super) const FIXES: &[Fix] = fixes![
    Gem5 => leave_out_empty_parts,
    Gem4 => make_responses_objects,
    All4 => make_ids_unique,
    Gem2 => name_responses,
    Gem2 => settle_responses,
    Gem2 => answer_calls,
    Gem2 => part_calls_from_the_models_words,
    Gem1 => begin_with_the_user,
];

/// A content of the user with these parts.
fn content_of(parts: &str) -> String {
    format!(r#"{{"role":"user","parts":[{parts}]}}"#)
}

fn leave_out_empty_parts(reading: &Reading, draft: &mut Draft<'_>) {
    let mut speakers = texts::Speakers::of(reading);
    for (index, message) in reading.each() {
        let is_signed = |part: &Part| {
            serde_json::from_str::<Members<'_>>(reading.raw(&part.place))
                .map_or(true, |part| has_signature(&part))
        };
        let is_empty = |part: &Part| match &part.content {
            Content::Text(place) => place.len() == 2,
            Content::Opaque(opaque) => opaque.kind == EMPTY,
            _ => false,
        };
        let parts: Vec<usize> = (0..message.parts.len())
            .filter(|part| is_empty(&message.parts[*part]))
            .collect();
        if parts.len() == message.parts.len() {
            if speakers.may_go(message) {
                draft.leave_out(index);
                draft.did(index, texts::MESSAGE);
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
        if !is_sealed && draft.cut_parts(index, &parts) {
            draft.did(index, texts::PART);
        }
    }
}

fn make_responses_objects(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque {
            continue;
        }
        for part in &message.parts {
            if !matches!(part.content, Content::Output(_)) {
                continue;
            }
            let keys = ["functionResponse", "function_response"];
            let Some(outer) = reading.member(&part.place, &keys) else {
                continue;
            };
            let edit = match reading.member(&outer, &["response"]) {
                Some(place) if reading.raw(&place).starts_with('{') => None,
                Some(place) => Some(Replacement {
                    with: format!(r#"{{"output":{}}}"#, reading.raw(&place)),
                    place,
                }),
                None => reading.with_member(&outer, "response", "{}"),
            };
            if let Some(edit) = edit {
                draft.edit(index, edit);
                draft.did(index, "a `response` became an object");
            }
        }
    }
}

fn make_ids_unique(reading: &Reading, draft: &mut Draft<'_>) {
    ids::make_unique(reading, draft, |reading, part| {
        let keys = match &part.content {
            Content::Call(_) => ["functionCall", "function_call"],
            _ => ["functionResponse", "function_response"],
        };
        let inner = reading.member(&part.place, &keys)?;
        reading.member(&inner, &["id"])
    });
}

/// By what an output finds its call.
fn key_of(output: &Output) -> (&str, bool) {
    if output.call_id.is_empty() {
        (&output.name, false)
    } else {
        (&output.call_id, true)
    }
}

/// Responses under other names than the only calls that they can answer get those. Without ids,
/// where they stand tells more than what they are called.
fn name_responses(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message, next) in reading.pairs() {
        if !has_calls(message) || message.role != Role::Assistant || next.opaque {
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
            let keys = ["functionResponse", "function_response"];
            let inner = places
                .get(&std::ptr::from_ref(*stray))
                .and_then(|place| reading.member(place, &keys));
            let name = json::encode(&call.name);
            if let Some(edit) = inner.and_then(|inner| reading.set_member(&inner, "name", &name)) {
                draft.edit(index + 1, edit);
                draft.did(index + 1, "a response got the name of its call");
            }
        }
    }
}

fn settle_responses(reading: &Reading, draft: &mut Draft<'_>) {
    let messages = &reading.messages;
    let mut orphans: HashSet<*const Output> = HashSet::new();
    let (mut by_id, mut by_name) = (Waiting::default(), Waiting::default());
    for (index, message) in reading.each() {
        let next = messages.get(index + 1);
        if has_calls(message) && message.role == Role::Assistant {
            let pairing = match next {
                Some(next) => pairing(from_ref(message), from_ref(next)),
                None => Pairing::of([message]),
            };
            // Nothing can join answers that are sealed.
            let is_sealed = next.is_some_and(|next| next.opaque && next.outputs().next().is_some());
            for call in pairing.unanswered.iter().filter(|_| !is_sealed) {
                if !call.id.is_empty() {
                    by_id.add(&call.id, index + 1);
                }
                by_name.add(&call.name, index + 1);
            }
        }
        if message.outputs().next().is_some() {
            let before = index.checked_sub(1).map(|before| &messages[before]);
            match before.filter(|before| has_calls(before)) {
                Some(before) => {
                    let pairing = pairing(from_ref(before), from_ref(message));
                    let outputs = pairing.orphans.into_iter().chain(pairing.second);
                    orphans.extend(outputs.map(std::ptr::from_ref));
                }
                None => orphans.extend(message.outputs().map(std::ptr::from_ref)),
            }
        }
    }
    let mut strays = Vec::new();
    for (index, message) in reading.each() {
        for (part, own) in message.parts.iter().enumerate() {
            if let Content::Output(output) = &own.content
                && orphans.contains(&std::ptr::from_ref::<Output>(output))
            {
                let (key, is_id) = key_of(output);
                let waiting = if is_id { &mut by_id } else { &mut by_name };
                strays.push(Stray {
                    message: index,
                    part,
                    to: waiting.take(key, index),
                });
            }
        }
    }
    let behind = |to: usize| last_answer(messages.get(to)?, &orphans).map(|part| (to, part));
    settle(reading, draft, &strays, behind, content_of);
}

/// The index of the last part that answers a call of the content before.
fn last_answer(message: &Message, orphans: &HashSet<*const Output>) -> Option<usize> {
    message.parts.iter().rposition(|part| match &part.content {
        Content::Output(output) => !orphans.contains(&std::ptr::from_ref::<Output>(output)),
        _ => false,
    })
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message, next) in reading.pairs() {
        if !has_calls(message) || message.role != Role::Assistant {
            continue;
        }
        let unanswered: HashSet<*const Call> = pairing(from_ref(message), from_ref(next))
            .unanswered
            .into_iter()
            .map(std::ptr::from_ref)
            .collect();
        let behind = last_answer(next, &HashSet::new());
        if unanswered.is_empty() || behind.is_some() && next.opaque {
            continue;
        }
        let mut answers = Vec::new();
        for part in &message.parts {
            if let Content::Call(call) = &part.content
                && unanswered.contains(&std::ptr::from_ref::<Call>(call))
            {
                answers.push(answer(reading, part, call));
                draft.did(index, ANSWERED);
            }
        }
        match behind {
            Some(part) => join(reading, draft, index + 1, part, &answers),
            None => draft.add(index + 1, 0, content_of(&answers.join(","))),
        }
    }
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
        let is_models = |own: &Message| own.role == Role::Assistant;
        if has_calls(message)
            && is_models(message)
            && is_models(before)
            && !takes_calls_behind(before)
        {
            draft.put_note_before(index + 1);
        }
    }
}

fn begin_with_the_user(reading: &Reading, draft: &mut Draft<'_>) {
    let first = reading.messages.first();
    if first.is_some_and(|first| first.role == Role::Assistant) {
        draft.put_note_before(0);
    }
}
