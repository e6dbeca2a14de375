//! Bounds on how much of a conversation is read.

use std::collections::BTreeMap;

use baler_strategy::{Content, Message, Role, Unit};

/// The most bytes that are read of a conversation. A guest has fuel for twice as much text that is full of
/// names.
const MAX_READ_BYTES: usize = 1 << 20;

/// Returns the most bytes to read of one unit, so that all units together stay within [`MAX_READ_BYTES`].
pub(super) fn max_bytes_per_unit(units: &[Unit]) -> usize {
    even_share(
        units.iter().map(|unit| unit.bytes as usize).collect(),
        MAX_READ_BYTES,
    )
}

/// Returns the most bytes that each item may have, so that all items together have at most `total`.
/// Items below that share leave their rest to larger ones. `usize::MAX` if all items fit as they are.
fn even_share(mut sizes: Vec<usize>, total: usize) -> usize {
    let all = sizes
        .iter()
        .fold(0, |all: usize, size| all.saturating_add(*size));
    if all <= total {
        return usize::MAX;
    }
    sizes.sort_unstable();
    let mut left = total;
    for (index, size) in sizes.iter().enumerate() {
        let share = left / (sizes.len() - index);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

/// Cuts the middle out of the longest outputs, arguments and assistant texts of a unit, so that these have
/// about `max_bytes` together. Returns the original bytes of each cut part, by the indices of its message
/// and part.
pub(super) fn clip(messages: &mut [Message], max_bytes: usize) -> BTreeMap<(usize, usize), usize> {
    let mut sizes = Vec::new();
    for message in &mut *messages {
        for part in &mut message.parts {
            sizes.extend(clippable_text(message.role, &mut part.content).map(|text| text.len()));
        }
    }
    let max_part_bytes = even_share(sizes, max_bytes);
    let mut clipped = BTreeMap::new();
    for (message_index, message) in messages.iter_mut().enumerate() {
        for (part_index, part) in message.parts.iter_mut().enumerate() {
            if let Some(text) = clippable_text(message.role, &mut part.content)
                && text.len() > max_part_bytes
            {
                clipped.insert((message_index, part_index), text.len());
                let half = max_part_bytes / 2;
                let head = &text[..text.floor_char_boundary(half)];
                let tail = &text[text.ceil_char_boundary(text.len() - half)..];
                *text = format!("{head}\n{tail}");
            }
        }
    }
    clipped
}

/// Returns the text of a part that a tool or the model wrote. Texts of users are never clipped.
fn clippable_text(role: Role, content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Output(output) => Some(&mut output.text),
        Content::Call(call) => Some(&mut call.arguments),
        Content::Text(text) if role == Role::Assistant => Some(text),
        _ => None,
    }
}
