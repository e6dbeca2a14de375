//! Finds what the user said: messages, remarks beside tool outputs, and answers through a tool.
//!
//! These words keep the user's authority only in their own place, so the host protects them up to a share of the budget
//! (invariant I4). What programs write in the user's role does not count as the user's.

use std::borrow::Cow;

use baler_conversation::message::{Content, Message, Part};
use baler_conversation::{Conversation, Role, UnitKind};
use baler_provenance::{asks_user, begins_like_a_refusal, by_author, is_refusal_with_reason};

/// How a unit holds words of the user, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Words {
    /// Messages, remarks, answers to a tool that asks.
    Said,
    /// Only a refused or approved call with words about it, which is known by its text. A tool may write such a text, so these
    /// come behind all others: they never take the place of what the user said.
    Refused,
}

/// Returns how the user said something in a unit; `None` if nothing. A message of pictures alone holds no words.
pub(crate) fn in_unit(conversation: &Conversation, unit: usize) -> Option<Words> {
    let own = &conversation.units()[unit];
    if !matches!(own.kind, UnitKind::User | UnitKind::Step | UnitKind::Other) {
        return None;
    }
    let messages = conversation.messages(unit).iter();
    let words = messages.filter_map(|message| {
        if own.traits.user_text && says_something(conversation, message) {
            return Some(Words::Said);
        }
        let parts = message.parts.iter();
        parts
            .filter_map(|part| answer(conversation, message, part))
            .min()
    });
    words.min()
}

/// Returns the newest unit with a text of the user's; `None` if programs wrote all texts of the user's role.
pub(crate) fn newest(conversation: &Conversation) -> Option<usize> {
    let units = conversation.units();
    (0..units.len())
        .rev()
        .find(|unit| units[*unit].traits.user_text && says(conversation, *unit))
}

/// Returns the first message of the user's; `None` if programs wrote all.
pub(crate) fn first(conversation: &Conversation) -> Option<usize> {
    let units = conversation.units();
    (0..units.len()).find(|unit| units[*unit].kind == UnitKind::User && says(conversation, *unit))
}

fn says(conversation: &Conversation, unit: usize) -> bool {
    let mut messages = conversation.messages(unit).iter();
    messages.any(|message| says_something(conversation, message))
}

/// Returns whether a part is a tool output that is the user's answer.
pub(crate) fn is_answer(conversation: &Conversation, message: &Message, part: &Part) -> bool {
    answer(conversation, message, part).is_some()
}

/// Returns how a part is a tool output that is the user's answer; `None` if it is none.
fn answer(conversation: &Conversation, message: &Message, part: &Part) -> Option<Words> {
    let Content::Output(output) = &part.content else {
        return None;
    };
    // What the user answers may begin like an error.
    let is_asked = asks_user(&output.name) && !output.marked_failed;
    let source = conversation.source();
    let text = match conversation.opened(message, part) {
        // Below the host's first line, what is left begins as the whole does.
        Some(opened) if opened.is_excerpt() => {
            let (_, body) = opened.text.split_once('\n').unwrap_or_default();
            Cow::Owned(body.to_owned())
        }
        Some(_) => return None,
        // Outputs may be large, and few of them are answers.
        None if !is_asked
            && !begins_like_a_refusal(&output.beginning(source), output.marked_failed) =>
        {
            return None;
        }
        None => output.text(source),
    };
    match is_asked {
        true => (!text.trim().is_empty()).then_some(Words::Said),
        false => is_refusal_with_reason(&text, output.marked_failed).then_some(Words::Refused),
    }
}

fn says_something(conversation: &Conversation, message: &Message) -> bool {
    if message.is_recorded_summary {
        return false;
    }
    let texts = users_texts(conversation, message);
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let authors = by_author(&texts);
    authors.iter().any(|author| author.own_words().is_some())
}

/// Returns for each part its text if the message has the user's role and no compaction wrote it, or what a
/// compaction left of it, and an empty text otherwise.
pub(crate) fn users_texts<'c>(
    conversation: &'c Conversation,
    message: &Message,
) -> Vec<Cow<'c, str>> {
    let text = |part: &Part| match &part.content {
        Content::Text(place) if message.role == Role::User => {
            match conversation.earlier(message, part) {
                None => conversation.text(place),
                Some(own) if own.is_excerpt() => Cow::Owned(own.text),
                Some(_) => Cow::Borrowed(""),
            }
        }
        _ => Cow::Borrowed(""),
    };
    message.parts.iter().map(text).collect()
}
