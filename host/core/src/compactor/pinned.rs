//! Keeps pins valid through all compactions of a conversation.

use serde::{Deserialize, Serialize};

use baler_conversation::Conversation;

use crate::changes::Changes;
use crate::error::HostError;
use crate::request::Pins;

/// What is pinned. Units are identified by messages of the view, because the number of a unit changes with
/// compactions, and when an appended message merges several units.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pinned {
    /// The first message of the user's.
    #[default]
    FirstUser,
    /// The units that hold these messages, besides the first message of the user.
    Messages(Vec<usize>),
    /// The units that hold these messages alone.
    MessagesOnly(Vec<usize>),
    /// Nothing.
    None,
}

impl Pinned {
    /// Converts pins of units of the view.
    ///
    /// # Errors
    /// Returns an error if the view has no such unit.
    pub(super) fn of(pins: Pins, view: &Conversation) -> Result<Self, HostError> {
        let units = view.units();
        let messages = |pinned: Vec<usize>| {
            let message = |unit: usize| match units.get(unit) {
                Some(found) => Ok(found.first_message),
                None => Err(HostError::NoSuchUnit {
                    unit,
                    units: units.len(),
                }),
            };
            pinned
                .into_iter()
                .map(message)
                .collect::<Result<Vec<usize>, HostError>>()
        };
        Ok(match pins {
            Pins::FirstUser => Self::FirstUser,
            Pins::None => Self::None,
            Pins::Units(pinned) => Self::Messages(messages(pinned)?),
            Pins::Only(pinned) => Self::MessagesOnly(messages(pinned)?),
        })
    }

    /// Returns the pins as units of the view.
    pub(super) fn pins(&self, view: &Conversation) -> Pins {
        let units = |messages: &[usize]| {
            let units = messages.iter().map(|message| view.unit_of(*message));
            units.collect()
        };
        match self {
            Self::FirstUser => Pins::FirstUser,
            Self::None => Pins::None,
            Self::Messages(messages) => Pins::Units(units(messages)),
            Self::MessagesOnly(messages) => Pins::Only(units(messages)),
        }
    }

    /// Whether the view has all pinned messages.
    pub(super) fn is_in(&self, view: &Conversation) -> bool {
        match self {
            Self::FirstUser | Self::None => true,
            Self::Messages(messages) | Self::MessagesOnly(messages) => {
                let count = view.message_count();
                messages.iter().all(|message| *message < count)
            }
        }
    }

    /// Updates the pins after a compaction of `before`. A unit that a hook unpinned may have been removed.
    pub(super) fn follow(&mut self, before: &Conversation, changes: &Changes) {
        if let Self::Messages(messages) | Self::MessagesOnly(messages) = self {
            let place = |message: &usize| {
                let unit = changes.units.get(before.unit_of(*message))?;
                (!unit.messages.is_empty()).then_some(unit.messages.start)
            };
            *messages = messages.iter().filter_map(place).collect();
        }
    }

    /// Updates the pins after messages moved; `moved` is sorted. Returns false if a pinned message was
    /// removed.
    pub(super) fn move_to(&mut self, moved: &[(usize, Option<usize>)]) -> bool {
        if let Self::Messages(messages) | Self::MessagesOnly(messages) = self {
            for message in messages {
                let found = moved.binary_search_by_key(&*message, |(from, _)| *from);
                match found.map(|index| moved[index].1) {
                    Ok(Some(place)) => *message = place,
                    Ok(None) => return false,
                    Err(_) => {}
                }
            }
        }
        true
    }
}
