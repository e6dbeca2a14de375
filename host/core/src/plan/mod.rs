//! Plans of strategies: their types, their checks, and their application to a conversation.

mod apply;
mod check;
mod excerpt;
mod gaps;
mod shorten;
mod shortened;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use baler_conversation::Role;

pub(crate) use apply::{Applied, apply};
pub(crate) use check::{CheckedPlan, check, is_excerptable, is_removable, is_rewritable};
pub(crate) use shortened::Shortened;

/// The strategy that made a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Author<'a> {
    pub(crate) name: &'a str,
    /// Whether its insertions may hold headings of a digest.
    pub(crate) writes_digests: bool,
}

/// A plan of a strategy. Its pieces, in order, are the new conversation. A unit that no piece names is
/// removed.
//
// It is not trusted until it is checked. As JSON, it is what remote strategies answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The pieces, in order.
    pub(crate) pieces: Vec<Piece>,
    /// Reasons for units, as codes.
    #[serde(default)]
    pub(crate) reasons: Vec<Reason>,
}

/// A piece of a plan. Units are named by their index in `Conversation::units`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Piece {
    /// Keeps these units unchanged.
    Keep(Span),
    /// Keeps this unit, with some of its parts changed.
    Rewrite {
        /// The unit.
        unit: u32,
        /// The changes, in order of message and part.
        edits: Vec<Edit>,
    },
    /// Inserts a text of the strategy's own.
    Insert(Insertion),
}

/// `count` units from unit `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Span {
    /// The first unit.
    pub(crate) first: u32,
    /// Number of units.
    pub(crate) count: u32,
}

/// A change of one part of one message of a unit, each counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The message of the unit.
    pub(crate) message: u32,
    /// The part of the message.
    pub(crate) part: u32,
    /// What to do with it.
    pub(crate) change: Change,
}

/// What an edit does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Change {
    /// Replaces the text by a shorter one.
    Text(String),
    /// Keeps these bytes of the text, from `start` to `end`, which is excluded: offsets in UTF-8, between
    /// characters, in the text without the tags of a mark. They are in order, do not overlap, and have at least 16
    /// bytes each. The host writes where text is missing, and how much.
    Excerpt(Vec<std::ops::Range<u32>>),
    /// Removes the part.
    Remove,
}

/// A text of the strategy's own. The host marks it as such.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Insertion {
    /// The role of the text: the user's is always allowed, others by policy or never.
    pub(crate) role: Role,
    /// What it is for.
    pub(crate) purpose: InsertionPurpose,
    /// Where it goes.
    pub(crate) placement: Placement,
    /// The text, without marks; not blank.
    pub(crate) text: String,
}

/// What an inserted text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InsertionPurpose {
    /// Replaces removed units.
    Summary,
    /// Anything else that the model should know.
    Note,
}

/// Where an inserted text goes. A text that would join a protected message becomes a separate message next to
/// it, so that it can be removed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Placement {
    /// A separate message.
    Alone,
    /// A further part, at the end of the kept message before it.
    JoinBefore,
    /// A further part, at the start of the kept message after it.
    JoinAfter,
}

/// The reason for a run of units: a code that the strategy's introspection declares.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// The units.
    pub(crate) units: Span,
    /// The code.
    pub(crate) code: String,
}

impl Plan {
    /// Returns a plan that keeps the first `units` units.
    pub(crate) fn keeping(units: usize) -> Self {
        let mut plan = Self::default();
        (0..units).for_each(|unit| plan.keep(unit));
        plan
    }

    /// Adds a unit to keep, to the last span if it directly follows that.
    pub(crate) fn keep(&mut self, unit: usize) {
        let unit = u32::try_from(unit).unwrap_or(u32::MAX);
        if let Some(Piece::Keep(span)) = self.pieces.last_mut()
            && span.first.checked_add(span.count) == Some(unit)
        {
            span.count += 1;
        } else {
            self.pieces.push(Piece::Keep(Span {
                first: unit,
                count: 1,
            }));
        }
    }
}
