//! All that a conversation says, read once.

use std::collections::HashMap;

use baler_digest::{Notes, Part as Told};
use baler_strategy::{Content, Conversation, Message, Part, PartTraits, Role, Unit, UnitKind};

/// What the strategy decides on.
pub(crate) struct Material {
    pub(crate) notes: Notes,
    /// Outputs that may be rewritten, oldest first.
    pub(crate) outputs: Vec<Output>,
    /// Parts that may be left out, oldest first.
    pub(crate) removable: Vec<Removable>,
}

/// A part that may be left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removable {
    pub(crate) unit: usize,
    pub(crate) message: usize,
    pub(crate) part: usize,
    pub(crate) tokens: u32,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A picture, document or the like.
    Media,
    /// It leaves a unit as a whole.
    Thinking,
}

/// An output of a tool.
pub(crate) struct Output {
    pub(crate) unit: usize,
    pub(crate) message: usize,
    pub(crate) part: usize,
    pub(crate) tokens: u32,
    pub(crate) tool: String,
    /// What it says, without the middle where it is too long to be read.
    pub(crate) text: String,
    /// Bytes of all that it says.
    pub(crate) bytes: usize,
    pub(crate) failed: bool,
    /// A later output says the same, or shows what became of the same thing.
    pub(crate) newer: Option<Newer>,
}

/// Why a later output makes one needless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newer {
    /// It is the same text.
    Same,
    /// The same call was made again and gave something else.
    Again,
}

impl Material {
    pub(crate) fn read(conversation: &Conversation<'_>) -> Self {
        let units = conversation.units();
        let mut material = Self {
            notes: Notes::default(),
            outputs: Vec::new(),
            removable: Vec::new(),
        };
        // By call: the arguments say what was looked at.
        let mut by_call: HashMap<(String, String), usize> = HashMap::new();
        let mut by_text: HashMap<String, usize> = HashMap::new();
        let most = most_of_one(units);
        for (unit, mut messages) in conversation.read(0..units.len()) {
            let clipped = clip(&mut messages, most);
            let is_summary = units[unit].kind == UnitKind::Summary;
            let told: Vec<Told<'_>> = messages
                .iter()
                .flat_map(|message| told(message, is_summary))
                .collect();
            material.notes.read(&told);
            drop(told);
            let mut calls: HashMap<String, (String, String)> = HashMap::new();
            for (place, message) in messages.into_iter().enumerate() {
                let mut media = media_that_may_go(&message.parts);
                for (part, own) in message.parts.into_iter().enumerate() {
                    let Part {
                        content,
                        tokens,
                        traits,
                    } = own;
                    let kind = match content {
                        _ if !traits.contains(PartTraits::REMOVABLE) => None,
                        Content::Media(_) if media == 0 => None,
                        Content::Media(_) => Some(Kind::Media),
                        _ => Some(Kind::Thinking),
                    };
                    if let Some(kind) = kind {
                        media -= usize::from(kind == Kind::Media);
                        material.removable.push(Removable {
                            unit,
                            message: place,
                            part,
                            tokens,
                            kind,
                        });
                    }
                    match content {
                        Content::Call(call) => {
                            calls.insert(call.id, (call.name, call.arguments));
                        }
                        Content::Output(output) => {
                            let may_change = traits.contains(PartTraits::REWRITABLE)
                                && !traits.contains(PartTraits::REWRITTEN)
                                && output.media.is_empty();
                            let index = material.outputs.len();
                            let bytes = clipped.get(&(place, part)).copied();
                            let is_whole = bytes.is_none();
                            let call = calls.remove(&output.call_id);
                            if let Some(call) = call
                                && let Some(before) = by_call.insert(call, index)
                                && let Some(before) = material.outputs.get_mut(before)
                            {
                                let is_same = is_whole && before.text == output.text;
                                before.newer =
                                    Some(if is_same { Newer::Same } else { Newer::Again });
                            }
                            if is_whole
                                && output.text.len() > SAME
                                && let Some(before) = by_text.insert(output.text.clone(), index)
                                && let Some(before) = material.outputs.get_mut(before)
                            {
                                before.newer = Some(Newer::Same);
                            }
                            material.outputs.push(Output {
                                unit,
                                message: place,
                                part,
                                // One that may not change has nothing to give.
                                tokens: if may_change { tokens } else { 0 },
                                tool: output.name,
                                bytes: bytes.unwrap_or(output.text.len()),
                                text: output.text,
                                failed: output.failed,
                                newer: None,
                            });
                        }
                        _ => {}
                    }
                }
            }
        }
        material
    }
}

/// The most bytes that are read. Two million tokens are eight megabytes, and a guest's fuel is for
/// half of that.
const READ: u64 = 3 << 20;

/// The most bytes of one output, so that all units together are not too much to read.
fn most_of_one(units: &[Unit]) -> usize {
    let mut sizes: Vec<u64> = units.iter().map(|unit| u64::from(unit.bytes)).collect();
    if sizes.iter().sum::<u64>() <= READ {
        return usize::MAX;
    }
    sizes.sort_unstable();
    let mut left = READ;
    for (index, size) in sizes.iter().enumerate() {
        let share = left / (sizes.len() - index) as u64;
        if *size > share {
            return usize::try_from(share).unwrap_or(usize::MAX);
        }
        left -= size;
    }
    usize::MAX
}

/// Takes the middle from outputs of more bytes, and says by message and part how many they had.
fn clip(messages: &mut [Message], most: usize) -> HashMap<(usize, usize), usize> {
    let mut clipped = HashMap::new();
    for (place, message) in messages.iter_mut().enumerate() {
        for (index, part) in message.parts.iter_mut().enumerate() {
            if let Content::Output(output) = &mut part.content
                && output.text.len() > most
            {
                let text = &output.text;
                clipped.insert((place, index), text.len());
                let head = &text[..text.floor_char_boundary(most / 2)];
                let tail = &text[text.ceil_char_boundary(text.len() - most / 2)..];
                output.text = format!("{head}\n{tail}");
            }
        }
    }
    clipped
}

/// How many pictures and the like can go: a message has to say something. Calls and thinking do
/// not count, since in some formats they stand beside what is said.
fn media_that_may_go(parts: &[Part]) -> usize {
    let says = |part: &&Part| !matches!(part.content, Content::Call(_) | Content::Thinking(_));
    let is_removable = |part: &&Part| {
        matches!(part.content, Content::Media(_)) && part.traits.contains(PartTraits::REMOVABLE)
    };
    let said = parts.iter().filter(says).count();
    parts
        .iter()
        .filter(is_removable)
        .count()
        .min(said.saturating_sub(1))
}

/// Shorter outputs that are the same say little by that: `ok`.
const SAME: usize = 200;

/// A message as the digest reads it.
fn told(message: &Message, is_summary: bool) -> impl Iterator<Item = Told<'_>> {
    let calls = message
        .parts
        .iter()
        .any(|part| matches!(part.content, Content::Call(_)));
    message.parts.iter().filter_map(move |part| {
        let is_ours = is_summary || part.traits.contains(PartTraits::REWRITTEN);
        match &part.content {
            Content::Text(text) => match message.role {
                Role::Assistant => Some(Told::Assistant {
                    text: text.into(),
                    calls,
                }),
                _ if is_ours => Some(Told::Summary(text.into())),
                Role::User => Some(Told::User(text.into())),
                _ => None,
            },
            Content::Call(call) => Some(Told::Call {
                id: call.id.as_str().into(),
                name: call.name.as_str().into(),
                arguments: call.arguments.as_str().into(),
            }),
            Content::Output(output) => Some(Told::Output {
                call_id: output.call_id.as_str().into(),
                name: output.name.as_str().into(),
                failed: output.failed,
                text: output.text.as_str().into(),
            }),
            _ => None,
        }
    })
}
