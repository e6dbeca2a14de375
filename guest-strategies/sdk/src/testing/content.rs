//! Messages and parts of test conversations, with their tokens and bytes.

use super::count;
use crate::{Content, Message, Part, PartTraits, Role};

/// The tokens of a media part.
const PICTURE: u32 = 300;

pub(super) fn message(role: Role, parts: Vec<Part>) -> Message {
    Message {
        role,
        name: None,
        parts,
    }
}

pub(super) fn plain(text: &str) -> Part {
    part(Content::Text(text.to_owned()), PartTraits::empty())
}

pub(super) fn part(content: Content, traits: PartTraits) -> Part {
    let mut part = Part {
        content,
        tokens: 0,
        traits,
    };
    part.tokens = media(&part) * PICTURE
        + match &part.content {
            Content::Text(text) | Content::Thinking(text) => count(text),
            Content::Call(call) => count(&call.name) + count(&call.arguments),
            Content::Output(output) => count(&output.text),
            Content::Media(_) | Content::Opaque(_) => 0,
        };
    part
}

pub(super) fn bytes(part: &Part) -> u32 {
    match &part.content {
        Content::Text(text) | Content::Thinking(text) => text.len() as u32,
        Content::Call(call) => (call.id.len() + call.name.len() + call.arguments.len()) as u32,
        Content::Output(output) => {
            let media = output.media.iter().map(|media| media.bytes).sum::<u32>();
            output.text.len() as u32 + media
        }
        Content::Media(media) => media.bytes,
        Content::Opaque(kind) => kind.len() as u32,
    }
}

pub(super) fn media(part: &Part) -> u32 {
    match &part.content {
        Content::Media(_) => 1,
        Content::Output(output) => output.media.len() as u32,
        _ => 0,
    }
}

/// The text of a part of which an excerpt can be kept.
pub(super) fn text(part: &Part) -> Option<&str> {
    match &part.content {
        Content::Text(text) => Some(text),
        Content::Output(output) => Some(&output.text),
        _ => None,
    }
}
