//! What a compaction changed, unit by unit and message by message.

use std::ops::Range;

use baler_conversation::Conversation;

/// What a compaction changed. It refers to messages and units by their index, so that a program
/// that keeps messages as objects of its own can apply the same changes to these.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Where each message of the result comes from, in the order of the result.
    pub messages: Vec<Origin>,
    /// The outcome of each unit of the conversation before, in its order.
    pub units: Vec<UnitChange>,
    /// Where texts were inserted: for each text, the index of the unit before which it was inserted, in the
    /// conversation before.
    pub(crate) insertions: Vec<usize>,
}

/// Where a message of a result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The message with this index in the conversation before, byte for byte.
    Kept(usize),
    /// The message with this index in the conversation before, of which parts were shortened,
    /// removed, or joined with an inserted text.
    Changed(usize),
    /// A text that the strategy or the host inserted.
    Inserted,
}

impl Origin {
    /// Returns the index of the message in the conversation before; `None` for an inserted text.
    #[must_use]
    pub const fn message(self) -> Option<usize> {
        match self {
            Self::Kept(message) | Self::Changed(message) => Some(message),
            Self::Inserted => None,
        }
    }
}

/// The outcome of a unit in a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitOutcome {
    /// All its messages are in the result, in their order. They are byte-identical, but for texts
    /// that were joined to them ([`UnitChange::is_joined`]).
    Kept,
    /// It is in the result with some parts changed or removed.
    Rewritten,
    /// It is not in the result.
    Removed,
}

/// The outcome of a unit of the conversation before a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitChange {
    /// Whether it was kept, rewritten or removed.
    pub outcome: UnitOutcome,
    /// Whether no strategy was allowed to remove it.
    pub is_protected: bool,
    /// Whether an inserted text was joined to one of its messages, whose own parts are unchanged.
    pub is_joined: bool,
    /// Its messages in the result, from the first to the last; empty if it was removed.
    pub messages: Range<usize>,
}

impl Changes {
    /// Collects the changes of `before` from the outcomes of its units and the origins of the result's
    /// messages.
    pub(crate) fn of(
        before: &Conversation,
        outcomes: Vec<UnitOutcome>,
        origins: Vec<Origin>,
        insertions: Vec<usize>,
        protected: Vec<bool>,
    ) -> Self {
        let mut units: Vec<UnitChange> = outcomes
            .into_iter()
            .zip(protected)
            .map(|(outcome, is_protected)| UnitChange {
                outcome,
                is_protected,
                is_joined: false,
                messages: 0..0,
            })
            .collect();
        for (index, origin) in origins.iter().enumerate() {
            let Some(message) = origin.message() else {
                continue;
            };
            let Some(change) = units.get_mut(before.unit_of(message)) else {
                continue;
            };
            if change.messages.is_empty() {
                change.messages.start = index;
            }
            change.messages.end = index + 1;
            // A kept unit has no other changed messages.
            change.is_joined |=
                change.outcome == UnitOutcome::Kept && matches!(origin, Origin::Changed(_));
        }
        Self {
            messages: origins,
            units,
            insertions,
        }
    }

    /// Returns changes that keep all of `conversation`.
    pub(crate) fn none(conversation: &Conversation, protected: Vec<bool>) -> Self {
        let units = conversation.units().iter().zip(protected);
        Self {
            messages: (0..conversation.message_count())
                .map(Origin::Kept)
                .collect(),
            units: units
                .map(|(unit, is_protected)| UnitChange {
                    outcome: UnitOutcome::Kept,
                    is_protected,
                    is_joined: false,
                    messages: unit.first_message..unit.end(),
                })
                .collect(),
            insertions: Vec::new(),
        }
    }

    /// Returns the outcome of each unit, in the order of the conversation before.
    #[must_use]
    pub fn outcomes(&self) -> Vec<UnitOutcome> {
        self.units.iter().map(|unit| unit.outcome).collect()
    }
}
