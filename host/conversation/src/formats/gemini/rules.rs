//! The rules of Gemini.

#[cfg(test)]
pub(crate) mod tests;

use std::ops::Range;

use super::read::{EMPTY, has_signature};
use crate::formats::rules::{Check, Findings, View, common};
use crate::json;
use crate::model::message::{Content, Message, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::{Rule, Severity};

pub(super) const CHECKS: &[Check] = &[
    (Rule::All1, common::somebody_should_speak),
    (Rule::All4, ids_are_unique),
    (Rule::All8, common::sizes_are_within_limits),
    (Rule::Gem1, roles_are_right),
    (Rule::Gem2, calls_are_answered_at_once),
    (Rule::Gem3, calls_are_signed),
    (Rule::Gem4, responses_are_objects),
    (Rule::Gem5, parts_are_not_empty),
    (Rule::Gem7, calls_and_responses_have_names),
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

/// Neighbouring contents with calls, and those with responses behind them. The documents have one content of
/// each; some servers take neighbours for one content.
pub(super) struct Step<'a> {
    pub(super) calls: &'a [Message],
    pub(super) answers: &'a [Message],
}

impl<'a> Step<'a> {
    /// The step that begins with the first of these messages; `None` if that has no calls.
    pub(super) fn first_of(messages: &'a [Message]) -> Option<Self> {
        let (first, rest) = messages.split_first()?;
        if !first.has_calls() {
            return None;
        }
        let calls_too =
            |own: &&Message| own.role == first.role && own.has_calls() && !own.has_outputs();
        let more = rest.iter().take_while(calls_too).count();
        let (calls, behind) = messages.split_at(1 + more);
        let mut length = 0;
        for own in behind.iter().take_while(|own| own.has_outputs()) {
            length += 1;
            // Its calls are of the next step.
            if own.has_calls() {
                break;
            }
        }
        let answers = &behind[..length];
        Some(Self { calls, answers })
    }
}

/// All steps, each with the index of its first message. A content with responses and calls ends one, and
/// begins the next.
fn steps(messages: &[Message]) -> impl Iterator<Item = (usize, Step<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + messages.get(at..)?.iter().position(Message::has_calls)?;
        let step = Step::first_of(&messages[start..])?;
        at = start + step.calls.len();
        Some((start, step))
    })
}

/// How the calls of contents and the answers in those behind them belong together: by id or name, and
/// the others by their order. The API looks at their number.
pub(crate) fn pairing<'a>(calling: &'a [Message], answering: &'a [Message]) -> Pairing<'a> {
    let calls = || calling.iter().flat_map(Message::calls);
    let outputs = || answering.iter().flat_map(Message::outputs);
    let is_even = calls().count() == outputs().count();
    let mut pairing = Pairing::between(calls(), outputs(), is_even);
    if is_even {
        // Where an id comes twice, as many calls are left.
        pairing.by_order.append(&mut pairing.second);
        pairing.unanswered.clear();
    }
    pairing
}

/// Whether calls may follow a content: one of the user, or of responses, whoever's it is.
pub(crate) fn takes_calls_behind(message: &Message) -> bool {
    message.role == Role::User || message.has_outputs()
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    let messages = view.messages;
    // Where the responses of the step before end.
    let mut end = 0;
    for (at, step) in steps(messages) {
        let before = at.checked_sub(1).map(|before| &messages[before]);
        if !before.is_some_and(takes_calls_behind) {
            found.add(at, "a content with calls does not follow one of the user's");
        }
        let behind = at + step.calls.len();
        answer_nothing(messages, end..behind, found);
        end = behind + step.answers.len();
        let pairing = pairing(step.calls, step.answers);
        if behind < messages.len() {
            look_at_calls(view, at, step.calls, &pairing, found);
        }
        for index in at + 1..behind {
            let what = "the calls of a step are in several contents, which some servers refuse";
            found.warn(index, what);
        }
        for index in behind + 1..end {
            let what = "the responses to a step are in several contents, which some servers refuse";
            found.warn(index, what);
        }
        for strays in [&pairing.orphans, &pairing.second] {
            common::report(behind, step.answers, strays, |index| {
                found.add(index, ANSWERS_NOTHING);
            });
        }
        if pairing.orphans.is_empty() && pairing.second.is_empty() {
            common::report(behind, step.answers, &pairing.by_order, |index| {
                let what = "a `functionResponse` has an id or a name that no call has or another response uses; it is matched with the first unanswered call";
                found.warn(index, what);
            });
        }
    }
    answer_nothing(messages, end..messages.len(), found);
    for (index, message) in messages.iter().enumerate() {
        if message.has_outputs() && message.role == Role::Assistant {
            let what = "a `functionResponse` is not in a content of the user";
            found.warn(index, what);
        }
    }
}

const ANSWERS_NOTHING: &str = "a `functionResponse` answers no call of the content before it";

/// Reports the responses that stand in none of the places for them.
fn answer_nothing(messages: &[Message], among: Range<usize>, found: &mut Findings) {
    for index in among {
        if messages[index].has_outputs() {
            found.add(index, ANSWERS_NOTHING);
        }
    }
}

/// Reports calls without a response, and calls of others than the model. `calls` begin at index `at`, and
/// something follows them.
fn look_at_calls(
    view: &View<'_>,
    at: usize,
    calls: &[Message],
    pairing: &Pairing<'_>,
    found: &mut Findings,
) {
    // Where no tools are declared, the API answers whatever became of calls.
    let severity = Severity::error_if(!view.envelope.declares_no_tools);
    let unanswered = Among::of(pairing.unanswered.iter().copied());
    for (index, message) in (at..).zip(calls) {
        if message.calls().any(|call| unanswered.has(call)) {
            let what = "a call is not answered in the next content";
            found.note(severity, index, what);
        }
        if message.role != Role::Assistant {
            found.warn(index, "a call is not in a content of the model");
        }
    }
}

/// Only a request to a model that signs can break this, and mostly nothing says which model it is for:
/// where no call of the turn is signed, nothing is said; where some are, newer models refuse the others.
fn calls_are_signed(view: &View<'_>, found: &mut Findings) {
    let is_own = |message: &Message| {
        message.role == Role::User
            && !message.parts.iter().all(Part::is_output)
            && !message.has_outputs()
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
            .filter_map(json::members)
            .any(|part| has_signature(&part))
    };
    let steps: Vec<(usize, bool)> = view
        .messages
        .iter()
        .enumerate()
        .skip(turn)
        .filter(|(_, message)| message.has_calls())
        .map(|(index, message)| (index, is_signed(message)))
        .collect();
    if steps.iter().any(|(_, signed)| *signed) {
        let severity = Severity::error_if(view.envelope.wants_signatures);
        for (index, _) in steps.iter().filter(|(_, signed)| !signed) {
            let what = "the first call has no thought signature, and others of its turn have";
            found.note(severity, *index, what);
        }
    }
}

/// A missing response is accepted as an empty one.
fn responses_are_objects(view: &View<'_>, found: &mut Findings) {
    let is_object = |part: &Part| {
        let part = json::members(view.document.get(part.place.clone())?)?;
        let outer = part.first(&["functionResponse", "function_response"])?;
        let response = json::members(outer.get())?.raw("response")?;
        Some(json::is_object(response))
    };
    for (index, message) in view.messages.iter().enumerate() {
        for part in &message.parts {
            if !part.is_output() {
                continue;
            }
            match is_object(part) {
                Some(true) => {}
                Some(false) => found.add(
                    index,
                    "the `response` of a `functionResponse` is not an object",
                ),
                None => found.warn(index, "a `functionResponse` has no `response`"),
            }
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
    common::empty_texts(view, found, common::Empty::Doubtful);
    for (index, message) in view.messages.iter().enumerate() {
        if message.content.is_none() && message.parts.is_empty() {
            found.add(index, "a content has no parts");
        }
        if message.opaques().any(|opaque| opaque.kind == EMPTY) {
            found.add(index, "a part is empty");
        }
    }
}
