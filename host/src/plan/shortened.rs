//! The texts of shortened unseen outputs.

use super::check::CheckedEdit;
use super::shorten;
use crate::situation::Situation;

/// The unseen outputs of a situation, shortened to one cap.
#[derive(Debug, Default)]
pub(crate) struct Shortened {
    /// Units with shortened outputs, and their edits, in order.
    units: Vec<(usize, Vec<CheckedEdit>)>,
    /// Tokens of all unseen outputs that may be shortened, after shortening.
    tokens: u64,
}

impl Shortened {
    /// Shortens the outputs that have more than `cap` tokens.
    pub(crate) fn under(situation: &Situation, cap: u32) -> Self {
        let mut units: Vec<(usize, Vec<CheckedEdit>)> = Vec::new();
        let mut sum = 0;
        for output in situation.unseen.outputs() {
            let Some((text, tokens)) = shorten::shortened(situation, output, cap) else {
                sum += u64::from(output.tokens);
                continue;
            };
            sum += u64::from(tokens);
            let edit = CheckedEdit {
                message: output.message,
                part: output.part,
                text: Some(text),
            };
            match units.last_mut().filter(|(unit, _)| *unit == output.unit) {
                Some((_, edits)) => edits.push(edit),
                None => units.push((output.unit, vec![edit])),
            }
        }
        Self { units, tokens: sum }
    }

    /// Returns the tokens of all unseen outputs that may be shortened, after shortening.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns the edits of a unit.
    pub(super) fn of_unit(&self, unit: usize) -> &[CheckedEdit] {
        let found = self.units.binary_search_by_key(&unit, |(unit, _)| *unit);
        found.map_or(&[], |index| &self.units[index].1)
    }

    /// Returns the number of shortened outputs.
    pub(crate) fn len(&self) -> usize {
        self.units.iter().map(|(_, edits)| edits.len()).sum()
    }
}
