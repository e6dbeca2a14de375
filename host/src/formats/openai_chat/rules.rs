//! The rules of OpenAI Chat Completions.

use crate::conversation::message::{Content, Message, Part, Role};
use crate::formats::json;
use crate::formats::rules::{Check, Findings, View, checks, common};

pub(super) const CHECKS: &[Check] = checks![
    All1 => common::somebody_speaks,
    All4 => common::ids_are_unique,
    All6 => common::no_text_part_is_empty,
    All8 => common::sizes_are_within_limits,
    Chat1 => outputs_stand_behind_their_calls,
    Chat2 => calls_are_answered_at_once,
    Chat3 => messages_have_content,
    Chat4 => calls_are_whole,
    Chat5 => old_pairs_stand_together,
];

/// A message of the older `function` role, which names no call id.
fn is_old(message: &Message) -> bool {
    message
        .outputs()
        .any(|output| output.call_id.is_empty() && !output.name.is_empty())
}

fn outputs_stand_behind_their_calls(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let first = unit.first().filter(|first| first.role == Role::Assistant);
        for (index, message) in unit.iter().enumerate() {
            if is_old(message) {
                continue;
            }
            for output in message.outputs() {
                let is_called = |first: &Message| {
                    first
                        .calls()
                        .any(|call| call.id == output.call_id && !call.id.is_empty())
                };
                if !first.is_some_and(is_called) {
                    found.add(
                        at + index,
                        "a tool message answers no call of the assistant message before it",
                    );
                }
            }
        }
    }
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let Some((first, outputs)) = unit.split_first() else {
            continue;
        };
        let answered: std::collections::HashSet<&str> = outputs
            .iter()
            .flat_map(Message::outputs)
            .map(|output| output.call_id.as_str())
            .collect();
        let waits = first
            .calls()
            .any(|call| !call.id.is_empty() && !answered.contains(call.id.as_str()));
        if waits && !view.is_last(at, unit) {
            found.add(at, "a tool call is not answered before the next message");
        }
    }
}

/// Whether a message holds nothing, or nothing but thinking.
pub(super) fn says_nothing(message: &Message) -> bool {
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
                found.add(index, "`tool_calls` is an empty list");
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
        let is_text = |place: &json::Place| {
            json::is_text(view.document.get(place.clone()).unwrap_or_default())
        };
        if message
            .calls()
            .any(|call| call.arguments.as_ref().is_some_and(|place| !is_text(place)))
        {
            found.add(index, "the arguments of a call are not a JSON text");
        }
    }
}

fn old_pairs_stand_together(view: &View<'_>, found: &mut Findings) {
    for (at, unit) in view.units() {
        let calls = || {
            unit.iter()
                .take(1)
                .flat_map(Message::calls)
                .filter(|call| call.id.is_empty())
        };
        let mut answers = 0;
        for (index, message) in unit.iter().enumerate().filter(|(_, own)| is_old(own)) {
            let names_call = |name: &str| calls().any(|call| call.name == name);
            answers += 1;
            if answers > 1 || !message.outputs().any(|output| names_call(&output.name)) {
                found.add(
                    at + index,
                    "a `function` message answers no `function_call` directly before it",
                );
            }
        }
        if calls().next().is_some() && answers == 0 && !view.is_last(at, unit) {
            found.add(
                at,
                "a `function_call` is not answered before the next message",
            );
        }
    }
}
