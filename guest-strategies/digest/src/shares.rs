//! How a digest and a summary divide their budget: every share, minimum and maximum, in one table.
//!
//! Strategies read their figures from here, so no figure is defined
//! twice. The limits of what is *read* (bytes of an output, lines of a list) are next to the code that reads.
//!
//! The words of the table: the **free budget** is what the budget leaves beside the overhead and the
//! protected units. The **text** is the digest or summary that replaces removed units. The **window** is the
//! run of newest units that are kept. The weights of names were found with `baler eval` (docs/fidelity.md);
//! for other figures the reason is given if it is known.
//!
//! Changing a figure changes the bytes of results.

use std::ops::{Div, Mul};

use crate::work::Work;

#[cfg(test)]
mod tests;

/// A share of a size in tokens or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    parts: u16,
    whole: u16,
}

impl Share {
    const fn new(parts: u16, whole: u16) -> Self {
        Self { parts, whole }
    }

    /// Returns this share of `size`, which is a `u32`, `u64` or `usize`. Divides before it multiplies, so it
    /// cannot overflow and may round down by more than one: 4/5 of 9 is 4.
    #[must_use]
    pub fn of<N>(self, size: N) -> N
    where
        N: From<u16> + Div<Output = N> + Mul<Output = N>,
    {
        size / N::from(self.whole) * N::from(self.parts)
    }
}

// The window and the text.

/// Largest share of the free budget for the text, in per mille. It applies if nearly all units must be
/// removed.
pub const TEXT_MOST: u16 = 600;

/// Smallest share of the free budget for the text, in per mille.
pub const TEXT_LEAST: u16 = 120;

/// How much the text's share falls as the free budget grows: per mille of (free budget / whole conversation).
/// Many old units in few words are worth more than one new unit, but only if many must be removed.
pub const TEXT_FALL: u16 = 750;

/// The same as [`TEXT_MOST`] in a conversation without tools, where the newest words are hardly more likely to matter
/// than older ones.
pub const TEXT_MOST_OF_CHAT: u16 = 950;

/// The same as [`TEXT_FALL`] in a conversation without tools.
pub const TEXT_FALL_OF_CHAT: u16 = 300;

/// In a conversation without tools the newest unit has its tokens before the text, if they are at most this share of
/// the free budget: it is what the newest user message answers.
pub const NEWEST_OF_CHAT: Share = Share::new(1, 4);

/// Returns the tokens of the free budget that `tiered` and `tiered-model` plan for their text.
/// `conversation` is the tokens of the whole conversation, and `newest` those of the newest unit that may be removed.
#[must_use]
pub fn text_tokens(work: Work, free: u32, conversation: u32, newest: u32) -> u32 {
    let (most, fall) = match work {
        Work::Chat => (TEXT_MOST_OF_CHAT, TEXT_FALL_OF_CHAT),
        Work::Tools => (TEXT_MOST, TEXT_FALL),
    };
    let (most, least, fall) = (u64::from(most), u64::from(TEXT_LEAST), u64::from(fall));
    let ratio = u64::from(free) * 1_000 / u64::from(conversation.max(1));
    let of_text = most.saturating_sub(ratio * fall / 1_000).clamp(least, most);
    let tokens = u32::try_from(u64::from(free) * of_text / 1_000).unwrap_or(u32::MAX);
    match work == Work::Chat && newest <= NEWEST_OF_CHAT.of(free) {
        true => tokens.min(free - newest),
        false => tokens,
    }
}

/// Largest share of the free budget that rules and the last error can claim for the text, so that some is
/// left for the newest units.
pub const NEEDED: Share = Share::new(4, 5);

/// Fewest tokens of free budget for a digest. With fewer it says less than the units that it replaces, unless
/// it holds all rules and the last error.
pub const LEAST_DIGEST: u32 = 60;

/// Most bytes of a digest as a JSON string. The host accepts one megabyte of a strategy's texts; the rest is
/// for shortened outputs.
pub const MOST_DIGEST_BYTES: usize = 400_000;

/// Share of the free bytes that the text has while the window is chosen.
pub const TEXT_BYTES: Share = Share::new(1, 2);

/// A unit that does not fit ends the window if it has at most this share of the window's tokens. A larger one
/// is skipped: it does not fit because of its size, not because of its age. In `tiered` and `tiered-model` a larger
/// answer of the model ends the window as well, unless the text leaves tokens.
pub const LARGE_UNIT: Share = Share::new(1, 2);

/// Tokens by which a text that turned out too long is written shorter, in addition to the excess. Entries are
/// counted one by one; joined and in its mark the text may cost more.
pub const REWRITE_MARGIN: u32 = 4;

/// Bytes that a mark, a message and its separators add to an inserted text.
pub const INSERTION_BYTES: usize = 256;

// The text and the window in `tiered` and `tiered-model`.

/// Bytes that `tiered` reserves for the mark and the message around its text.
pub const TIERED_INSERTION_BYTES: u64 = 512;

/// If more than this share of the free budget stays unused by the window, its units were too large beside the
/// text's share, and the text is measured instead.
pub const UNUSED: Share = Share::new(3, 4);

/// Most bytes of the output of a call that did something, for it to be cut only after outputs that can be retrieved again.
pub const MOST_OUTCOME_BYTES: usize = 1_000;

/// If a text leaves more than this share of the free budget, the window is chosen again with what it left.
pub const LEFT_BY_TEXT: Share = Share::new(1, 10);

/// Share of a measured text that is added to it: with other units kept it may be longer.
pub const MEASURED_TEXT: Share = Share::new(1, 4);

/// Tokens that are added to a measured text, in addition to [`MEASURED_TEXT`].
pub const MEASURED_TEXT_TOKENS: u32 = 64;

/// Tokens that stay unused when free budget makes shortened outputs longer again: joined with others a text
/// may cost more than alone.
pub const SLACK: u32 = 8;

/// Share for a model's story of the tokens that rules and the last error leave, and of the text's bytes. The
/// other half is for what else must be exact.
pub const STORY: Share = Share::new(1, 2);

/// Bytes per token for limits on a model's text: a token is rarely longer.
pub const BYTES_PER_TOKEN: u16 = 8;

// Shortened outputs in `tiered` and `tiered-model`.

/// Most bytes of all shortened outputs together. With [`MOST_DIGEST_BYTES`] this is the megabyte of texts
/// that a host accepts from a strategy.
pub const MOST_SHORTENED_BYTES: usize = 600_000;

/// First length to which old outputs are shortened: a share of the output's tokens.
pub const SHORTENED: Share = Share::new(1, 3);

/// Second length to which outputs are shortened, in units that do not fit otherwise: a share of the output's
/// tokens.
pub const SHORTENED_MORE: Share = Share::new(1, 10);

/// If the limit on bytes allows less than this share of an intended length, the output is not shortened: the
/// excerpt would say too little.
pub const LEAST_OF_LENGTH: Share = Share::new(1, 2);

/// Smallest share of its outputs' tokens to which a unit may be shortened to fit, if it is the newest or nothing else needs
/// the room.
pub const LEAST_OF_NEWEST: Share = Share::new(1, 20);

/// Share of a shortened output's tokens that its excerpt stays below at first: its tokens are only estimated
/// from its bytes.
pub const EXCERPT_MARGIN: Share = Share::new(1, 20);

/// An excerpt of this many bytes or fewer says nothing.
pub const LEAST_EXCERPT_BYTES: usize = 24;

/// Outputs that an earlier compaction wrote, and that have fewer tokens, stay as they are.
pub const LEAST_SHORTENED_AGAIN: u32 = 200;

/// Only outputs of more bytes count as repeated if they are equal: equal short ones, such as `ok`, say
/// little.
pub const MOST_COMMON_OUTPUT_BYTES: usize = 200;

// Summaries by a model.

/// Fewest tokens that are planned for a model's summary. With fewer it says less than the lines that it
/// replaces.
pub const LEAST_SUMMARY: u32 = 64;

/// Largest share of the free budget that the guests with a model reserve for a summary while they choose
/// units.
pub const RESERVED_SUMMARY: Share = Share::new(1, 4);

// The sections of a digest, in the order in which they get their shares. Unless its line says otherwise, a
// share is one of the tokens that the sections before it have left. So a section that has little to say
// leaves more to the others.

/// Share of the digest's tokens for the last error in full. A longer one is shortened.
pub const LAST_ERROR: Share = Share::new(3, 5);

/// Share for a newer line that only contains a word for an error: it may be an error.
pub const POSSIBLE_ERROR: Share = Share::new(1, 8);

/// Fewest tokens with which a digest has a list of names.
pub const LEAST_FOR_NAMES: u32 = 80;

/// Bytes per token of a list of names, to estimate its tokens before they are counted.
pub const NAMES_BYTES_PER_TOKEN: f64 = 2.5;

/// No entry that says something has fewer tokens.
pub(crate) const SMALLEST_ENTRY: u32 = 6;

/// Most names behind one action. Others of the same file or command are in the list of names.
pub(crate) const ATTACHED_NAMES: usize = 8;

/// Rounds in which names are left out before all of them are.
pub(crate) const ROUNDS_OF_NAMES: usize = 8;

/// Factor by which a list of names that is too long is shortened further than in proportion to its excess.
pub const FEWER_NAMES: f64 = 0.97;

/// Most bytes of a line or request that is shortened because the whole does not fit.
pub const SHORT_ENTRY: usize = 300;

/// A text of more bytes per token than this does not exist, so a longer one does not fit and need not be
/// counted.
pub const MOST_BYTES_PER_TOKEN: usize = 24;

// Excerpts of tool outputs, in bytes.

/// Share of an excerpt for whole lines. The rest is for names alone, which are shorter.
pub const EXCERPT_LINES: Share = Share::new(1, 2);

/// Share of a line's excerpt that is taken from before the word that it is about: what follows says more.
pub const BEFORE_SIGN: Share = Share::new(1, 4);

// Weights: what an excerpt and a list of names prefer, as factors and sums of the probability that a name is
// used again.

/// Weight of a line that mentions an error, added to that of its names.
pub(crate) const ERROR_LINE: f64 = 40.0;

/// Weight of the first line of a text, added to that of its names: it mostly says what the text is.
pub(crate) const FIRST_LINE: f64 = 0.3;

/// Age at which a name's weight has fallen to 1/e, as a part of the conversation's units.
pub(crate) const FADING: f64 = 0.4;

/// By which factors a name is more likely to be used again than any other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameWeights {
    /// Of a name that the model or the user used, and not only a tool.
    pub(crate) used: f64,
    /// Of a path or an address: work is done on these.
    pub(crate) file: f64,
    /// Of a name that consists of digits.
    pub(crate) number: f64,
}

/// Weights in work with tools: numbers are mostly lines and sizes.
pub(crate) const TOOLS_NAMES: NameWeights = NameWeights {
    used: 5.0,
    file: 4.0,
    number: 0.4,
};

/// Weights in a conversation without tools.
pub(crate) const CHAT_NAMES: NameWeights = NameWeights {
    used: 5.0,
    file: 4.0,
    number: 1.0,
};
