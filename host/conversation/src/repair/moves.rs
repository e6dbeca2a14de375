//! Outputs that are parts of messages, and stand in the wrong one.

use std::collections::BTreeMap;

use super::answers::{ANSWERED, LEFT_OUT, MOVED};
use super::{Draft, Reading};
use crate::formats::Replacement;
use crate::formats::rules::common::begins_with_the_model;
use crate::model::message::{Call, Content, Message, Output, Part, Role};
use crate::model::pairing::Among;

/// A message of the user with these blocks, in formats in which `content` holds them.
pub(crate) fn message_of(blocks: &str) -> String {
    format!(r#"{{"role":"user","content":[{blocks}]}}"#)
}

/// Puts a note before the model where it speaks first.
pub(crate) fn begin_with_the_user(reading: &Reading, draft: &mut Draft<'_>) {
    if begins_with_the_model(&reading.messages) {
        draft.put_note_of(Role::User, 0);
    }
}

/// An output that stands where it may not.
pub(crate) struct Stray {
    pub(crate) message: usize,
    pub(crate) part: usize,
    /// Before which message the outputs of its call belong; `None` if no call waits.
    pub(crate) to: Option<usize>,
}

/// Outputs that stand where they may not; `take` tells of one in the message with an index where its call waits
/// for it.
pub(crate) fn strays(
    reading: &Reading,
    is_stray: impl Fn(&Output) -> bool,
    mut take: impl FnMut(&Output, usize) -> Option<usize>,
) -> Vec<Stray> {
    let mut strays = Vec::new();
    for (message, own) in reading.each() {
        for (part, own) in own.parts.iter().enumerate() {
            if let Content::Output(output) = &own.content
                && is_stray(output)
            {
                let to = take(output, message);
                strays.push(Stray { message, part, to });
            }
        }
    }
    strays
}

/// The index of the last part of a message that is an output, but none of `orphans`.
pub(crate) fn last_output(message: &Message, orphans: &Among<Output>) -> Option<usize> {
    message.parts.iter().rposition(|part| match &part.content {
        Content::Output(output) => !orphans.has(output),
        _ => false,
    })
}

/// Answers the calls of messages that the next one does not answer: behind its outputs, or in a `message` of
/// the user's around the new ones.
pub(crate) fn answer_calls(
    reading: &Reading,
    draft: &mut Draft<'_>,
    unanswered: for<'m> fn(&'m Message, &'m Message) -> Vec<&'m Call>,
    output: impl Fn(&Part, &Call) -> String,
    message: fn(&str) -> String,
) {
    for (index, own, next) in reading.pairs() {
        let unanswered = unanswered(own, next);
        if unanswered.is_empty() {
            continue;
        }
        let behind = last_output(next, &Among::default());
        if behind.is_some() && next.opaque {
            continue;
        }
        let unanswered = Among::of(unanswered);
        let mut outputs = Vec::new();
        for part in &own.parts {
            if let Content::Call(call) = &part.content
                && unanswered.has(call)
            {
                outputs.push(output(part, call));
                draft.did(index, ANSWERED);
            }
        }
        match behind {
            Some(part) => join(reading, draft, index + 1, part, &outputs),
            None => draft.add(index + 1, 0, message(&outputs.join(","))),
        }
    }
}

/// Moves outputs to where they belong, and leaves out those that belong nowhere.
///
/// `behind` names the part of a message after which the outputs for a place go, where they have
/// to join others; else `message` makes one of their own around them.
pub(crate) fn settle(
    reading: &Reading,
    draft: &mut Draft<'_>,
    strays: &[Stray],
    behind: impl Fn(usize) -> Option<(usize, usize)>,
    message: fn(&str) -> String,
) {
    let mut sources: BTreeMap<usize, Vec<&Stray>> = BTreeMap::new();
    for stray in strays {
        sources.entry(stray.message).or_default().push(stray);
    }
    // What goes to a place: from which message, and its parts.
    let mut arriving: BTreeMap<usize, Vec<(usize, &str)>> = BTreeMap::new();
    for (source, strays) in sources {
        let Some(own) = reading.messages.get(source) else {
            continue;
        };
        if own.opaque && strays.iter().any(|stray| stray.to.is_some()) {
            // What is sealed goes as a whole, and joins nothing.
            let to = strays.first().and_then(|stray| stray.to);
            let is_whole = own.role == Role::User
                && strays.len() == own.parts.len()
                && strays.iter().all(|stray| stray.to == to);
            if let Some(to) = to.filter(|to| is_whole && behind(*to).is_none()) {
                draft.move_to(source, to, MOVED);
            }
            continue;
        }
        let parts: Vec<usize> = strays.iter().map(|stray| stray.part).collect();
        if !draft.drop_parts(source, &parts) {
            continue;
        }
        for stray in strays {
            draft.did(source, if stray.to.is_some() { MOVED } else { LEFT_OUT });
            let part = own.parts.get(stray.part);
            if let Some((to, part)) = stray.to.zip(part) {
                let part = (source, reading.raw(&part.place));
                arriving.entry(to).or_default().push(part);
            }
        }
    }
    for (to, parts) in arriving {
        arrive(reading, draft, to, &parts, behind(to), message);
    }
}

/// Puts parts, each with the message that it comes from, where they belong.
fn arrive(
    reading: &Reading,
    draft: &mut Draft<'_>,
    to: usize,
    parts: &[(usize, &str)],
    behind: Option<(usize, usize)>,
    message: fn(&str) -> String,
) {
    let Some((source, _)) = parts.first() else {
        return;
    };
    let list: Vec<&str> = parts.iter().map(|(_, part)| *part).collect();
    if let Some((owner, part)) = behind {
        join(reading, draft, owner, part, &list);
        return;
    }
    let is_whole = parts.iter().all(|(own, _)| own == source)
        && reading
            .messages
            .get(*source)
            .is_some_and(|own| own.role == Role::User && own.parts.len() == parts.len());
    if is_whole {
        draft.put_before(*source, to);
    } else {
        draft.add(to, reading.number(*source), message(&list.join(",")));
    }
}

/// Puts parts after one of a message's own.
pub(crate) fn join(
    reading: &Reading,
    draft: &mut Draft<'_>,
    message: usize,
    part: usize,
    parts: &[impl AsRef<str>],
) {
    let own = reading.messages.get(message);
    if let Some(part) = own.and_then(|own| own.parts.get(part)) {
        let end = part.place.end;
        let with = parts.iter().fold(String::new(), |mut with, part| {
            with.push(',');
            with.push_str(part.as_ref());
            with
        });
        let place = end..end;
        draft.edit(message, Replacement { place, with });
        draft.did(message, "further outputs were added");
    }
}
