//! What a repaired conversation remembers of the one that came in.

use std::collections::HashMap;

use crate::conversation::Conversation;
use crate::model::repair::{Repair, RepairCounts, Repairs};
use crate::model::rule::Violation;

/// How a conversation came to be by repairs.
#[derive(Debug)]
pub(crate) struct RepairHistory {
    /// By message; of more than `MAX_LISTED` the first.
    repairs: Vec<Repair>,
    counts: RepairCounts,
    /// The messages that are not there any more as they came in, by number, in order.
    replaced: Vec<usize>,
    /// The conversation that came in, before the first repair.
    before: Conversation,
    /// The number of each message in the conversation that came in; 0 for new ones.
    numbers: Vec<usize>,
    /// How many messages came in.
    came_in: usize,
}

impl RepairHistory {
    /// Of what `repairs` made of `before`. `after` has the number of each message now, 0 for new ones, and
    /// its JSON.
    pub(crate) fn of<'a>(
        before: &Conversation,
        after: impl Iterator<Item = (usize, &'a str)>,
        repairs: Repairs,
    ) -> Self {
        let count = before.all_messages().len();
        let earlier = before.repair_history();
        let mut all = Repairs::default();
        if let Some(earlier) = earlier {
            all.append_told(earlier.repairs.clone(), &earlier.counts);
        }
        all.append(repairs);
        let (repairs, counts) = all.finish();
        let mut replaced = earlier.map_or_else(Vec::new, |earlier| earlier.replaced.clone());
        let after: Vec<(usize, &str)> = after.collect();
        replaced.extend(replaced_in(before, &after));
        replaced.sort_unstable();
        // What an earlier repair changed may have changed again.
        replaced.dedup();
        Self {
            repairs,
            counts,
            replaced,
            before: before.came_in(),
            numbers: after.iter().map(|(number, _)| *number).collect(),
            came_in: before.number(count) - 1,
        }
    }

    /// The number that the message with this index came in with. Those after the repaired ones
    /// were appended, and go on counting.
    fn number(&self, index: usize) -> usize {
        let appended = || self.came_in + index + 1 - self.numbers.len();
        self.numbers.get(index).copied().unwrap_or_else(appended)
    }
}

/// Messages of `before` that are not in `after` byte for byte, by number.
fn replaced_in<'a>(
    before: &'a Conversation,
    after: &'a [(usize, &'a str)],
) -> impl Iterator<Item = usize> + 'a {
    let after: HashMap<usize, &str> = after.iter().copied().collect();
    let messages = before.all_messages().iter().enumerate();
    messages.filter_map(move |(index, message)| {
        let (number, raw) = (before.number(index), before.raw(message));
        let is_gone = number > 0 && after.get(&number) != Some(&raw);
        is_gone.then_some(number)
    })
}

impl Conversation {
    /// The repairs made in it by [`Conversation::repaired`], by message. Of more than
    /// [`MAX_LISTED`](crate::listed::MAX_LISTED) repairs the first are listed;
    /// [`Conversation::repair_counts`] knows of all.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        self.repair_history()
            .map_or(&[], |history| &history.repairs)
    }

    /// The number of repairs made in it, in all and by rule.
    #[must_use]
    pub fn repair_counts(&self) -> RepairCounts {
        self.repair_history()
            .map_or_else(RepairCounts::default, |history| history.counts.clone())
    }

    /// The rules that are broken, after all repairs, with the numbers that messages had in the
    /// conversation that came in, as far as they are listed. ([`Conversation::violations`] has the numbers of this
    /// conversation.)
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
    pub fn came_in(&self) -> Self {
        let Some(history) = self.repair_history() else {
            return self.clone();
        };
        let mut before = history.before.clone();
        let appended = self.all_messages().iter().skip(history.numbers.len());
        // They were read once, in the same format.
        let _ = before.append_all(appended.map(|message| self.raw(message)));
        before
    }

    /// Messages that are not there any more as they came in: the number of each, and how it came in.
    pub fn replaced(&self) -> impl Iterator<Item = (usize, &str)> {
        self.repair_history().into_iter().flat_map(|history| {
            let before = &history.before;
            let numbers = history.replaced.iter();
            numbers.filter_map(move |number| {
                let message = before.all_messages().get(number.checked_sub(1)?)?;
                Some((*number, before.raw(message)))
            })
        })
    }

    /// How many such messages there are.
    pub fn replaced_count(&self) -> usize {
        self.repair_history()
            .map_or(0, |history| history.replaced.len())
    }

    /// The number that the message with this index came in with, from 1; 0 for a new one.
    pub(crate) fn number(&self, index: usize) -> usize {
        self.repair_history()
            .map_or(index + 1, |history| history.number(index))
    }
}
