//! Writes smaller texts for outputs.

mod verbatim;

use std::fmt::Write as _;
use std::ops::Range;

use baler_digest::shares::{self, LEAST_EXCERPT_BYTES};
use baler_digest::{Excerpt, Extent, OUTPUT_NOTICE};
use baler_strategy::{Conversation, Situation};

use crate::tiered::material::{Material, Output, Superseded};

/// How far an output is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Only if a later output makes it needless.
    Superseded,
    /// To a third of its tokens.
    Third,
    /// To a tenth of them.
    Tenth,
}

/// What is left of an output.
#[derive(Debug, Clone)]
pub(crate) enum Smaller {
    /// Another text.
    Text(String),
    /// These runs of its own text, where the host forbids other words.
    Excerpt(Vec<Range<usize>>),
}

impl Smaller {
    /// The bytes of the text, without the host's lines.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Excerpt(runs) => runs.iter().map(Range::len).sum(),
        }
    }
}

/// A smaller form of an output.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    pub(crate) smaller: Smaller,
    /// The tokens of the text and the host's mark.
    pub(crate) tokens: u32,
    /// The reason code.
    pub(crate) code: &'static str,
    /// Whether the text contains all that is worth keeping.
    pub(crate) has_all: bool,
}

/// The most characters of a tool's name in a text.
const NAME: usize = 64;

/// Writes smaller texts for the outputs of a conversation.
#[derive(Clone, Copy)]
pub(crate) struct Cutter<'a> {
    pub(crate) conversation: &'a Conversation<'a>,
    pub(crate) situation: &'a Situation,
    pub(crate) material: &'a Material,
}

impl Cutter<'_> {
    /// Returns the text for an output at a level, of about `bytes` at most. `None` if it would not be smaller
    /// than the output.
    pub(crate) fn at_level(&self, index: usize, level: Level, bytes: usize) -> Option<Reduced> {
        let tokens = tokens_at(&self.material.outputs[index], level)?;
        let size = Size {
            tokens,
            bytes,
            extent: Extent::Valuable,
        };
        self.about_size(index, size)
    }

    /// Returns the text for an output of about this size. `None` if it would not be smaller than the output.
    fn about_size(&self, index: usize, size: Size) -> Option<Reduced> {
        let Self {
            conversation,
            situation,
            material,
        } = *self;
        let output = &material.outputs[index];
        if output.is_verbatim {
            return self.excerpt(index, size);
        }
        let overhead = situation.insertion_overhead;
        let (head, code) = head(output, conversation.reference(output.unit).as_deref());
        let room = bytes_of(output, size.tokens.saturating_sub(overhead)).min(size.bytes);
        let room = room.saturating_sub(head.len());
        // The last error is always kept, however small the rest becomes.
        let error = material.notes.last_error_in(&output.text);
        let room = room.max(error.map_or(0, |line| line.len() + 1));
        let excerpt = match output.superseded {
            None if room > LEAST_EXCERPT_BYTES => {
                material.notes.excerpt(&output.text, room, size.extent)
            }
            None => None,
            // Everything else is repeated or outdated by a later output.
            Some(_) => error.map(|line| Excerpt {
                text: line.to_owned(),
                has_all: true,
            }),
        };
        let (text, has_all) = match excerpt {
            Some(excerpt) => {
                let is_whole = output.bytes == output.text.len();
                let text = format!("{head}\n{}", excerpt.text);
                (text, excerpt.has_all && is_whole)
            }
            None => (head, room > LEAST_EXCERPT_BYTES),
        };
        let tokens = conversation.count(&text).saturating_add(overhead);
        (tokens < output.tokens).then_some(Reduced {
            smaller: Smaller::Text(text),
            tokens,
            code,
            has_all,
        })
    }

    /// Returns the text for an output within `size.tokens`, with the mark. `None` if that does not succeed.
    pub(crate) fn within_size(&self, index: usize, size: Size) -> Option<Reduced> {
        let most = size.tokens;
        let margin = |tokens: u32| tokens - shares::EXCERPT_MARGIN.of(tokens);
        let mut tokens = margin(most);
        for _ in 0..2 {
            let size = Size { tokens, ..size };
            let reduced = self.about_size(index, size)?;
            if reduced.tokens <= most {
                return Some(reduced);
            }
            // Lines full of names and numbers have more tokens per byte.
            let scaled = u64::from(tokens) * u64::from(most) / u64::from(reduced.tokens);
            tokens = margin(u32::try_from(scaled).unwrap_or(most));
        }
        None
    }
}

/// Returns the tokens of an output at a level, `None` if that level leaves it unchanged.
fn tokens_at(output: &Output, level: Level) -> Option<u32> {
    match (level, output.superseded) {
        (Level::Superseded, None) => None,
        (_, Some(_)) => Some(0),
        (Level::Third, None) => Some(shares::SHORTENED.of(output.tokens)),
        (Level::Tenth, None) => Some(shares::SHORTENED_MORE.of(output.tokens)),
    }
}

/// Returns about the bytes that an output has at a level.
pub(crate) fn bytes_at(output: &Output, level: Level) -> usize {
    tokens_at(output, level).map_or(0, |tokens| bytes_of(output, tokens))
}

/// Returns the bytes of `tokens` tokens of an output, assuming that all its tokens have the same length.
fn bytes_of(output: &Output, tokens: u32) -> usize {
    // A guest's `usize` has 32 bits, which this product can exceed.
    let bytes = output.bytes as u64 * u64::from(tokens) / u64::from(output.tokens.max(1));
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The size that a text should have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) tokens: u32,
    /// The most bytes, approximately.
    pub(crate) bytes: usize,
    pub(crate) extent: Extent,
}

fn head(output: &Output, reference: Option<&str>) -> (String, &'static str) {
    let name: String = output
        .tool
        .chars()
        .filter(|c| !c.is_control() && *c != '<')
        .take(NAME)
        .collect();
    let name = if name.is_empty() { "a tool" } else { &name };
    let (what, code) = match output.superseded {
        Some(Superseded::SameText) => ("left out: the same stands below", "repeated"),
        Some(Superseded::SameCall) => ("left out: the call was made again below", "superseded"),
        None => ("cut", "cut"),
    };
    let mut head = format!("{OUTPUT_NOTICE}{name} {what}");
    if output.failed {
        head.push_str(", it failed");
    }
    if let Some(exit) = output.exit {
        let _ = write!(head, " (exit code {exit})");
    }
    if let Some(reference) = reference {
        // The archive has only what was left of a text that was cut before.
        let names = if output.is_cut { "longer" } else { "whole" };
        let _ = write!(head, "; {names}: {reference}");
    }
    head.push(']');
    (head, code)
}
