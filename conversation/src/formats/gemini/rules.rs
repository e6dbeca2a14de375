//! The rules of Gemini.

#[cfg(test)]
pub(crate) mod tests;

use super::read::{EMPTY, either};
use crate::formats::rules::{Check, Findings, View, checks, common};
use crate::json::Members;
use crate::model::message::{Content, Message, Role};
use crate::model::pairing::Pairing;
use crate::model::rule::Severity;

pub(super) const CHECKS: &[Check] = checks![
    All1 => common::somebody_should_speak,
    All4 => ids_are_unique,
    All8 => common::sizes_are_within_limits,
    Gem1 => roles_are_right,
    Gem2 => calls_are_answered_at_once,
    Gem3 => calls_are_signed,
    Gem4 => responses_are_objects,
    Gem5 => parts_are_not_empty,
    Gem7 => calls_and_responses_have_names,
];

/// Ids are for the client's own use here.
fn ids_are_unique(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        common::ids_of_a_response_are_unique([(index, message)], Severity::Warning, found);
    }
}

fn roles_are_right(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    for (index, message) in view.messages.iter().enumerate() {
        if index == 0 && message.role == Role::Assistant {
            found.warn(0, "the first content is not from the user");
        }
        if !matches!(message.role, Role::User | Role::Assistant) {
            found.add(index, "the role is neither user nor model");
        }
    }
}

/// How the calls of a content and the answers in the next one belong together: by id or name, and
/// the others by their order. The API looks at their number.
pub(crate) fn pairing<'a>(calling: &'a Message, answering: &'a Message) -> Pairing<'a> {
    let is_even = calling.calls().count() == answering.outputs().count();
    let mut pairing = Pairing::between(calling.calls(), answering.outputs(), is_even);
    if is_even {
        // Where an id comes twice, as many calls are left.
        pairing.by_order.append(&mut pairing.second);
        pairing.unanswered.clear();
    }
    pairing
}

pub(crate) fn has_calls(message: &Message) -> bool {
    message.calls().next().is_some()
}

/// Whether calls may follow a content: one of the user, or of responses, whoever's it is.
pub(crate) fn takes_calls_behind(message: &Message) -> bool {
    message.role == Role::User || has_outputs(message)
}

fn has_outputs(message: &Message) -> bool {
    message.outputs().next().is_some()
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    let messages = view.messages;
    for (index, message) in messages.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &messages[before]);
        if has_calls(message) {
            if !before.is_some_and(takes_calls_behind) {
                let what = "a content with calls does not follow one of the user's";
                found.add(index, what);
            }
            if let Some(next) = messages.get(index + 1) {
                if !pairing(message, next).unanswered.is_empty() {
                    found.add(index, "a call is not answered in the next content");
                }
                if message.role != Role::Assistant {
                    found.warn(index, "a call is not in a content of the model");
                }
            }
        }
        if has_outputs(message) {
            if message.role == Role::Assistant {
                found.warn(
                    index,
                    "a `functionResponse` is not in a content of the user",
                );
            }
            let what = "a `functionResponse` answers no call of the content before it";
            match before.filter(|before| has_calls(before)) {
                Some(before) => {
                    let pairing = pairing(before, message);
                    if !(pairing.orphans.is_empty() && pairing.second.is_empty()) {
                        found.add(index, what);
                    } else if !pairing.by_order.is_empty() {
                        let what = "a `functionResponse` has an id or a name that no call has or another response uses; it is matched with the first unanswered call";
                        found.warn(index, what);
                    }
                }
                None => found.add(index, what),
            }
        }
    }
}

/// Only a request to a model that signs can break this, and mostly nothing says which model it is for:
/// where no call of the turn is signed, nothing is said; where some are, newer models refuse the others.
fn calls_are_signed(view: &View<'_>, found: &mut Findings) {
    let is_own = |message: &Message| {
        message.role == Role::User
            && message
                .parts
                .iter()
                .any(|part| !matches!(part.content, Content::Output(_)))
            && !has_outputs(message)
    };
    let turn = view.messages.iter().rposition(is_own).unwrap_or(0);
    let is_signed = |message: &Message| {
        // Some clients get it on the thought before the call.
        let first = message
            .parts
            .iter()
            .position(|part| matches!(part.content, Content::Call(_)));
        let parts = &message.parts[..first.map_or(0, |first| first + 1)];
        parts
            .iter()
            .filter_map(|part| view.document.get(part.place.clone()))
            .filter_map(|raw| serde_json::from_str::<Members<'_>>(raw).ok())
            .any(|part| either(&part, "thoughtSignature", "thought_signature").is_some())
    };
    let steps: Vec<(usize, bool)> = view
        .messages
        .iter()
        .enumerate()
        .skip(turn)
        .filter(|(_, message)| has_calls(message))
        .map(|(index, message)| (index, is_signed(message)))
        .collect();
    if steps.iter().any(|(_, signed)| *signed) {
        let severity = if view.envelope.wants_signatures {
            Severity::Error
        } else {
            Severity::Warning
        };
        for (index, _) in steps.iter().filter(|(_, signed)| !signed) {
            let what = "the first call has no thought signature, and others of its turn have";
            found.note(severity, *index, what);
        }
    }
}

fn responses_are_objects(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        let is_object = |part: &crate::model::message::Part| {
            let raw = view.document.get(part.place.clone()).unwrap_or_default();
            let part = serde_json::from_str::<Members<'_>>(raw).ok();
            let response =
                part.and_then(|part| either(&part, "functionResponse", "function_response"));
            response
                .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok())
                .and_then(|response| response.present("response"))
                .is_some_and(|raw| raw.get().starts_with('{'))
        };
        let all = message
            .parts
            .iter()
            .filter(|part| matches!(part.content, Content::Output(_)))
            .all(is_object);
        if !all {
            found.add(
                index,
                "the `response` of a `functionResponse` is not an object",
            );
        }
    }
}

fn calls_and_responses_have_names(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        if message.calls().any(|call| call.name.is_empty()) {
            found.warn(index, "a `functionCall` has no `name`");
        }
        if message.outputs().any(|output| output.name.is_empty()) {
            found.add(index, "a `functionResponse` has no `name`");
        }
    }
}

fn parts_are_not_empty(view: &View<'_>, found: &mut Findings) {
    common::no_text_is_empty(view, found);
    for (index, message) in view.messages.iter().enumerate() {
        if message.content.is_none() {
            found.add(index, "a content has no parts");
        }
        if message.opaques().any(|opaque| opaque.kind == EMPTY) {
            found.add(index, "a part is empty");
        }
    }
}
