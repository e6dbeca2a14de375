//! What the strategy decides on, read from the conversation once.

mod clip;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use baler_digest::shares::{LEAST_SHORTENED_AGAIN, MOST_COMMON_OUTPUT_BYTES, MOST_OUTCOME_BYTES};
use baler_digest::{Notes, OUTPUT_NOTICE, Part as DigestPart};
use baler_strategy::{
    Content, Conversation, Message, Part, PartTraits, Role, ToolOutput, UnitKind,
};

use clip::{clip, max_bytes_per_unit};

/// What the strategy decides on.
#[derive(Default)]
pub(crate) struct Material {
    /// What the digest has noted of each unit.
    pub(crate) notes: Notes,
    /// All tool outputs, oldest first.
    pub(crate) outputs: Vec<Output>,
    /// Parts that may be removed, oldest first.
    pub(crate) removable: Vec<Removable>,
}

/// A part that may be removed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removable {
    pub(crate) unit: usize,
    pub(crate) message: usize,
    pub(crate) part: usize,
    pub(crate) tokens: u32,
    pub(crate) kind: RemovableKind,
}

/// What a removable part holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RemovableKind {
    /// A picture, document or other media.
    Media,
    /// Thinking. A plan removes all thinking of a unit, or none.
    Thinking,
}

/// A tool output.
pub(crate) struct Output {
    pub(crate) unit: usize,
    pub(crate) message: usize,
    pub(crate) part: usize,
    /// Tokens of the part; 0 if a plan may not change it, since it has nothing to save then.
    pub(crate) tokens: u32,
    /// The name of the tool.
    pub(crate) tool: String,
    /// The text, without its middle if it is too long to be read.
    pub(crate) text: String,
    /// Bytes of the whole text.
    pub(crate) bytes: usize,
    pub(crate) failed: bool,
    /// The exit code of a failure. It may be reported beside the text, where no excerpt shows it.
    pub(crate) exit: Option<i64>,
    /// Whether the host or an earlier compaction shortened the text.
    pub(crate) is_cut: bool,
    /// Why a later output makes this one needless, if one does.
    pub(crate) superseded: Option<Superseded>,
    /// Whether the host allows excerpts of this output and no other words.
    pub(crate) is_verbatim: bool,
    /// Whether it is the short output of a call that did something. Nothing else reports the result, and cutting it saves
    /// little.
    pub(crate) is_outcome: bool,
}

/// Why a later output makes an output needless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Superseded {
    /// A later output has the same text.
    SameText,
    /// The same call was made again, with another result.
    SameCall,
}

/// The indices of a part in the conversation.
#[derive(Debug, Clone, Copy)]
struct PartIndex {
    unit: usize,
    message: usize,
    part: usize,
}

impl Material {
    /// Reads the conversation, of long units only the beginning and the end.
    pub(crate) fn read(conversation: &Conversation<'_>) -> Self {
        let units = conversation.units();
        let max_bytes = max_bytes_per_unit(units);
        let mut reader = Reader::default();
        for (unit, messages) in conversation.read(0..units.len()) {
            let is_summary = units[unit].kind == UnitKind::Summary;
            reader.read_unit(unit, is_summary, messages, max_bytes);
        }
        reader.material
    }
}

/// Reads units one after the other and finds outputs that a later one supersedes.
#[derive(Default)]
struct Reader {
    material: Material,
    /// The newest output of each call, by the tool and its arguments.
    by_call: BTreeMap<(String, String), usize>,
    /// The newest output of each text, by a hash: copies of all texts would take too much memory.
    by_text: BTreeMap<u64, usize>,
}

impl Reader {
    fn read_unit(
        &mut self,
        unit: usize,
        is_summary: bool,
        mut messages: Vec<Message>,
        max_bytes: usize,
    ) {
        let clipped = clip(&mut messages, max_bytes);
        let noted: Vec<DigestPart<'_>> = messages
            .iter()
            .flat_map(|message| digest_parts(message, is_summary))
            .collect();
        self.material.notes.read(&noted);
        drop(noted);
        let mut calls: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (message_index, message) in messages.into_iter().enumerate() {
            let mut media = removable_media(&message.parts);
            for (part_index, part) in message.parts.into_iter().enumerate() {
                let index = PartIndex {
                    unit,
                    message: message_index,
                    part: part_index,
                };
                let full_bytes = clipped.get(&(message_index, part_index)).copied();
                self.add_removable(index, &part, &mut media);
                let Part {
                    content,
                    tokens,
                    traits,
                } = part;
                match content {
                    // Two different calls may have the same arguments once their middle is cut out.
                    Content::Call(call) if full_bytes.is_none() => {
                        calls.insert(call.id, (call.name, call.arguments));
                    }
                    Content::Output(output) => {
                        let call = calls.remove(&output.call_id);
                        let is_outcome = output.text.len() <= MOST_OUTCOME_BYTES
                            && call.as_ref().is_some_and(|(tool, arguments)| {
                                !baler_digest::only_looks(tool, arguments)
                            });
                        self.mark_superseded(call, &output.text, full_bytes.is_none());
                        self.add_output(index, tokens, traits, output, full_bytes, is_outcome);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Adds the part if it may be removed. `media` is how many more media parts its message can lose.
    fn add_removable(&mut self, index: PartIndex, part: &Part, media: &mut usize) {
        let kind = match part.content {
            _ if !part.traits.contains(PartTraits::REMOVABLE) => return,
            Content::Media(_) if *media == 0 => return,
            Content::Media(_) => {
                *media -= 1;
                RemovableKind::Media
            }
            _ => RemovableKind::Thinking,
        };
        self.material.removable.push(Removable {
            unit: index.unit,
            message: index.message,
            part: index.part,
            tokens: part.tokens,
            kind,
        });
    }

    /// Marks earlier outputs that the output to be added next makes needless. `is_whole` is whether its
    /// text was read as a whole.
    fn mark_superseded(&mut self, call: Option<(String, String)>, text: &str, is_whole: bool) {
        let outputs = &mut self.material.outputs;
        let next = outputs.len();
        // Without arguments a call says nothing of what it was for.
        let call = call.filter(|(_, arguments)| arguments.contains(char::is_alphanumeric));
        if let Some(call) = call
            && let Some(before) = self.by_call.insert(call, next)
            && let Some(before) = outputs.get_mut(before)
        {
            let is_same = is_whole && before.text == text;
            before.superseded = Some(if is_same {
                Superseded::SameText
            } else {
                Superseded::SameCall
            });
        }
        if is_whole
            && text.len() > MOST_COMMON_OUTPUT_BYTES
            && let Some(before) = self.by_text.insert(hash(text), next)
            && let Some(before) = outputs.get_mut(before)
            && before.text == text
        {
            before.superseded = Some(Superseded::SameText);
        }
    }

    /// Adds an output. `full_bytes` are the bytes of its text before it was clipped.
    fn add_output(
        &mut self,
        index: PartIndex,
        tokens: u32,
        traits: PartTraits,
        output: ToolOutput,
        full_bytes: Option<usize>,
        is_outcome: bool,
    ) {
        // An output that was cut before may be cut again, unless little more than the notice of the cut
        // is left.
        let is_rewritten = traits.contains(PartTraits::REWRITTEN);
        let is_rewritable = traits.contains(PartTraits::REWRITABLE);
        let may_change = (is_rewritable || traits.contains(PartTraits::EXCERPTABLE))
            && !(is_rewritten && tokens < LEAST_SHORTENED_AGAIN)
            && output.media.is_empty();
        let exit = baler_digest::exit_code(&output.text).filter(|code| *code != 0);
        self.material.outputs.push(Output {
            unit: index.unit,
            message: index.message,
            part: index.part,
            tokens: if may_change { tokens } else { 0 },
            tool: output.name,
            bytes: full_bytes.unwrap_or(output.text.len()),
            is_cut: is_rewritten || has_cut_notice(&output.text),
            text: output.text,
            failed: output.failed || exit.is_some(),
            exit,
            superseded: None,
            is_verbatim: !is_rewritable,
            is_outcome,
        });
    }
}

/// Returns whether a line of the text is a notice with which the host or a strategy marks a cut. Text that
/// was sealed with another key is not marked as rewritten, so only the notice tells.
fn has_cut_notice(text: &str) -> bool {
    text.lines().any(|line| {
        (line.starts_with("[… ") && line.ends_with(" bytes left out …]"))
            || (line.starts_with(OUTPUT_NOTICE) && line.ends_with(']'))
    })
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns how many media parts a message can lose: at least one other part has to remain. Calls and
/// thinking do not count as remaining parts, because some formats keep them apart from the message's content.
fn removable_media(parts: &[Part]) -> usize {
    let is_content =
        |part: &&Part| !matches!(part.content, Content::Call(_) | Content::Thinking(_));
    let is_removable = |part: &&Part| {
        matches!(part.content, Content::Media(_)) && part.traits.contains(PartTraits::REMOVABLE)
    };
    let contents = parts.iter().filter(is_content).count();
    parts
        .iter()
        .filter(is_removable)
        .count()
        .min(contents.saturating_sub(1))
}

/// Returns the parts of a message in the form that the digest reads.
fn digest_parts(message: &Message, is_summary: bool) -> impl Iterator<Item = DigestPart<'_>> {
    let calls = message
        .parts
        .iter()
        .any(|part| matches!(part.content, Content::Call(_)));
    message.parts.iter().filter_map(move |part| {
        let is_from_compaction = is_summary || part.traits.contains(PartTraits::REWRITTEN);
        match &part.content {
            Content::Text(text) => match message.role {
                Role::Assistant => Some(DigestPart::Assistant {
                    text: text.into(),
                    calls,
                }),
                _ if is_from_compaction => Some(DigestPart::Summary(text.into())),
                Role::User => Some(DigestPart::User(text.into())),
                _ => None,
            },
            Content::Thinking(text) => Some(DigestPart::Thinking(text.into())),
            Content::Call(call) => Some(DigestPart::Call {
                id: call.id.as_str().into(),
                name: call.name.as_str().into(),
                arguments: call.arguments.as_str().into(),
            }),
            Content::Output(output) => Some(DigestPart::Output {
                call_id: output.call_id.as_str().into(),
                name: output.name.as_str().into(),
                failed: output.failed,
                text: output.text.as_str().into(),
            }),
            _ => None,
        }
    })
}
