//! The rules of Anthropic Messages. Neighbours of one role count as one message, as the API
//! takes them (ANTH-2).

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::run;
use crate::formats::rules::{Check, Findings, View, common};
use crate::model::message::{Content, Link, Message, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::{Rule, Severity};

/// Marks for the cache that a request may have.
pub(crate) const CACHE_MARKS: u32 = 4;

pub(super) const CHECKS: &[Check] = &[
    (Rule::All1, common::somebody_speaks),
    (Rule::All4, ids_are_unique),
    (Rule::Anth1, roles_are_right),
    (Rule::Anth3, calls_are_answered_at_once),
    (Rule::Anth4, outputs_stand_behind_their_calls),
    (Rule::Anth5, an_open_loop_begins_with_thinking),
    (Rule::Anth6, texts_are_not_empty),
    (Rule::Anth7, server_tools_stay_together),
    (Rule::Anth8, compactions_are_right),
    (Rule::Anth9, cache_marks_are_few),
    (Rule::Anth10, common::sizes_are_within_limits),
    (Rule::Anth11, blocks_are_right),
];

fn roles_are_right(view: &View<'_>, found: &mut Findings) {
    // Of a conversation that the provider holds only what is new is here.
    let first = view.messages.first().filter(|_| !view.envelope.continues);
    // What a provider's own compaction left may come first. Newer models take other words of
    // the model's there as well; results still put a note in front.
    if first.is_some_and(|first| first.role == Role::Assistant && !first.has_compaction()) {
        found.warn(0, "the first message is not from the user");
    }
    for group in system_groups(view.messages) {
        let may_follow = group.start == 0 && view.envelope.continues;
        if !may_follow && !is_in_place(view.messages, &group) {
            for index in group {
                let what =
                    "a system message is neither between a user and an assistant message nor last";
                found.add(index, what);
            }
        }
    }
}

/// Runs of neighbouring system messages.
pub(crate) fn system_groups(messages: &[Message]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at
            + messages
                .get(at..)?
                .iter()
                .position(|own| own.role == Role::System)?;
        at = start + run(&messages[start..]);
        Some(start..at)
    })
}

/// Newer models take instructions in the middle: after a turn of the user, or one that ends
/// with a server tool's result, and before one of the assistant. Those that only set options
/// of the answer stand anywhere but between calls and their results (ANTH-3).
pub(crate) fn is_in_place(messages: &[Message], group: &Range<usize>) -> bool {
    if messages[group.clone()].iter().any(|own| own.is_directive) {
        return true;
    }
    let Some(before) = group.start.checked_sub(1).map(|before| &messages[before]) else {
        return false;
    };
    let next = messages.get(group.end).map(|next| next.role);
    before.takes_instructions_behind() && matches!(next, None | Some(Role::Assistant))
}

/// Turns, each with the index of its first message.
pub(crate) fn turns(messages: &[Message]) -> impl Iterator<Item = (usize, &[Message])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = messages.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        at += run(rest);
        Some((start, &messages[start..at]))
    })
}

/// Each turn with the messages of the one after it, which answer its calls.
pub(crate) fn with_answers(
    messages: &[Message],
) -> impl Iterator<Item = (usize, &[Message], &[Message])> {
    turns(messages).map(|(at, turn)| {
        let after = &messages[at + turn.len()..];
        (at, turn, &after[..run(after)])
    })
}

/// How the calls of a turn and the results of the next one belong together.
pub(crate) fn pairing<'a>(turn: &'a [Message], answers: &'a [Message]) -> Pairing<'a> {
    let calling = turn
        .iter()
        .filter(|message| message.role == Role::Assistant);
    let answering = answers.iter().filter(|message| message.role == Role::User);
    let outputs = answering.flat_map(Message::outputs);
    Pairing::between(calling.flat_map(Message::calls), outputs, false)
}

fn ids_are_unique(view: &View<'_>, found: &mut Findings) {
    for (at, turn, answers) in with_answers(view.messages) {
        let response = turn
            .iter()
            .enumerate()
            .map(|(index, own)| (at + index, own));
        common::ids_of_a_response_are_unique(response, Severity::Error, found);
        let pairing = pairing(turn, answers);
        common::no_call_is_answered_twice(at + turn.len(), answers, &pairing, found);
    }
}

fn outputs_stand_behind_their_calls(view: &View<'_>, found: &mut Findings) {
    let what = "a `tool_result` has no `tool_use` in the message before it";
    let is_behind_calls = |at: usize| {
        let before = at.checked_sub(1).map(|before| view.messages[before].role);
        before == Some(Role::Assistant)
    };
    for (at, turn, answers) in with_answers(view.messages) {
        for (index, message) in turn.iter().enumerate() {
            if !message.has_outputs() {
                continue;
            }
            if message.role != Role::User {
                found.add(at + index, "a `tool_result` is not in a user message");
            } else if !(is_behind_calls(at) || at == 0 && view.envelope.continues) {
                found.add(at + index, what);
            }
        }
        if turn.iter().any(|message| message.role == Role::Assistant) {
            let pairing = pairing(turn, answers);
            let start = at + turn.len();
            common::report(start, answers, &pairing.orphans, |index| {
                found.add(index, what)
            });
            for (index, message) in answers.iter().enumerate() {
                if message.outputs().any(|output| output.call_id.is_empty()) {
                    let what = "a `tool_result` has no `tool_use_id`; it is matched with the first unanswered call";
                    found.warn(start + index, what);
                }
            }
        }
    }
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    for (at, turn, answers) in with_answers(view.messages) {
        let mut other = false;
        for (index, message) in turn.iter().enumerate() {
            for part in &message.parts {
                let is_output = part.is_output();
                if is_output && other {
                    found.add(at + index, "a `tool_result` comes after other blocks");
                }
                other |= !is_output;
            }
        }
        if answers.is_empty() {
            continue;
        }
        let waiting = Among::of(pairing(turn, answers).unanswered);
        for (index, message) in turn.iter().enumerate() {
            if message.calls().any(|call| waiting.has(call)) {
                let what = "a `tool_use` has no `tool_result` in the next message";
                found.add(at + index, what);
            }
        }
    }
}

/// The API looks at the open loop only, and only where thinking is on. Without interleaved
/// thinking the loop's first response alone thinks; the older error text speaks of the final one. So
/// either will do. Now the API accepts such a request and does not think, which no result may bring about.
pub(crate) fn an_open_loop_begins_with_thinking(view: &View<'_>, found: &mut Findings) {
    // What began the loop may be held by the provider.
    if !view.envelope.wants_thinking() || view.envelope.continues {
        return;
    }
    // A final message of the assistant's may be empty, and then ends no loop.
    let messages = match view.messages.split_last() {
        Some((last, rest))
            if last.role == Role::Assistant && common::is_nothing(view.document, last) =>
        {
            rest
        }
        _ => view.messages,
    };
    // Instructions in the middle part no turns.
    let turns: Vec<(usize, &[Message])> = turns(messages)
        .filter(|(_, turn)| turn.iter().any(|own| own.role != Role::System))
        .collect();
    let answers = |turn: &[Message]| turn.iter().any(Message::has_outputs);
    // Responses, and the answers to their calls: from the newest back.
    let mut steps = turns
        .rchunks_exact(2)
        .take_while(|pair| answers(pair[1].1))
        .map(|pair| pair[0]);
    let Some(newest) = steps.next() else {
        return;
    };
    let first = steps.last().unwrap_or(newest);
    let thinks = |turn: &[Message]| turn.first().is_none_or(Message::begins_with_thinking);
    if !thinks(newest.1) && !thinks(first.1) {
        let what = "the response of an open tool loop does not begin with its thinking";
        found.warn(newest.0, what);
    }
}

fn texts_are_not_empty(view: &View<'_>, found: &mut Findings) {
    common::empty_texts(view, found, common::Empty::NeverNorBlank);
    if view.envelope.has_empty_block {
        found.add_to_whole("a block of the system prompt is empty");
    }
    let Some((index, last)) = view.messages.iter().enumerate().next_back() else {
        return;
    };
    if last.role == Role::Assistant
        && let Some(Content::Text(place)) = last.parts.last().map(|part| &part.content)
        && crate::model::message::text_at(view.document, place).ends_with(char::is_whitespace)
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

/// Blocks of server tools without the other half, each as the index of its message and its own in that.
#[derive(Default)]
pub(crate) struct Halves {
    pub(crate) uses: Vec<(usize, usize)>,
    pub(crate) results: Vec<(usize, usize)>,
}

impl Halves {
    /// A response that the provider paused goes on in the next request, and so does one whose code
    /// waits for the client's tools.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut halves = Self::default();
        // The uses of each id that have no result yet, the first ones first.
        let mut open: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        for (at, turn) in turns(messages) {
            let answers = turn.iter().any(Message::has_outputs);
            if turn[0].role == Role::User && !answers {
                let uses = open.drain().flat_map(|(_, uses)| uses);
                halves.uses.extend(uses);
            }
            for (index, message) in (at..).zip(turn) {
                for (part, own) in message.parts.iter().enumerate() {
                    match link(own) {
                        Some(Link::Opens(id)) => {
                            open.entry(id).or_default().push_back((index, part));
                        }
                        Some(Link::Closes(id)) => {
                            let uses = open.get_mut(id.as_str());
                            if uses.and_then(VecDeque::pop_front).is_none() {
                                halves.results.push((index, part));
                            }
                        }
                        Some(Link::None | Link::Hosted | Link::Unknown) | None => {}
                    }
                }
            }
        }
        halves
    }
}

/// How a block that is not read belongs with another one.
pub(crate) fn link(part: &Part) -> Option<&Link> {
    match &part.content {
        Content::Opaque(opaque) => Some(&opaque.link),
        _ => None,
    }
}

/// Of a use without a result no refusal is known.
fn server_tools_stay_together(view: &View<'_>, found: &mut Findings) {
    let halves = Halves::of(view.messages);
    for (index, _) in halves.uses {
        found.warn(index, "a call of a server tool has no result in its turn");
    }
    // What it belongs to may be held by the provider.
    if !view.envelope.continues {
        for (index, _) in halves.results {
            let what = "a server tool's result has no use before it in its turn";
            found.add(index, what);
        }
    }
}

/// A signed one, which the client asked for, stands for all that came before it; others may stand
/// anywhere.
fn compactions_are_right(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    for (index, message) in view.messages.iter().enumerate().skip(1) {
        if message.stands_first {
            found.add(index, "a signed `compaction` is not in the first message");
        }
    }
}

fn cache_marks_are_few(view: &View<'_>, found: &mut Findings) {
    let marks = common::cache_marks(view.envelope, view.messages);
    if marks > CACHE_MARKS {
        found.add_to_whole(format!(
            "there are {marks} `cache_control` marks; the provider accepts {CACHE_MARKS}"
        ));
    }
}
