//! All that a conversation says, read once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

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
    /// The code that it failed with, where that stands beside its text and no excerpt would show it.
    pub(crate) exit: Option<i64>,
    /// An earlier compaction made it shorter.
    pub(crate) is_cut: bool,
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
        let mut by_call: BTreeMap<(String, String), usize> = BTreeMap::new();
        // By a hash: a copy of all texts would be too much.
        let mut by_text: BTreeMap<u64, usize> = BTreeMap::new();
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
            let mut calls: BTreeMap<String, (String, String)> = BTreeMap::new();
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
                        // Long arguments without their middle may be those of another call.
                        Content::Call(call) if !clipped.contains_key(&(place, part)) => {
                            calls.insert(call.id, (call.name, call.arguments));
                        }
                        Content::Output(output) => {
                            // One that was cut before may be cut again, as long as there is
                            // more to cut than what says that it was.
                            let is_cut = traits.contains(PartTraits::REWRITTEN);
                            let may_change = traits.contains(PartTraits::REWRITABLE)
                                && !(is_cut && tokens < CUT)
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
                                && let Some(before) = by_text.insert(hash(&output.text), index)
                                && let Some(before) = material.outputs.get_mut(before)
                                && before.text == output.text
                            {
                                before.newer = Some(Newer::Same);
                            }
                            let exit =
                                baler_digest::exit_code(&output.text).filter(|code| *code != 0);
                            material.outputs.push(Output {
                                unit,
                                message: place,
                                part,
                                // One that may not change has nothing to give.
                                tokens: if may_change { tokens } else { 0 },
                                tool: output.name,
                                bytes: bytes.unwrap_or(output.text.len()),
                                is_cut: is_cut || says_it_is_cut(&output.text),
                                text: output.text,
                                failed: output.failed || exit.is_some(),
                                exit,
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

/// The most bytes that are read. A guest has fuel for twice as much text that is full of names.
const READ: usize = 1 << 20;

/// The most bytes that are read of one unit, so that all together are not too much.
fn most_of_one(units: &[Unit]) -> usize {
    most_of_each(units.iter().map(|unit| unit.bytes as usize).collect(), READ)
}

/// The most bytes of each of these, so that all have no more than `most` together.
fn most_of_each(mut sizes: Vec<usize>, most: usize) -> usize {
    let all = sizes
        .iter()
        .fold(0, |all: usize, size| all.saturating_add(*size));
    if all <= most {
        return usize::MAX;
    }
    sizes.sort_unstable();
    let mut left = most;
    for (index, size) in sizes.iter().enumerate() {
        let share = left / (sizes.len() - index);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

/// Takes the middle from outputs, arguments and the assistant's texts, where a unit's have more
/// bytes together, and says by message and part how many they had.
fn clip(messages: &mut [Message], most: usize) -> BTreeMap<(usize, usize), usize> {
    let mut sizes = Vec::new();
    for message in &mut *messages {
        for part in &mut message.parts {
            sizes.extend(long(message.role, &mut part.content).map(|text| text.len()));
        }
    }
    let most = most_of_each(sizes, most);
    let mut clipped = BTreeMap::new();
    for (place, message) in messages.iter_mut().enumerate() {
        for (index, part) in message.parts.iter_mut().enumerate() {
            if let Some(text) = long(message.role, &mut part.content)
                && text.len() > most
            {
                clipped.insert((place, index), text.len());
                let head = &text[..text.floor_char_boundary(most / 2)];
                let tail = &text[text.ceil_char_boundary(text.len() - most / 2)..];
                *text = format!("{head}\n{tail}");
            }
        }
    }
    clipped
}

/// The text of a part that tools or the model made.
fn long(role: Role, content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Output(output) => Some(&mut output.text),
        Content::Call(call) => Some(&mut call.arguments),
        Content::Text(text) if role == Role::Assistant => Some(text),
        _ => None,
    }
}

/// Whether a line of a text is one with which the host or a strategy says that something is missing.
/// Under another key nothing else tells that.
fn says_it_is_cut(text: &str) -> bool {
    text.lines().any(|line| {
        (line.starts_with("[… ") && line.ends_with(" bytes left out …]"))
            || (line.starts_with("[output of ") && line.ends_with(']'))
    })
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
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

/// Outputs that an earlier compaction wrote and that have fewer tokens stay as they are.
const CUT: u32 = 200;

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
