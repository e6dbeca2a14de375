//! The texts that the host shortened.

use super::check::CheckedEdit;
use super::shorten;
use crate::situation::Situation;

/// The texts of a situation that may be shortened, under one cap.
#[derive(Debug, Default)]
pub(crate) struct Shortened {
    /// Units with shortened texts, and their edits, in order.
    units: Vec<(usize, Vec<CheckedEdit>)>,
    /// Tokens of all these texts, after shortening.
    tokens: u64,
}

impl Shortened {
    /// Shortens the texts that have more than `cap` tokens, or more than their own limit.
    pub(crate) fn under(situation: &Situation, cap: u32) -> Self {
        let mut units: Vec<(usize, Vec<CheckedEdit>)> = Vec::new();
        let mut sum = 0;
        for long in situation.stay.shortening.texts() {
            let Some((text, tokens)) = shorten::shortened(situation, long, cap) else {
                sum += u64::from(long.tokens);
                continue;
            };
            sum += u64::from(tokens);
            let edit = CheckedEdit {
                message: long.message,
                part: long.part,
                text: Some(text),
            };
            match units.last_mut().filter(|(unit, _)| *unit == long.unit) {
                Some((_, edits)) => edits.push(edit),
                None => units.push((long.unit, vec![edit])),
            }
        }
        Self { units, tokens: sum }
    }

    /// Returns the tokens of all these texts, after shortening.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns the edits of a unit.
    pub(super) fn of_unit(&self, unit: usize) -> &[CheckedEdit] {
        let found = self.units.binary_search_by_key(&unit, |(unit, _)| *unit);
        found.map_or(&[], |index| &self.units[index].1)
    }

    /// Returns the number of shortened texts.
    pub(crate) fn len(&self) -> usize {
        self.units.iter().map(|(_, edits)| edits.len()).sum()
    }
}
