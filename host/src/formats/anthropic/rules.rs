//! The rules of Anthropic Messages. Neighbours of one role count as one message, as the API
//! takes them (ANTH-2).

use std::collections::HashSet;

use super::run;
use crate::conversation::message::{Content, Link, Message, Role};
use crate::formats::rules::{Check, Findings, View, checks, common};

/// Marks for the cache that a request may have.
pub(super) const CACHE_MARKS: u32 = 4;

pub(super) const CHECKS: &[Check] = checks![
    All1 => common::somebody_speaks,
    All4 => common::ids_are_unique,
    Anth1 => roles_are_right,
    Anth3 => calls_are_answered_at_once,
    Anth4 => outputs_stand_behind_their_calls,
    Anth5 => an_open_loop_begins_with_thinking,
    Anth6 => texts_are_not_empty,
    Anth7 => server_tools_stay_together,
    Anth9 => cache_marks_are_few,
    Anth10 => common::sizes_are_within_limits,
    Anth11 => blocks_are_right,
];

fn roles_are_right(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        // What a provider's own compaction left behind may come first.
        if index == 0 && message.role != Role::User && !message.has_compaction() {
            found.add(0, "the first message is not the user's");
        }
        if message.role == Role::System && !is_in_place(view.messages, index) {
            found.add(
                index,
                "a system message stands neither between a user's and an assistant's message nor at the end",
            );
        }
    }
}

/// Newer models take instructions in the middle: behind a turn of the user's, or one that ends
/// with a server tool's result, and in front of one of the assistant's.
fn is_in_place(messages: &[Message], index: usize) -> bool {
    let Some(before) = index.checked_sub(1).and_then(|before| messages.get(before)) else {
        return false;
    };
    let ends_with_result = before
        .opaques()
        .last()
        .is_some_and(|opaque| matches!(opaque.link, Link::Closes(_)));
    let next = messages.get(index + 1).map(|next| next.role);
    (before.role == Role::User || ends_with_result) && matches!(next, None | Some(Role::Assistant))
}

/// Turns, each with the index of its first message.
pub(super) fn turns(messages: &[Message]) -> impl Iterator<Item = (usize, &[Message])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = messages.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        at += run(rest);
        Some((start, &messages[start..at]))
    })
}

fn outputs_stand_behind_their_calls(view: &View<'_>, found: &mut Findings) {
    let mut called: HashSet<&str> = HashSet::new();
    for (at, turn) in turns(view.messages) {
        for (index, message) in turn.iter().enumerate() {
            for output in message.outputs() {
                if message.role != Role::User {
                    found.add(at + index, "a `tool_result` is not in a user message");
                } else if !called.contains(output.call_id.as_str()) {
                    let what = "a `tool_result` has no `tool_use` in the message before it";
                    found.add(at + index, what);
                }
            }
        }
        called = turn
            .iter()
            .flat_map(Message::calls)
            .map(|call| call.id.as_str())
            .collect();
    }
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    for (at, turn) in turns(view.messages) {
        let mut other = false;
        for (index, message) in turn.iter().enumerate() {
            for part in &message.parts {
                let is_output = matches!(part.content, Content::Output(_));
                if is_output && other {
                    found.add(at + index, "a `tool_result` stands behind other blocks");
                }
                other |= !is_output;
            }
        }
        let after = &view.messages[at + turn.len()..];
        if after.is_empty() {
            continue;
        }
        let answered: HashSet<&str> = after[..run(after)]
            .iter()
            .flat_map(Message::outputs)
            .map(|output| output.call_id.as_str())
            .collect();
        for (index, message) in turn.iter().enumerate() {
            if message
                .calls()
                .any(|call| !answered.contains(call.id.as_str()))
            {
                let what = "a `tool_use` has no `tool_result` in the next message";
                found.add(at + index, what);
            }
        }
    }
}

/// The API looks at the open loop only, and only where thinking is on. Without interleaved
/// thinking the loop's first response alone thinks; the error text speaks of the final one. So
/// either will do.
fn an_open_loop_begins_with_thinking(view: &View<'_>, found: &mut Findings) {
    if !view.envelope.wants_thinking() {
        return;
    }
    let turns: Vec<(usize, &[Message])> = turns(view.messages).collect();
    let answers = |turn: &[Message]| turn.iter().any(|own| own.outputs().next().is_some());
    // Responses, and the answers to their calls: from the newest back.
    let mut steps = turns
        .rchunks_exact(2)
        .take_while(|pair| answers(pair[1].1))
        .map(|pair| pair[0]);
    let Some(newest) = steps.next() else {
        return;
    };
    let first = steps.last().unwrap_or(newest);
    if !begins_with_thinking(newest.1) && !begins_with_thinking(first.1) {
        let what = "the response of an open tool loop does not begin with its thinking";
        found.add(newest.0, what);
    }
}

fn begins_with_thinking(turn: &[Message]) -> bool {
    turn.first().is_none_or(Message::begins_with_thinking)
}

fn texts_are_not_empty(view: &View<'_>, found: &mut Findings) {
    common::no_text_is_blank(view, found);
    if view.envelope.has_empty_block {
        found.add_to_whole("a block of the system prompt is empty");
    }
    let Some((index, last)) = view.messages.iter().enumerate().next_back() else {
        return;
    };
    if last.role == Role::Assistant
        && let Some(Content::Text(place)) = last.parts.last().map(|part| &part.content)
        && crate::conversation::message::text_at(view.document, place)
            .ends_with(char::is_whitespace)
    {
        found.add(index, "the final assistant message ends in white space");
    }
}

fn blocks_are_right(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    if let Some((index, last)) = view.messages.iter().enumerate().next_back()
        && last.role == Role::Assistant
        && last
            .parts
            .last()
            .is_some_and(|part| part.content.is_thinking())
    {
        found.add(index, "the final assistant message ends with thinking");
    }
}

fn server_tools_stay_together(view: &View<'_>, found: &mut Findings) {
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (at, turn) in turns(view.messages) {
        // A response that the provider paused goes on in the next request, and so does one whose
        // code waits for the client's tools.
        if turn.iter().any(|message| message.role == Role::User)
            && turn
                .iter()
                .all(|message| message.outputs().next().is_none())
        {
            for (index, _) in open.drain(..) {
                found.add(index, "a server tool's use has no result in its turn");
            }
        }
        for (index, message) in turn.iter().enumerate() {
            for opaque in message.opaques() {
                match &opaque.link {
                    Link::Opens(id) => open.push((at + index, id)),
                    Link::Closes(id) => match open.iter().position(|(_, own)| own == id) {
                        Some(place) => {
                            open.remove(place);
                        }
                        None => {
                            found.add(
                                at + index,
                                "a server tool's result has no use before it in its turn",
                            );
                        }
                    },
                    Link::None => {}
                }
            }
        }
    }
}

fn cache_marks_are_few(view: &View<'_>, found: &mut Findings) {
    let marks = view.envelope.cache_marks
        + view
            .messages
            .iter()
            .map(|message| message.cache_marks)
            .sum::<u32>();
    if marks > CACHE_MARKS {
        found.add_to_whole(format!(
            "there are {marks} `cache_control` marks, and the provider takes {CACHE_MARKS}"
        ));
    }
}
