//! The rules of OpenAI Chat Completions.

#[cfg(test)]
pub(crate) mod tests;

use crate::formats::rules::{Check, Findings, View, common};
use crate::json;
use crate::model::message::{Content, Message, Output, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::{Rule, Severity};

pub(super) const CHECKS: &[Check] = &[
    (Rule::All1, common::somebody_should_speak),
    (Rule::All4, ids_are_unique),
    (Rule::All6, common::no_text_part_is_empty),
    (Rule::All8, common::sizes_are_within_limits),
    (Rule::Chat1, outputs_stand_behind_their_calls),
    (Rule::Chat2, calls_are_answered_at_once),
    (Rule::Chat3, messages_have_content),
    (Rule::Chat4, calls_are_whole),
    (Rule::Chat5, old_pairs_stand_together),
];

/// The kind of the older `function_call` and of the `function` messages that answer it.
pub(crate) const OLD: &str = "old function";

/// A message of the older `function` role, which names no call id.
pub(crate) fn is_old(message: &Message) -> bool {
    message.outputs().any(|output| output.kind == OLD)
}

fn ids_are_unique(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let first = unit.iter().take(1).map(|first| (at, first));
        common::ids_of_a_response_are_unique(first, Severity::Error, found);
        common::no_call_is_answered_twice(at, unit, &Pairing::of(unit), found);
    }
}

fn outputs_stand_behind_their_calls(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let is_called = unit
            .first()
            .is_some_and(|first| first.role == Role::Assistant);
        let pairing = Pairing::of(unit);
        for (index, message) in unit.iter().enumerate() {
            let mut outputs = message.outputs().filter(|output| output.kind != OLD);
            if !is_called && outputs.next().is_some() {
                found.add(at + index, ORPHAN);
            }
        }
        if !is_called {
            continue;
        }
        let orphans: Vec<_> = not_old(&pairing.orphans).collect();
        common::report(at, unit, &orphans, |index| found.add(index, ORPHAN));
        let orphans = Among::of(orphans);
        for (index, message) in unit.iter().enumerate() {
            let mut outputs = message.outputs().filter(|output| output.kind != OLD);
            if outputs.any(|output| output.call_id.is_empty() && !orphans.has(output)) {
                let what = "a tool message has no `tool_call_id`; it is matched with the first unanswered call";
                found.warn(at + index, what);
            }
        }
    }
}

const ORPHAN: &str = "a tool message answers no call of the assistant message before it";

fn not_old<'a>(outputs: &[&'a Output]) -> impl Iterator<Item = &'a Output> {
    outputs.iter().copied().filter(|output| output.kind != OLD)
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let mut unanswered = Pairing::of(unit).unanswered.into_iter();
        if !view.is_last(at, unit) && unanswered.any(|call| call.kind != OLD) {
            found.add(at, "a tool call is not answered before the next message");
        }
    }
}

/// Whether a message holds nothing, or nothing but thinking.
pub(crate) fn says_nothing(message: &Message) -> bool {
    let is_thinking = |part: &Part| matches!(part.content, Content::Thinking(_));
    message.content.is_none() && message.parts.iter().all(is_thinking)
}

fn messages_have_content(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    for (index, message) in view.messages.iter().enumerate() {
        match message.role {
            Role::Assistant if says_nothing(message) => {
                found.add(index, "an assistant message has neither content nor calls");
            }
            Role::Assistant if message.has_empty_calls => {
                // vLLM puts one into answers without calls, and takes it back.
                let severity = Severity::error_if(view.envelope.is_makers_own);
                found.note(severity, index, "`tool_calls` is an empty list");
            }
            Role::User | Role::System | Role::Developer if message.content.is_none() => {
                found.add(index, "a message has no content");
            }
            _ => {}
        }
    }
}

fn calls_are_whole(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    for (index, message) in view.messages.iter().enumerate() {
        let mut arguments = message.calls().filter_map(|call| call.arguments.as_ref());
        if arguments.any(|place| !json::is_text(view.document.at(place))) {
            found.add(index, "the arguments of a call are not a JSON text");
        }
    }
}

/// No refusal of a lonely `function` message is known.
fn old_pairs_stand_together(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let pairing = Pairing::of(unit);
        let lonely: Vec<&Output> = pairing
            .orphans
            .iter()
            .chain(&pairing.second)
            .copied()
            .filter(|output| output.kind == OLD)
            .collect();
        common::report(at, unit, &lonely, |index| {
            let what = "a `function` message answers no `function_call` directly before it";
            found.warn(index, what);
        });
        if !view.is_last(at, unit) && pairing.unanswered.iter().any(|call| call.kind == OLD) {
            let what = "a `function_call` is not answered before the next message";
            found.warn(at, what);
        }
    }
}
