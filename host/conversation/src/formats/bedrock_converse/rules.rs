//! The rules of Bedrock Converse. The service checks most of them itself, whatever the model.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use super::read::{DOCUMENT, is_cache_point};
use crate::formats::anthropic::rules::{CACHE_MARKS, an_open_loop_begins_with_thinking};
use crate::formats::rules::{Check, Findings, View, common};
use crate::model::message::{Content, Media, Message, Role};
use crate::model::pairing::Pairing;
use crate::model::rule::{Rule, Severity};

/// Documents that a message may hold.
const DOCUMENTS: usize = 5;

/// The most characters of the name of a document.
const LONGEST_NAME: usize = 200;

pub(super) const CHECKS: &[Check] = &[
    (Rule::All1, common::somebody_speaks),
    (Rule::All4, ids_are_unique),
    (Rule::All8, common::sizes_are_within_limits),
    (Rule::Bed1, the_user_speaks_first),
    (Rule::Bed2, roles_alternate),
    (Rule::Bed3, calls_are_answered_at_once),
    (Rule::Bed4, results_follow_their_calls),
    (Rule::Bed5, calls_have_their_tools),
    (Rule::Bed6, nothing_is_blank),
    (Rule::Bed7, an_open_loop_begins_with_thinking),
    (Rule::Bed8, common::readers_saw_no_flaw),
    (Rule::Bed9, documents_are_named_and_introduced),
    (Rule::Bed10, cache_points_are_right),
];

fn the_user_speaks_first(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    if common::begins_with_the_model(view.messages) {
        found.warn(0, "the first message is not from the user");
    }
}

fn roles_alternate(view: &View<'_>, found: &mut Findings) {
    for (index, pair) in view.messages.windows(2).enumerate() {
        if pair[0].role == pair[1].role && !pair[0].role.instructs() {
            found.warn(index + 1, "the message before it has the same role");
        }
    }
}

/// How the calls of a message and the results in the next one belong together. Only results of the user's
/// answer calls of the model's.
pub(crate) fn pairing<'a>(calling: &'a Message, answering: &'a Message) -> Pairing<'a> {
    let answers = Some(answering).filter(|own| own.role == Role::User);
    let outputs = answers.into_iter().flat_map(Message::outputs);
    Pairing::between(calling.calls(), outputs, false)
}

/// Whether the message after it has to answer a message.
pub(crate) fn calls(message: &Message) -> bool {
    message.role == Role::Assistant && message.has_calls()
}

fn ids_are_unique(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        common::ids_of_a_response_are_unique([(index, message)], Severity::Error, found);
        if let Some(next) = view.messages.get(index + 1) {
            let pairing = pairing(message, next);
            common::no_call_is_answered_twice(index + 1, [next], &pairing, found);
        }
    }
}

fn calls_are_answered_at_once(view: &View<'_>, found: &mut Findings) {
    for (index, pair) in view.messages.windows(2).enumerate() {
        if calls(&pair[0]) && !pairing(&pair[0], &pair[1]).unanswered.is_empty() {
            found.add(index, "a `toolUse` has no `toolResult` in the next message");
        }
    }
}

fn results_follow_their_calls(view: &View<'_>, found: &mut Findings) {
    for (index, message) in view.messages.iter().enumerate() {
        if !message.has_outputs() {
            continue;
        }
        if message.role != Role::User {
            found.add(index, "a `toolResult` is not in a user message");
            continue;
        }
        let before = index.checked_sub(1).map(|before| &view.messages[before]);
        let is_right = before
            .filter(|before| calls(before))
            .is_some_and(|before| pairing(before, message).orphans.is_empty());
        if !is_right {
            let what = "a `toolResult` has no `toolUse` in the message before it";
            found.add(index, what);
        }
    }
}

fn calls_have_their_tools(view: &View<'_>, found: &mut Findings) {
    let uses_tools = |own: &Message| own.has_calls() || own.has_outputs();
    if view.envelope.lacks_tools && view.messages.iter().any(uses_tools) {
        found.add_to_whole("there are tool calls or results, and the request has no `toolConfig`");
    }
}

fn nothing_is_blank(view: &View<'_>, found: &mut Findings) {
    if view.envelope.has_empty_block {
        found.add_to_whole("a block of the system prompt is empty");
    }
    for (index, message) in view.messages.iter().enumerate() {
        let mut parts = message.parts.iter();
        if parts.any(|part| common::is_blank_part(view.document, part)) {
            if common::holds_more_than_blanks(view.document, message) {
                found.warn(index, "a text is blank");
            } else {
                found.add(index, "there is nothing but blank texts");
            }
        }
        if is_empty(message) {
            found.add(index, "the content is empty");
        }
    }
}

/// Whether a message has no block, or nothing but marks for the cache.
pub(crate) fn is_empty(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    parts.all(|part| is_cache_point(&part.content))
}

/// The documents that stand in a message beside its texts, with the indices of their parts.
pub(crate) fn documents(message: &Message) -> impl Iterator<Item = (usize, &Media)> {
    let parts = message.parts.iter().enumerate();
    parts.filter_map(|(index, part)| match &part.content {
        Content::Media(media) if media.kind == DOCUMENT => Some((index, &**media)),
        _ => None,
    })
}

/// Whether a message holds a text, which documents need beside them.
pub(crate) fn has_text(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    parts.any(|part| matches!(part.content, Content::Text(_)))
}

/// Whether the service accepts a character in the name of a document. It takes underscores too, though its
/// documents do not name them.
pub(crate) fn is_of_names(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '(' | ')' | '[' | ']')
}

/// Whether the service accepts the name of a document.
pub(crate) fn is_legal_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(is_of_names)
        && !name.contains("  ")
}

fn documents_are_named_and_introduced(view: &View<'_>, found: &mut Findings) {
    let mut names: HashSet<&str> = HashSet::new();
    for (index, message) in view.messages.iter().enumerate() {
        let mut count = 0;
        for (_, document) in documents(message) {
            count += 1;
            let name = document.name.as_deref().unwrap_or_default();
            if !is_legal_name(name) {
                let what = "the name of a document is missing, too long, or has characters that the service refuses";
                found.add(index, what);
            } else if !names.insert(name) {
                found.add(index, "a document has the name of another one");
            }
        }
        if count > 0 && !has_text(message) {
            found.add(index, "a document has no text beside it");
        }
        if count > DOCUMENTS {
            found.add(index, "there are more than five documents in the message");
        }
    }
}

fn cache_points_are_right(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
    let marks = common::cache_marks(view.envelope, view.messages);
    if marks > CACHE_MARKS {
        found.add_to_whole(format!(
            "there are {marks} `cachePoint` blocks; the provider accepts {CACHE_MARKS}"
        ));
    }
}
