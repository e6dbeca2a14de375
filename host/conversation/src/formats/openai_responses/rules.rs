//! The rules of OpenAI Responses.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{HashMap, HashSet};

use super::answers::{Answer, Answers};
use super::item;
use super::units::{is_reasoning_item, unanswered};
use crate::formats::rules::{Check, Findings, View, common};
use crate::json;
use crate::model::message::{Content, Message, Role};
use crate::model::rule::{Rule, Severity};

pub(super) const CHECKS: &[Check] = &[
    (Rule::All1, common::somebody_should_speak),
    (Rule::All4, ids_are_unique),
    (Rule::All6, common::no_text_part_is_empty),
    (Rule::All8, common::sizes_are_within_limits),
    (Rule::Resp1, outputs_have_their_calls),
    (Rule::Resp2, calls_have_their_outputs),
    (Rule::Resp3, reasoning_has_its_product),
    (Rule::Resp5, reasoning_is_whole),
    (Rule::Resp8, item_ids_are_used_once),
    (Rule::Resp9, common::readers_saw_no_flaw),
];

/// Whether items may stand for calls or outputs that the document does not show.
pub(crate) fn has_references(messages: &[Message]) -> bool {
    messages.iter().any(Message::may_be_anything)
}

/// No two calls of one id wait for their outputs at once, and no call is answered twice.
fn ids_are_unique(view: &View<'_>, found: &mut Findings) {
    let answers = Answers::of(view.messages);
    // For each id how many calls wait for an output of it.
    let mut waiting: HashMap<&str, usize> = HashMap::new();
    let mut has_reference = false;
    for (index, message) in view.messages.iter().enumerate() {
        if message.may_be_anything() {
            // It may be the output of any call before it, and a call that is answered after it.
            waiting.clear();
            has_reference = true;
        }
        for call in message.calls().filter(|call| !call.id.is_empty()) {
            let waiting = waiting.entry(&call.id).or_default();
            *waiting += 1;
            if *waiting > 1 {
                let what = "a tool call has the id of an earlier call that has no output";
                found.add(index, what);
            }
        }
        if !message.has_outputs() {
            continue;
        }
        match answers.get(index) {
            Some(Answer::Again(_)) if has_reference => {}
            Some(Answer::Again(_)) => found.add(index, "a tool call is answered twice"),
            Some(Answer::To(at) | Answer::OtherKind(at)) => {
                for call in view.messages[at].calls() {
                    if let Some(waiting) = waiting.get_mut(call.id.as_str()) {
                        *waiting = waiting.saturating_sub(1);
                    }
                }
            }
            Some(Answer::Nothing) | None => {}
        }
    }
}

fn outputs_have_their_calls(view: &View<'_>, found: &mut Findings) {
    if view.envelope.continues || has_references(view.messages) {
        return;
    }
    let answers = Answers::of(view.messages);
    for (index, message) in view.messages.iter().enumerate() {
        let is_output = message.has_outputs();
        match answers.get(index) {
            Some(Answer::Nothing) if is_output => {
                found.add(index, "an output has no call before it");
            }
            Some(Answer::OtherKind(_)) if is_output => {
                found.add(index, "an output answers a call of another kind");
            }
            Some(Answer::Nothing | Answer::OtherKind(_)) => {
                found.warn(index, "an approval has no request before it");
            }
            _ => {}
        }
    }
}

fn calls_have_their_outputs(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units().filter(|(at, unit)| !view.is_last(*at, unit)) {
        for index in unanswered(unit) {
            found.add(at + index, "a call has no output, and others follow it");
        }
    }
}

fn reasoning_has_its_product(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        let next = view.messages.get(index + 1);
        let is_product = |next: &Message| next.role == Role::Assistant && !next.has_compaction();
        if is_reasoning_item(message) && !next.is_some_and(is_product) {
            // Without storage and ids the API accepts it alone.
            let is_refused = message.id().is_some() && !view.envelope.stateless;
            let what = "reasoning is not followed by the item that it produced";
            found.note(Severity::error_if(is_refused), index, what);
        }
    }
}

fn reasoning_is_whole(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        if !is_reasoning_item(message) {
            continue;
        }
        let members = json::members(view.document.at(&message.place));
        let member = |key: &str| members.as_ref().and_then(|members| members.raw(key));
        if member("summary").is_none() {
            let what = "reasoning has no `summary`, which may be an empty list";
            found.add(index, what);
        }
        let is_encrypted = message.parts.iter().any(|part| {
            matches!(&part.content, Content::Opaque(opaque) if opaque.kind == item::ENCRYPTED)
        });
        if view.envelope.stateless && message.id().is_some() && !is_encrypted {
            // Servers of open models keep nothing and encrypt nothing: the reasoning stands there as a text.
            let is_shown = member("content")
                .is_some_and(|content| json::is_list(content) && !json::is_empty_list(content));
            let is_refused = view.envelope.is_makers_own && !is_shown;
            let what = "reasoning has no `encrypted_content`, and `store` is false";
            found.note(Severity::error_if(is_refused), index, what);
        }
    }
}

/// Servers of other models give two items of a response one id, and take them back.
fn item_ids_are_used_once(view: &View<'_>, found: &mut Findings) {
    let severity = Severity::error_if(view.envelope.is_makers_own);
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, message) in view.messages.iter().enumerate() {
        if let Some(id) = message.id()
            && !seen.insert(id)
        {
            found.note(severity, index, "the id of an item was used before");
        }
    }
}
