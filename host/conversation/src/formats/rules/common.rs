//! Checks that several formats share.

use std::collections::HashSet;

use super::{Findings, View};
use crate::formats::ProviderLimits;
use crate::json;
use crate::model::document::Document;
use crate::model::envelope::Envelope;
use crate::model::message::{Content, Message, Output, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::rule::Severity;

/// ALL-1 in a format whose provider refuses a request of instructions alone.
pub(crate) fn somebody_speaks(view: &View<'_>, found: &mut Findings) {
    if view.messages.iter().all(|message| message.role.instructs()) {
        found.add_to_whole("there is no message other than instructions");
    }
}

/// ALL-1 in the others, which refuse an empty list, unless the request goes on from a stored one.
pub(crate) fn somebody_should_speak(view: &View<'_>, found: &mut Findings) {
    if view.messages.is_empty() && view.envelope.continues {
        found.warn_of_whole("there is no message");
    } else if view.messages.is_empty() {
        found.add_to_whole("there is no message");
    } else if view.messages.iter().all(|message| message.role.instructs()) {
        found.warn_of_whole("there is no message other than instructions");
    }
}

/// ALL-4 in one response: no two of its calls have one id.
pub(crate) fn ids_of_a_response_are_unique<'a>(
    response: impl IntoIterator<Item = (usize, &'a Message)>,
    severity: Severity,
    found: &mut Findings,
) {
    let mut called: HashSet<&str> = HashSet::new();
    for (index, message) in response {
        let mut calls = message.calls().filter(|call| !call.id.is_empty());
        if calls.any(|call| !called.insert(&call.id)) {
            let what = "the id of a tool call was used before in the same response";
            found.note(severity, index, what);
        }
    }
}

/// ALL-4 of outputs: no call is answered twice. `messages` begin at index `at`.
pub(crate) fn no_call_is_answered_twice<'a>(
    at: usize,
    messages: impl IntoIterator<Item = &'a Message>,
    pairing: &Pairing<'a>,
    found: &mut Findings,
) {
    report(at, messages, &pairing.second, |index| {
        found.add(index, "a tool call is answered twice");
    });
}

/// Calls `report` for each message that holds one of these outputs.
pub(crate) fn report<'a>(
    at: usize,
    messages: impl IntoIterator<Item = &'a Message>,
    outputs: &[&'a Output],
    mut report: impl FnMut(usize),
) {
    if outputs.is_empty() {
        return;
    }
    let outputs = Among::of(outputs.iter().copied());
    for (index, message) in messages.into_iter().enumerate() {
        if message.outputs().any(|own| outputs.has(own)) {
            report(at + index);
        }
    }
}

/// What the readers of messages saw that breaks a rule.
pub(crate) fn readers_saw_no_flaw(view: &View<'_>, found: &mut Findings) {
    found.add_flaws(view.messages);
}

/// Whether the model speaks first.
pub(crate) fn begins_with_the_model(messages: &[Message]) -> bool {
    let first = messages.first();
    first.is_some_and(|first| first.role == Role::Assistant)
}

/// How many marks for the cache a request has.
pub(crate) fn cache_marks(envelope: &Envelope, messages: &[Message]) -> u32 {
    let own: u32 = messages.iter().map(|own| own.cache_marks).sum();
    envelope.cache_marks + own
}

/// ALL-6, where a message whose whole content is an empty text is legal.
pub(crate) fn no_text_part_is_empty(view: &View<'_>, found: &mut Findings) {
    empty_texts(view, found, Empty::PartsOnly);
}

/// Where a format lets a text be empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Empty {
    /// A part may not be, the whole content of a message may.
    PartsOnly,
    /// The provider accepts any that is empty, but not all servers may; a list without parts is refused.
    Doubtful,
    /// White space counts as empty too, and the last message of the model's may be empty as a whole.
    NeverNorBlank,
}

/// Whether a part is a text of nothing but white space.
pub(crate) fn is_blank_part(document: &Document, part: &Part) -> bool {
    matches!(&part.content, Content::Text(place) if is_blank(document, place))
}

/// Whether a text is nothing but white space.
fn is_blank(document: &Document, place: &json::Place) -> bool {
    let raw = document.at(place);
    json::is_text(raw) && json::is_blank(raw)
}

/// Whether a message holds anything but texts of white space (ANTH-6). Beside that the API accepts such
/// texts: it writes them itself, before calls and between cited texts.
pub(crate) fn holds_more_than_blanks(document: &Document, message: &Message) -> bool {
    let mut parts = message.parts.iter();
    !parts.all(|part| is_blank_part(document, part))
}

/// Reports texts that are empty where the format does not let them be.
pub(crate) fn empty_texts(view: &View<'_>, found: &mut Findings, empty: Empty) {
    for (index, message) in view.messages.iter().enumerate() {
        let is_final = index + 1 == view.messages.len() && message.role == Role::Assistant;
        if message.is_directive
            || empty == Empty::NeverNorBlank && is_final && is_nothing(view.document, message)
        {
            continue;
        }
        // OpenAI's and Google's servers answer requests with empty parts, and of Anthropic's nobody knows
        // what they say to an empty block of instructions.
        let severity = match empty {
            Empty::PartsOnly | Empty::Doubtful => Severity::Warning,
            Empty::NeverNorBlank if message.role == Role::System => Severity::Warning,
            Empty::NeverNorBlank => Severity::Error,
        };
        // Looked up once, whatever number of blank texts there are.
        let mut holds_more = None;
        for part in &message.parts {
            let Content::Text(place) = &part.content else {
                continue;
            };
            let is_whole = message.content.as_ref() == Some(place);
            let is_empty = place.len() == 2 && !(empty == Empty::PartsOnly && is_whole);
            let is_blank = || empty == Empty::NeverNorBlank && is_blank(view.document, place);
            if !is_empty && !is_blank() {
                continue;
            }
            let is_accepted = !is_empty
                && *holds_more
                    .get_or_insert_with(|| holds_more_than_blanks(view.document, message));
            if is_accepted {
                found.warn(index, "a text part is nothing but white space");
            } else {
                found.note(severity, index, "a text part is empty");
            }
        }
        if let Some(content) = &message.content
            && json::is_list(view.document.at(content))
            && message.parts.is_empty()
        {
            let severity = match empty {
                Empty::Doubtful => Severity::Error,
                Empty::PartsOnly | Empty::NeverNorBlank => severity,
            };
            found.note(severity, index, "the content is an empty list");
        }
    }
}

/// Whether the content of a message is an empty text or an empty list.
pub(crate) fn is_nothing(document: &Document, message: &Message) -> bool {
    let raw = message.content.as_ref().map(|place| document.at(place));
    raw.is_some_and(|raw| raw == "\"\"" || json::is_empty_list(raw))
}

/// ALL-8: what a provider does not take, whatever the budget says.
pub(crate) fn sizes_are_within_limits(view: &View<'_>, found: &mut Findings) {
    let limits = view.limits;
    if view.bytes > limits.body_bytes {
        found.add_to_whole(format!(
            "the request has {} bytes; the provider accepts {}",
            view.bytes, limits.body_bytes
        ));
    }
    let pictures = || {
        view.messages
            .iter()
            .flat_map(Message::media)
            .filter(|media| media.is_picture())
    };
    let number = u32::try_from(pictures().count()).unwrap_or(u32::MAX);
    let side = if number > ProviderLimits::MANY_PICTURES {
        limits.picture_side_of_many
    } else {
        limits.picture_side
    };
    for (index, message) in view.messages.iter().enumerate() {
        for media in message.media().filter(|media| media.is_picture()) {
            if let Some(bytes) = limits.bytes_above(media, view.document) {
                let most = limits.picture_bytes;
                let what = format!("a picture has {bytes} bytes; the provider accepts {most}");
                found.add(index, what);
            }
            if side < u32::MAX
                && let Some((width, height)) = media.pixels(view.document)
                && width.max(height) > side
            {
                let what = format!(
                    "a picture is {width} by {height} pixels; the provider accepts {side} a side"
                );
                found.add(index, what);
            }
        }
    }
    if number > limits.pictures {
        found.add_to_whole(format!(
            "there are {number} pictures; the provider accepts {}",
            limits.pictures
        ));
    }
}
