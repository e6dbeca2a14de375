//! Plans: what a strategy answers, how it is checked, and what it makes of a conversation.

mod apply;
mod check;
#[cfg(test)]
mod properties;

use crate::conversation::Role;

pub use apply::Fate;
pub(crate) use apply::{Applied, apply};
pub(crate) use check::{PlanLimits, check, is_removable, is_rewritable};

/// What a strategy answers: read from top to bottom, the pieces are the new conversation. A
/// unit that no piece names is dropped. Nothing in it is trusted until it was checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// Why units were treated so.
    pub reasons: Vec<Reason>,
}

/// A piece of a plan. Units are named by their index in [`crate::Conversation::units`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These units stay as they are.
    Keep(Span),
    /// This unit stays, with some of its parts changed.
    Rewrite {
        /// The unit.
        unit: u32,
        /// The changes, in order of message and part.
        edits: Vec<Edit>,
    },
    /// A text of the strategy's own.
    Insert(Insertion),
}

/// `count` units from unit `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first unit.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// A change of one part of one message of a unit, each counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The message of the unit.
    pub message: u32,
    /// The part of the message.
    pub part: u32,
    /// What to do with it.
    pub change: Change,
}

/// What an edit does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Replaces the text, by a shorter one.
    Text(String),
    /// Leaves the part out.
    Remove,
}

/// A text of the strategy's own. The host marks it as such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// Who seems to speak.
    pub role: Role,
    /// What it is for.
    pub purpose: InsertionPurpose,
    /// Where it goes.
    pub placement: Placement,
    /// The text, without marks.
    pub text: String,
}

/// What an inserted text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertionPurpose {
    /// Stands for what was dropped.
    Summary,
    /// Anything else that the model should know.
    Note,
}

/// Where an inserted text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// A message of its own.
    Alone,
    /// A further part, at the end of the kept message before it.
    JoinBefore,
    /// A further part, at the start of the kept message after it.
    JoinAfter,
}

/// Why units were treated as they were: a code that the strategy's introspection declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The units.
    pub units: Span,
    /// The code.
    pub code: String,
}

impl Plan {
    /// A plan that keeps these units, which are in order, and nothing else.
    #[must_use]
    pub fn keeping(units: impl IntoIterator<Item = usize>) -> Self {
        let mut plan = Self::default();
        for unit in units {
            plan.keep(unit);
        }
        plan
    }

    /// Keeps one more unit, as part of the span before it where it follows that.
    pub fn keep(&mut self, unit: usize) {
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

    /// Inserts a summary in the user's role, as a message of its own.
    pub fn insert_summary(&mut self, text: String) {
        self.pieces.push(Piece::Insert(Insertion {
            role: Role::User,
            purpose: InsertionPurpose::Summary,
            placement: Placement::Alone,
            text,
        }));
    }
}
