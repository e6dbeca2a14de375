//! How conversations of OpenAI Chat Completions are repaired.

use std::collections::HashSet;

use crate::formats::Replacement;
use crate::json;
use crate::model::message::{Call, Content, Message, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::Rule;
use crate::repair::answers::{ANSWERED, LEFT_OUT, MOVED, NONE_RECORDED, Waiting};
use crate::repair::{Draft, Fix, Reading, ids, outputs, texts};

use crate::formats::openai_chat::rules::{OLD, is_old, says_nothing};

pub(super) const FIXES: &[Fix] = &[
    (Rule::Chat3, give_content),
    (Rule::Chat4, complete_calls),
    (Rule::All6, leave_out_empty_texts),
    (Rule::All4, make_ids_unique),
    (Rule::Chat1, give_ids),
    (Rule::Chat1, name_calls),
    (Rule::Chat1, settle_outputs),
    (Rule::Chat5, settle_old_outputs),
    (Rule::Chat2, answer_calls),
    (Rule::Chat5, answer_old_calls),
];

fn give_content(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque {
            continue;
        }
        if message.role == Role::Tool {
            if !message.flaws().is_empty() {
                give_output(reading, draft, index);
            }
            continue;
        }
        if message.has_empty_calls {
            let edit = reading.without_member(&message.place, "tool_calls");
            draft.change(index, edit, "an empty `tool_calls` was removed");
        }
        let needs_content = message.role != Role::Assistant || says_nothing(message);
        if message.content.is_some() || !needs_content || message.has_empty_calls {
            continue;
        }
        set_content(reading, draft, index);
    }
}

/// Makes the content of a tool message a text or a list of parts.
fn give_output(reading: &Reading, draft: &mut Draft<'_>, index: usize) {
    let content = reading.messages[index].content.as_ref();
    let edits = content.map_or_else(Vec::new, |place| outputs::content_edits(reading, place));
    if edits.is_empty() {
        set_content(reading, draft, index);
    }
    draft.change_all(index, edits, "the content of a tool message became text");
}

/// Gives a message an empty text for its content.
fn set_content(reading: &Reading, draft: &mut Draft<'_>, index: usize) {
    let message = &reading.messages[index];
    let edit = reading.set_member(&message.place, "content", "\"\"");
    draft.change(index, edit, "a message without content got an empty text");
}

/// Gives calls their type and arguments. Nobody but the model can name a function.
fn complete_calls(reading: &Reading, draft: &mut Draft<'_>) {
    make_arguments_texts(reading, draft);
    for (index, message) in reading.each() {
        if message.opaque || message.flaws().is_empty() {
            continue;
        }
        for part in &message.parts {
            let Content::Call(call) = &part.content else {
                continue;
            };
            let inner = reading.member(&part.place, &["function", "custom"]);
            // The older call is its own function, and has no type.
            let function = inner.clone().unwrap_or(part.place.clone());
            let is_custom = reading.member(&part.place, &["custom"]).is_some();
            let (kind, key, nothing) = if is_custom {
                (r#""custom""#, "input", r#""""#)
            } else {
                (r#""function""#, "arguments", r#""{}""#)
            };
            if call.arguments.is_none() {
                let edit = reading.set_member(&function, key, nothing);
                draft.change(index, edit, "a call without arguments got empty ones");
            }
            let has_type = reading.member(&part.place, &["type"]).is_some();
            if inner.is_some() && !has_type {
                let edit = reading.set_member(&part.place, "type", kind);
                draft.change(index, edit, "a call got its `type`");
            }
        }
    }
}

fn make_arguments_texts(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque {
            continue;
        }
        for place in message.calls().filter_map(|call| call.arguments.clone()) {
            let with = match reading.raw(&place) {
                raw if json::is_text(raw) => continue,
                "null" => json::encode("{}"),
                raw => json::encode(raw),
            };
            let what = "the arguments of a call became a JSON text";
            draft.change(index, Replacement { place, with }, what);
        }
    }
}

fn leave_out_empty_texts(reading: &Reading, draft: &mut Draft<'_>) {
    texts::leave_out_of_lists(reading, draft, |_| false);
}

fn make_ids_unique(reading: &Reading, draft: &mut Draft<'_>) {
    ids::make_unique(reading, draft, |reading, part| {
        let key = match &part.content {
            Content::Call(_) => "id",
            _ => "tool_call_id",
        };
        reading.member(&part.place, &[key])
    });
}

/// Units with calls of the model: where each begins and ends, its calls and its outputs.
fn steps(reading: &Reading) -> impl Iterator<Item = (usize, usize, &Message, &[Message])> {
    reading.units().filter_map(|(start, unit)| {
        let (first, outputs) = unit.split_first()?;
        let has_calls = first.role == Role::Assistant && first.has_calls();
        has_calls.then_some((start, start + unit.len(), first, outputs))
    })
}

/// Outputs without an id, as many as calls wait for one directly before them, get those of the
/// calls, in their order.
fn give_ids(reading: &Reading, draft: &mut Draft<'_>) {
    for (start, _, first, outputs) in steps(reading) {
        let named: HashSet<&str> = outputs
            .iter()
            .flat_map(Message::outputs)
            .map(|output| output.call_id.as_str())
            .collect();
        let waiting: Vec<&Call> = first
            .calls()
            .filter(|call| !call.id.is_empty() && !named.contains(call.id.as_str()))
            .collect();
        let nameless: Vec<usize> = (0..outputs.len())
            .filter(|at| {
                let message = &outputs[*at];
                !is_old(message) && message.outputs().any(|output| output.call_id.is_empty())
            })
            .collect();
        if waiting.len() != nameless.len() {
            continue;
        }
        for (call, at) in waiting.into_iter().zip(nameless) {
            let index = start + 1 + at;
            let place = &outputs[at].place;
            let edit = reading.set_member(place, "tool_call_id", &json::encode(&call.id));
            draft.change(index, edit, "an output got the id of the call before it");
        }
    }
}

/// Directly after calls without an id, as many outputs that name no call are theirs, in their order:
/// servers leave the ids of calls empty, and clients make some up for the outputs. The call gets the id of
/// its output. A signed one cannot, so there the output loses its own, and pairs by order.
fn name_calls(reading: &Reading, draft: &mut Draft<'_>) {
    // What another call waits for goes there.
    let waiting: HashSet<&str> = steps(reading)
        .flat_map(|(start, end, _, _)| unanswered(&reading.messages[start..end]))
        .map(|call| call.id.as_str())
        .filter(|id| !id.is_empty())
        .collect();
    for (start, _, first, outputs) in steps(reading) {
        let named: HashSet<&str> = first
            .calls()
            .map(|call| call.id.as_str())
            .filter(|id| !id.is_empty())
            .collect();
        let is_nameless = |part: &&Part| matches!(&part.content, Content::Call(call) if call.id.is_empty() && call.kind != OLD);
        let nameless: Vec<&Part> = first.parts.iter().filter(is_nameless).collect();
        let strays: Vec<(usize, &str)> = (start + 1..)
            .zip(outputs)
            .filter(|(_, message)| !is_old(message))
            .filter_map(|(index, message)| {
                let output = message.outputs().next()?;
                Some((index, output.call_id.as_str()))
            })
            .filter(|(_, id)| !named.contains(id) && !waiting.contains(id))
            .collect();
        if nameless.len() != strays.len() {
            continue;
        }
        for (call, (index, id)) in nameless.into_iter().zip(strays) {
            if id.is_empty() {
                continue;
            }
            if first.opaque {
                let place = &reading.messages[index].place;
                let edit = reading.set_member(place, "tool_call_id", "\"\"");
                let what = "removed: the id of an output whose call has none";
                draft.change(index, edit, what);
            } else {
                let edit = reading.set_member(&call.place, "id", &json::encode(id));
                draft.change(start, edit, "a call without an id got the id of its output");
            }
        }
    }
}

fn settle_outputs(reading: &Reading, draft: &mut Draft<'_>) {
    let mut waiting = Waiting::default();
    for (start, end, _, _) in steps(reading) {
        for call in unanswered(&reading.messages[start..end]) {
            waiting.add(&call.id, end);
        }
    }
    for (start, unit) in reading.units() {
        let Some(first) = unit.first() else { continue };
        if first.role != Role::Assistant && first.has_calls() {
            continue;
        }
        let orphans = Among::of(Pairing::of(unit).orphans);
        for (at, message) in unit.iter().enumerate() {
            let strays = message.outputs().any(|output| orphans.has(output));
            if strays && !is_old(message) {
                let id = message.outputs().next().map(|output| &*output.call_id);
                settle(draft, &mut waiting, id.unwrap_or_default(), start + at);
            }
        }
    }
}

/// The calls of a unit without an output.
fn unanswered(unit: &[Message]) -> impl Iterator<Item = &Call> {
    let unanswered = Pairing::of(unit).unanswered.into_iter();
    unanswered.filter(|call| call.kind != OLD)
}

fn settle(draft: &mut Draft<'_>, waiting: &mut Waiting<'_>, key: &str, message: usize) {
    match waiting.take(key, message) {
        Some(to) => draft.move_to(message, to, MOVED),
        None => draft.leave_out(message, LEFT_OUT),
    }
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    for (start, end, _, _) in steps(reading) {
        if end == reading.messages.len() {
            continue;
        }
        for call in unanswered(&reading.messages[start..end]) {
            let id = json::encode(&call.id);
            let text = json::encode(&reading.output_note(NONE_RECORDED));
            let output = format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#);
            draft.add(end, 0, output);
            draft.did(start, ANSWERED);
        }
    }
}

/// The older call of a message, which has no id.
fn old_call(message: &Message) -> Option<&Call> {
    message
        .calls()
        .find(|call| call.kind == OLD && !call.name.is_empty())
}

fn settle_old_outputs(reading: &Reading, draft: &mut Draft<'_>) {
    let mut waiting = Waiting::default();
    for (_, end, first, outputs) in steps(reading) {
        if let Some(call) = old_call(first)
            && !outputs.iter().any(|output| answers(output, call))
        {
            waiting.add(&call.name, end);
        }
    }
    for (start, unit) in reading.units() {
        let call = unit.first().and_then(old_call);
        let mut is_answered = false;
        for (at, message) in unit.iter().enumerate().filter(|(_, own)| is_old(own)) {
            let is_its_own = call.is_some_and(|call| answers(message, call));
            if is_its_own && !std::mem::replace(&mut is_answered, true) {
                continue;
            }
            let name = message.outputs().next().map(|output| output.name.as_str());
            settle(draft, &mut waiting, name.unwrap_or_default(), start + at);
        }
    }
}

fn answers(message: &Message, call: &Call) -> bool {
    is_old(message) && message.outputs().any(|output| output.name == call.name)
}

fn answer_old_calls(reading: &Reading, draft: &mut Draft<'_>) {
    for (start, end, first, outputs) in steps(reading) {
        if let Some(call) = old_call(first)
            && end < reading.messages.len()
            && !outputs.iter().any(is_old)
        {
            let name = json::encode(&call.name);
            let text = json::encode(&reading.output_note(NONE_RECORDED));
            let output = format!(r#"{{"role":"function","name":{name},"content":{text}}}"#);
            draft.add(start + 1, 0, output);
            draft.did(start, ANSWERED);
        }
    }
}
