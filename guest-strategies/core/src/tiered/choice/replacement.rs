//! Writes the one text that replaces the removed units.

use baler_digest::shares::{self, BYTES_PER_TOKEN, LEAST_SUMMARY};
use baler_digest::{Costs, Story, Written};
use baler_strategy::UnitKind;

use super::{Choice, RemovedUnits, Summarise, target};

/// The text that replaces the removed units, and whether it begins with a summary.
#[derive(Debug, Default)]
pub(super) struct Replacement {
    pub(super) written: Written,
    pub(super) is_summarised: bool,
}

impl Choice<'_> {
    /// Keeps the newest units and replaces the others by one text. Returns `None` if no text fits or none is
    /// needed.
    pub(super) fn replace_old_units(
        &mut self,
        summarise: &mut Summarise<'_>,
    ) -> Option<Replacement> {
        let units = self.units().len();
        let situation = self.situation;
        let target = u64::from(target(situation));
        let protected: u64 = (0..units)
            .filter(|unit| self.units()[*unit].is_protected())
            .map(|unit| self.cost(unit))
            .sum();
        let room = target
            .saturating_sub(u64::from(situation.overhead) + protected)
            .saturating_sub(u64::from(situation.insertion_overhead));
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let count = |text: &str| self.conversation.count(text);
        let mut costs = Costs::new(&count);
        let newest = (0..units)
            .rev()
            .find(|unit| !self.units()[*unit].is_protected());
        let newest = newest.map_or(u64::MAX, |unit| self.cost(unit));
        let newest = u32::try_from(newest).unwrap_or(u32::MAX);
        let work = self.material.notes.work();
        let mut share = shares::text_tokens(work, room, situation.used, newest);
        let most = shares::NEEDED.of(room);
        let is_small = room < shares::LEAST_DIGEST;
        // The tokens for the last error depend on which units are removed, and those on the tokens of the text.
        let before = (self.reduced.clone(), self.saved.clone());
        for _ in 0..4 {
            (self.reduced, self.saved) = before.clone();
            self.window(room - share.min(room));
            let needed = self.material.notes.needed(&self.kept, &mut costs);
            if is_small && (needed == 0 || needed > room) {
                share = 0;
                (self.reduced, self.saved) = before.clone();
                self.window(room);
                break;
            }
            let wanted = if is_small { needed } else { needed.min(most) };
            if wanted <= share {
                break;
            }
            share = wanted;
        }
        let more = |tokens: u32| shares::MEASURED_TEXT.of(tokens) + shares::MEASURED_TEXT_TOKENS;
        if !is_small && self.left_for_text() > shares::UNUSED.of(room) {
            // Units were too large next to the share of the text, which may need less.
            let text = self.write(&Story::default(), &mut costs);
            let needed = text.map_or(0, |text| text.tokens + more(text.tokens));
            if needed < share {
                (self.reduced, self.saved) = before.clone();
                self.window(room - needed);
            }
        }
        let mut replacement = match share {
            0 => None,
            _ => self.text(summarise, &mut costs),
        };
        // A text with nothing more to say leaves its tokens to the window, for which there are units again.
        let needed = match &replacement {
            None => Some(0),
            Some(own) if !own.is_summarised => Some(own.written.tokens + more(own.written.tokens)),
            Some(_) => None,
        };
        if let Some(tokens) = needed.filter(|_| share > 0)
            && self.left_for_text() > tokens + shares::LEFT_BY_TEXT.of(room)
        {
            (self.reduced, self.saved) = before;
            self.is_widened = true;
            self.window(room - tokens.min(room));
            replacement = self.text(&mut |_| None, &mut costs);
        }
        let written = replacement.as_ref().map_or(0, |own| own.written.tokens);
        let unused = self.left_for_text().saturating_sub(written);
        self.restore_cut_text(u64::from(unused.saturating_sub(shares::SLACK)));
        replacement
    }

    /// Writes the text for the removed units. Returns `None` if there is nothing to write, or if it does
    /// not fit.
    fn text(&self, summarise: &mut Summarise<'_>, costs: &mut Costs<'_>) -> Option<Replacement> {
        let story = self
            .removed_units(costs)
            .and_then(|removed| summarise(&removed));
        let summarised = story.and_then(|story| self.write(&story, costs));
        let is_summarised = summarised.is_some();
        let written = match summarised {
            Some(written) => written,
            None => self.write(&Story::default(), costs)?,
        };
        Some(Replacement {
            written,
            is_summarised,
        })
    }

    /// Returns the removed units, or `None` if a summary of them would be too short to be useful. The last error
    /// comes first. Half of the tokens that they leave is for other exact facts.
    fn removed_units(&self, costs: &mut Costs<'_>) -> Option<RemovedUnits> {
        let (mut units, mut earlier) = (Vec::new(), Vec::new());
        for (unit, _) in self.kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            match self.units()[unit].kind {
                UnitKind::Summary => earlier.push(unit),
                _ => units.push(unit),
            }
        }
        let left = self.left_for_text();
        let needed = self.material.notes.needed(&self.kept, costs);
        let bytes = shares::STORY.of(self.room_for_bytes() / usize::from(BYTES_PER_TOKEN));
        let room = shares::STORY.of(left.saturating_sub(needed));
        let room = room.min(u32::try_from(bytes).unwrap_or(u32::MAX));
        (!units.is_empty() && room >= LEAST_SUMMARY).then_some(RemovedUnits {
            units,
            earlier,
            max_summary_tokens: room,
        })
    }

    /// Writes the digest of the removed units within the free tokens and bytes, below `story` if that has a
    /// text.
    fn write(&self, story: &Story, costs: &mut Costs<'_>) -> Option<Written> {
        let bytes = self.room_for_bytes();
        let left = self.left_for_text();
        let mut tokens = left;
        for _ in 0..5 {
            let notes = &self.material.notes;
            let mut written = notes.write_below(story, &self.kept, tokens, bytes, costs);
            if written.text.is_empty() {
                return None;
            }
            let cost = self.conversation.count(&written.text);
            let excess = cost.saturating_sub(left);
            if excess == 0 {
                written.tokens = cost;
                return Some(written);
            }
            tokens = written
                .tokens
                .checked_sub(excess + shares::REWRITE_MARGIN)?;
        }
        None
    }

    /// Returns the tokens that the text for the removed units may have.
    fn left_for_text(&self) -> u32 {
        let kept: u64 = (0..self.kept.len())
            .filter(|unit| self.kept[*unit])
            .map(|unit| self.cost(unit))
            .sum();
        // If only bytes or media exceed their limit, the budget may be larger than what was used before.
        let before = self.situation.tokens_with(self.units());
        let left = u64::from(target(self.situation))
            .min(before.saturating_sub(1))
            .saturating_sub(u64::from(self.situation.overhead))
            .saturating_sub(u64::from(self.situation.insertion_overhead))
            // Where units are skipped, the host may have to insert a note.
            .saturating_sub(u64::from(self.situation.opening_note) * self.gaps())
            .saturating_sub(kept);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// Returns how many gaps of removed units come before a kept unit that a note may have to precede, after the first
    /// removed unit. What the user says needs none.
    fn gaps(&self) -> u64 {
        let first = self.kept.iter().position(|kept| !kept).unwrap_or(0);
        let is_behind_gap = |unit: &usize| self.kept[*unit] && !self.kept[*unit - 1];
        let is_users = |unit: &usize| self.units()[*unit].kind == UnitKind::User;
        (first + 1..self.kept.len())
            .filter(|unit| is_behind_gap(unit) && !is_users(unit))
            .count() as u64
    }

    fn room_for_bytes(&self) -> usize {
        let kept: u64 = (0..self.kept.len())
            .filter(|unit| self.kept[*unit])
            .map(|unit| u64::from(self.units()[unit].bytes))
            .sum();
        let most = self.situation.max_bytes.map_or(u64::MAX, u64::from);
        let left = most.saturating_sub(kept);
        usize::try_from(left.saturating_sub(shares::TIERED_INSERTION_BYTES))
            .unwrap_or(usize::MAX)
            .min(shares::MOST_DIGEST_BYTES)
    }
}
