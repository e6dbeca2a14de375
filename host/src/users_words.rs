//! Finds what the user said: messages, remarks beside tool outputs, and answers through a tool.
//!
//! These words keep the user's authority only in their own place, so the host protects them up to a share of the budget
//! (invariant I4). What programs write in the user's role does not count as the user's.

use std::borrow::Cow;

use baler_conversation::message::{Content, Message, Part};
use baler_conversation::{Conversation, Role, UnitKind};
use baler_digest::{ByAuthor, asks_user, by_author, is_refusal_with_reason};

/// Returns whether the user said something in a unit. A message of pictures alone holds no words.
pub(crate) fn are_in(conversation: &Conversation, unit: usize) -> bool {
    let own = &conversation.units()[unit];
    let may_hold = matches!(own.kind, UnitKind::User | UnitKind::Step | UnitKind::Other);
    may_hold
        && conversation.messages(unit).iter().any(|message| {
            own.traits.user_text && says_something(conversation, message)
                || message
                    .parts
                    .iter()
                    .any(|part| is_answer(conversation, message, part))
        })
}

/// Returns whether a part is a tool output that is the user's answer.
pub(crate) fn is_answer(conversation: &Conversation, message: &Message, part: &Part) -> bool {
    let Content::Output(output) = &part.content else {
        return false;
    };
    // Outputs may be large, and few of them are answers.
    let is_asked = asks_user(&output.name) && !output.failed;
    if !is_asked && !output.marked_failed {
        return false;
    }
    let text = match conversation.opened(message, part) {
        // Below the host's first line, what is left begins as the whole does.
        Some(opened) if opened.is_excerpt() => {
            let (_, body) = opened.text.split_once('\n').unwrap_or_default();
            Cow::Owned(body.to_owned())
        }
        Some(_) => return false,
        None => output.text(conversation.source()),
    };
    match is_asked {
        true => !text.trim().is_empty(),
        false => is_refusal_with_reason(&text),
    }
}

fn says_something(conversation: &Conversation, message: &Message) -> bool {
    if message.role != Role::User || message.is_recorded_summary {
        return false;
    }
    let texts = message.parts.iter();
    let texts: Vec<Cow<'_, str>> = texts
        .map(|part| said_in(conversation, message, part))
        .collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let authors = by_author(&texts);
    authors
        .iter()
        .any(|author| ByAuthor::own_words(author).is_some())
}

/// Returns what a part of a user's message says, and nothing if baler or a strategy wrote it. What is left of a shortened
/// text is still the user's.
fn said_in<'a>(conversation: &'a Conversation, message: &Message, part: &Part) -> Cow<'a, str> {
    let Content::Text(place) = &part.content else {
        return Cow::Borrowed("");
    };
    match conversation.opened(message, part) {
        Some(opened) if opened.is_excerpt() => Cow::Owned(opened.text),
        Some(_) => Cow::Borrowed(""),
        None => conversation.text(place),
    }
}
