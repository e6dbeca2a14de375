//! Writes the text of a digest from facts: the last error first, then what adds most for its tokens.

use super::candidates::Candidates;
use super::costs::Costs;
use super::facts::Fact;
use super::names::WeightedNames;
use super::repairs::Repairs;
use super::writer::Writer;
use super::{coverage, shares};

/// A digest, and what it contains.
#[derive(Debug, Default)]
pub struct Written {
    /// Sections of entries, each a line that begins with `- `.
    pub text: String,
    /// Tokens of the text, counted entry by entry.
    pub tokens: u32,
    /// Bytes of the text as a JSON string.
    pub bytes: usize,
    /// Names: those in the list of names, of those that would be lost without it.
    pub names: Coverage,
}

/// How many items of one kind a digest contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Number of items in the text.
    pub kept: usize,
    /// Number of items that were found.
    pub found: usize,
}

/// What a digest is written from.
pub(super) struct Source<'a> {
    /// Facts of the units that are not `kept`.
    pub(super) facts: &'a [(usize, &'a Fact)],
    /// What ran among them.
    pub(super) repairs: &'a Repairs<'a>,
    /// The to-do list, with whether each entry is still to be done.
    pub(super) tasks: &'a [(String, bool)],
    pub(super) names: WeightedNames<'a>,
    pub(super) kept: &'a [bool],
    /// The text above the digest; empty if there is none.
    pub(super) story: &'a str,
    /// Whether the story covers all removed units.
    pub(super) is_whole: bool,
}

/// Writes a digest with its story, of at most `tokens` tokens and `bytes` bytes of JSON. Empty if the story
/// does not fit.
pub(super) fn write(
    source: &Source<'_>,
    tokens: u32,
    bytes: usize,
    costs: &mut Costs<'_>,
) -> Written {
    let Some(mut writer) = Writer::below_story(source, tokens, bytes, costs) else {
        return Written::default();
    };
    writer.add_last_error(source);
    let candidates = Candidates::of(source);
    let lost = source.names.lost(source.kept, &writer.joined());
    let listed = coverage::fill(&mut writer, candidates.clone(), source.names, &lost);
    let kept = coverage::write_names(&mut writer, &candidates.actions, source.names, &listed);
    // What the story says may be repeated, and what was left for names, if nothing else needs the tokens.
    writer.is_whole = false;
    if writer.tokens > shares::SMALLEST_ENTRY {
        coverage::fill(&mut writer, candidates, source.names, &[]);
    }
    let mut written = writer.finish(tokens, bytes);
    written.names = Coverage {
        kept,
        found: lost.len(),
    };
    written
}
