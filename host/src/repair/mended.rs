//! What a repaired conversation remembers of the one that came in.

use std::collections::{HashMap, HashSet};

use super::{Reading, Repair};
use crate::conversation::Conversation;
use crate::formats::Violation;

/// How a conversation came to be by repairs.
#[derive(Debug)]
pub(crate) struct Mended {
    repairs: Vec<Repair>,
    replaced: Vec<Replaced>,
    /// The conversation that came in, before the first repair.
    before: Conversation,
    /// The number of each message in the conversation that came in; 0 for new ones.
    numbers: Vec<usize>,
    /// How many messages came in.
    came_in: usize,
}

/// A message that is not there any more as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Replaced {
    /// Its number in the conversation that came in.
    pub(crate) number: usize,
    pub(crate) json: String,
}

impl Mended {
    /// Of what `repairs` made of `before`.
    pub(super) fn of(before: &Conversation, after: &Reading, repairs: Vec<Repair>) -> Self {
        let count = before.all_messages().len();
        let earlier = before.mended();
        let mut all = earlier.map_or_else(Vec::new, |earlier| earlier.repairs.clone());
        all.extend(repairs);
        all.sort_by_key(|repair| repair.message);
        let mut replaced = earlier.map_or_else(Vec::new, |earlier| earlier.replaced.clone());
        replaced.extend(replaced_in(before, after));
        // What an earlier repair changed came in otherwise than it stands in `before`.
        let mut seen = HashSet::new();
        replaced.retain(|message| seen.insert(message.number));
        replaced.sort_by_key(|message| message.number);
        Self {
            repairs: all,
            replaced,
            before: before.came_in(),
            numbers: after.numbers().to_vec(),
            came_in: before.number(count) - 1,
        }
    }

    /// The number that the message with this index came in with. Those behind the repaired ones
    /// were appended, and go on counting.
    fn number(&self, index: usize) -> usize {
        let appended = || self.came_in + index + 1 - self.numbers.len();
        self.numbers.get(index).copied().unwrap_or_else(appended)
    }
}

/// Messages of `before` that are not in `after` byte for byte.
fn replaced_in(before: &Conversation, after: &Reading) -> impl Iterator<Item = Replaced> {
    let after: HashMap<usize, &str> = (0..after.messages.len())
        .map(|index| (after.number(index), after.message(index)))
        .collect();
    let messages = before.all_messages().iter().enumerate();
    messages.filter_map(move |(index, message)| {
        let (number, raw) = (before.number(index), before.raw(message));
        let is_gone = number > 0 && after.get(&number) != Some(&raw);
        is_gone.then(|| Replaced {
            number,
            json: raw.to_owned(),
        })
    })
}

impl Conversation {
    /// What was mended in it, by [`Conversation::repaired`].
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        self.mended().map_or(&[], |mended| &mended.repairs)
    }

    /// The rules that are broken, after all repairs, with the numbers that messages had in the
    /// conversation that came in. (Those of [`Conversation::violations`] are the conversation's
    /// own.)
    #[must_use]
    pub fn unrepaired(&self) -> Vec<Violation> {
        let mut left = self.violations().to_vec();
        for violation in &mut left {
            if let Some(index) = violation.message.checked_sub(1) {
                violation.message = self.number(index);
            }
        }
        left
    }

    /// The conversation as it was before its repairs, with what was appended since.
    pub(crate) fn came_in(&self) -> Self {
        let Some(mended) = self.mended() else {
            return self.clone();
        };
        let mut before = mended.before.clone();
        let appended = self.all_messages().iter().skip(mended.numbers.len());
        // They were read once, in the same format.
        let _ = before.append_all(appended.map(|message| self.raw(message)));
        before
    }

    /// Messages that are not there any more as they came in.
    pub(crate) fn replaced(&self) -> &[Replaced] {
        self.mended().map_or(&[], |mended| &mended.replaced)
    }

    /// The number that the message with this index came in with, from 1; 0 for a new one.
    pub(super) fn number(&self, index: usize) -> usize {
        self.mended()
            .map_or(index + 1, |mended| mended.number(index))
    }
}
