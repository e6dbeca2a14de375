//! Chooses the units to keep, and those that the model reads.

use baler_strategy::{Failure, FreeBudget, Situation, Unit, UnitKind};
use baler_strategy_core::summary::UnitOutcome::{self, Summarized};
use baler_strategy_core::summary::{max_summary_tokens, reserve, summary_position};

/// The outcome of each unit, and the most tokens of the summary.
#[derive(Debug)]
pub(crate) struct Choice {
    pub outcomes: Vec<UnitOutcome>,
    pub max_tokens: u32,
}

impl Choice {
    /// Returns the units that are not kept.
    pub(crate) fn removed(&self) -> Vec<usize> {
        let outcomes = self.outcomes.iter().enumerate();
        let removed = outcomes.filter(|(_, outcome)| **outcome != UnitOutcome::Kept);
        removed.map(|(unit, _)| unit).collect()
    }
}

/// Returns the choice, `None` if there is nothing that a summary could make smaller.
pub(crate) fn choose(
    units: &[Unit],
    situation: &Situation,
    wanted: &[usize],
    framing: u32,
    longest: u32,
) -> Result<Option<Choice>, Failure> {
    let mut room = FreeBudget::after_protected(situation, units);
    let without_summary = take(units, wanted, room);
    if without_summary.len() == wanted.len()
        && units_of(&outcomes(units, wanted), Summarized).is_empty()
    {
        return Ok(None);
    }
    let reserve = reserve(situation, &room, framing, longest);
    room.spend(reserve, reserve.saturating_mul(8));
    let mut kept = take(units, wanted, room);
    loop {
        let outcomes = outcomes(units, &kept);
        let at = summary_position(&outcomes);
        let failure = if units_of(&outcomes, Summarized).is_empty() {
            None
        } else {
            match max_summary_tokens(situation, units, &outcomes, at, framing) {
                Ok(Some(max_tokens)) => {
                    return Ok(Some(Choice {
                        outcomes,
                        max_tokens,
                    }));
                }
                // So little is removed that a summary would be longer.
                Ok(None) if situation.used <= situation.budget => return Ok(None),
                Ok(None) => None,
                Err(failure) => Some(failure),
            }
        };
        if kept.pop().is_none() {
            return failure.map_or(Ok(None), Err);
        }
    }
}

/// Returns the wanted units that fit, up to the first that does not. Protected ones are charged already.
fn take(units: &[Unit], wanted: &[usize], mut room: FreeBudget) -> Vec<usize> {
    let fits = |index: &&usize| match units.get(**index) {
        Some(unit) if !unit.is_protected() => room.take(unit),
        _ => true,
    };
    wanted.iter().take_while(fits).copied().collect()
}

fn outcomes(units: &[Unit], kept: &[usize]) -> Vec<UnitOutcome> {
    let outcome = |unit: &Unit| match unit.kind {
        _ if unit.is_protected() => UnitOutcome::Kept,
        UnitKind::Summary => UnitOutcome::Earlier,
        _ => Summarized,
    };
    let mut outcomes: Vec<_> = units.iter().map(outcome).collect();
    for unit in kept {
        if let Some(outcome) = outcomes.get_mut(*unit) {
            *outcome = UnitOutcome::Kept;
        }
    }
    outcomes
}

pub(crate) fn units_of(outcomes: &[UnitOutcome], wanted: UnitOutcome) -> Vec<usize> {
    let outcomes = outcomes.iter().enumerate();
    outcomes
        .filter(|(_, outcome)| **outcome == wanted)
        .map(|(unit, _)| unit)
        .collect()
}

/// Returns the units that the model reads: those that the summary replaces, and the user's messages up to the newest of
/// them, which may stay. Of more than `most` tokens it reads the newest, from a message of the user on if there is one.
pub(crate) fn shown(units: &[Unit], outcomes: &[UnitOutcome], most: u32) -> Vec<usize> {
    let removed = units_of(outcomes, Summarized);
    let Some(newest) = removed.last() else {
        return removed;
    };
    let is_user = |unit: usize| units[unit].kind == UnitKind::User;
    let is_shown = |unit: &usize| outcomes[*unit] == Summarized || is_user(*unit);
    let mut shown: Vec<usize> = (0..=*newest).filter(is_shown).collect();
    let mut left = u64::from(most);
    let mut fits = |unit: &usize| match left.checked_sub(u64::from(units[*unit].tokens)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let fitting = shown
        .iter()
        .rev()
        .copied()
        .take_while(|unit| fits(unit))
        .count();
    if fitting == shown.len() {
        return shown;
    }
    shown.drain(..shown.len() - fitting.max(1));
    if let Some(first) = shown.iter().position(|unit| is_user(*unit)) {
        shown.drain(..first);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::Source;
    use baler_strategy::testing::Recording;

    fn recording() -> Recording {
        Recording::new()
            .user("task")
            .tokens(100)
            .step("one", [])
            .tokens(1_000)
            .user("go on")
            .tokens(100)
            .step("two", [])
            .tokens(1_000)
            .step("three", [])
            .tokens(1_000)
            .user("and now?")
            .tokens(100)
    }

    fn kept(budget: u32, wanted: &[usize]) -> Option<Vec<usize>> {
        let units = recording().units();
        let choice = choose(&units, &recording().situation(budget), wanted, 0, 4_096);
        let choice = choice.expect("there is room");
        choice.map(|choice| units_of(&choice.outcomes, UnitOutcome::Kept))
    }

    #[test]
    fn what_is_wanted_last_goes_first() {
        assert_eq!(kept(3_000, &[5, 4, 3, 2]), Some(vec![2, 3, 4, 5]));
        assert_eq!(kept(2_000, &[5, 4, 3, 2]), Some(vec![4, 5]));
        assert_eq!(kept(2_000, &[0, 1, 5, 4, 3]), Some(vec![0, 1, 5]));
    }

    #[test]
    fn nothing_is_chosen_if_all_that_is_wanted_fits() {
        assert_eq!(kept(4_000, &[5, 4, 3, 2, 1, 0]), None);
        // A quarter of what is free is reserved for the summary, so one step less fits.
        assert_eq!(kept(3_299, &[5, 4, 3, 2, 1, 0]), Some(vec![2, 3, 4, 5]));
    }

    /// The summary of a short message would be longer than it, but the result has to fit.
    #[test]
    fn more_is_removed_if_a_summary_of_the_rest_would_not_be_shorter() {
        let mut units = recording().units();
        units[0].tokens = 20;
        let mut situation = recording().situation(3_210);
        situation.used = 3_220;
        let choice = choose(&units, &situation, &[5, 4, 3, 2, 1], 0, 100);
        let choice = choice.expect("there is room").expect("too long");
        assert_eq!(units_of(&choice.outcomes, UnitOutcome::Kept), [2, 3, 4, 5]);
    }

    #[test]
    fn the_model_reads_what_is_removed_and_what_the_user_said_before() {
        let units = recording().units();
        let outcomes = outcomes(&units, &[0, 2, 5]);
        assert_eq!(shown(&units, &outcomes, u32::MAX), [0, 1, 2, 3, 4]);
        assert_eq!(shown(&units, &outcomes, 3_199), [2, 3, 4]);
        assert_eq!(shown(&units, &outcomes, 2_000), [3, 4]);
        assert_eq!(shown(&units, &outcomes, 10), [4]);
    }
}
