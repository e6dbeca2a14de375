//! Chooses the newest units that are kept.

use std::ops::Range;

use baler_digest::Extent;
use baler_digest::shares::{
    self, MOST_DIGEST_BYTES, MOST_SHORTENED_BYTES, TEXT_BYTES, TIERED_INSERTION_BYTES,
};
use baler_strategy::{Traits, Unit, UnitKind};

use super::{Choice, Needs};
use crate::tiered::reduce::{Level, Size};

impl Choice<'_> {
    /// Keeps the protected units and the newest others that fit `tokens`. Outputs of units that are not
    /// recent are cut.
    pub(super) fn window(&mut self, tokens: u32) {
        let units = self.units().len();
        self.kept = self.units().iter().map(Unit::is_protected).collect();
        let limit = |most: Option<u32>| most.map_or(u64::MAX, u64::from);
        let mut left = Needs {
            tokens: u64::from(tokens),
            bytes: limit(self.situation.max_bytes),
            media: limit(self.situation.max_media),
        };
        for unit in self.units().iter().filter(|unit| unit.is_protected()) {
            left.bytes = left.bytes.saturating_sub(u64::from(unit.bytes));
            left.media = left.media.saturating_sub(u64::from(unit.media));
        }
        let text = TEXT_BYTES.of(left.bytes.min(MOST_DIGEST_BYTES as u64));
        left.bytes = (left.bytes - text).saturating_sub(TIERED_INSERTION_BYTES);
        self.texts = (0..units)
            .filter(|unit| self.kept[*unit])
            .map(|unit| self.texts_of(unit))
            .sum();
        let mut is_newest = true;
        let mut next = None;
        let thinks = self
            .units()
            .iter()
            .any(|unit| unit.traits.contains(Traits::THINKING));
        for unit in (0..units).rev() {
            if self.kept[unit] {
                next = Some(unit);
                continue;
            }
            if thinks && next.is_some_and(|next| self.would_go_on(unit, next)) {
                continue;
            }
            if !left.hold(&self.units()[unit]) {
                continue;
            }
            let may_squeeze = is_newest || self.is_widened;
            let is_taken =
                self.shrink(unit, left.tokens) || may_squeeze && self.squeeze(unit, left.tokens);
            is_newest = false;
            let texts = self.texts_of(unit);
            if is_taken && self.texts + texts <= MOST_SHORTENED_BYTES {
                self.texts += texts;
                let own = &self.units()[unit];
                left.tokens -= self.cost(unit);
                left.bytes -= u64::from(own.bytes);
                left.media -= u64::from(own.media);
                self.kept[unit] = true;
                next = Some(unit);
            } else if self.cost(unit) <= shares::LARGE_UNIT.of(u64::from(tokens)) {
                // A unit that alone takes most of the tokens is skipped. A smaller one that no longer fits
                // ends the window.
                break;
            } else if !self.is_widened && self.is_answer(unit) {
                // It says what the outputs before it say, and the text has at least its names. What is left of the tokens
                // is for the text first.
                break;
            }
        }
    }

    /// Returns whether a step with calls, kept right before `next`, would lose the answer that ended its
    /// turn. If the next user message followed its outputs, the turn would count as unfinished, and
    /// providers require that a thinking model began it with thinking.
    fn would_go_on(&self, step: usize, next: usize) -> bool {
        step + 1 < next
            && self.units()[next].kind == UnitKind::User
            && !self.outputs_of(step).is_empty()
    }

    /// Returns whether a unit is a step without calls.
    fn is_answer(&self, unit: usize) -> bool {
        self.units()[unit].kind == UnitKind::Step && self.outputs_of(unit).is_empty()
    }

    /// Cuts the outputs of a unit level by level until it has at most `tokens`. Returns whether it does.
    fn shrink(&mut self, unit: usize, tokens: u64) -> bool {
        for outcomes in [false, true] {
            for level in [Level::Third, Level::Tenth] {
                if self.cost(unit) <= tokens {
                    return true;
                }
                for output in self.outputs_of(unit) {
                    self.reduce_one(output, level, outcomes);
                }
            }
        }
        self.cost(unit) <= tokens
    }

    /// Cuts the outputs of a unit as far as needed for `tokens`, but at most to a twentieth. Returns whether it
    /// fits.
    fn squeeze(&mut self, unit: usize, tokens: u64) -> bool {
        let outputs = self
            .outputs_of(unit)
            .map(|index| (index, self.material.outputs[index].tokens));
        let outputs: Vec<(usize, u32)> = outputs.filter(|(_, tokens)| *tokens > 0).collect();
        let all: u64 = outputs.iter().map(|(_, tokens)| u64::from(*tokens)).sum();
        let others = self.units()[unit].cost().saturating_sub(all);
        let Some(room) = tokens
            .checked_sub(others)
            .filter(|room| all > 0 && *room >= shares::LEAST_OF_NEWEST.of(all))
        else {
            return false;
        };
        for (index, tokens) in outputs {
            let share = u64::from(tokens) * room / all;
            let smaller = self.cutter().within_size(
                index,
                Size {
                    tokens: u32::try_from(share).unwrap_or(u32::MAX),
                    bytes: self.room_for_text(index),
                    extent: Extent::Valuable,
                },
            );
            self.put(index, smaller);
        }
        self.cost(unit) <= tokens
    }

    /// Returns the indices of the outputs of a unit in the material.
    pub(super) fn outputs_of(&self, unit: usize) -> Range<usize> {
        let outputs = &self.material.outputs;
        outputs.partition_point(|output| output.unit < unit)
            ..outputs.partition_point(|output| output.unit <= unit)
    }
}
