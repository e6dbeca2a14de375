//! Where a summary is inserted, and how long it may be.

use baler_digest::shares::{BYTES_PER_TOKEN, LEAST_SUMMARY, RESERVED_SUMMARY};
use baler_strategy::{Failure, FreeBudget, Situation, Unit, UnitKind, opening_note};

/// The fewest tokens of a useful summary.
const LEAST: u64 = 16;

/// Tokens that joined texts may have in addition to those of each text.
const SEAMS: u64 = 4;

/// The outcome of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitOutcome {
    /// The unit is in the result.
    Kept,
    /// The unit is an earlier summary, whose content the new summary includes.
    Earlier,
    /// The new summary replaces the unit.
    Summarized,
}

/// Returns the tokens to reserve for a summary of up to `wanted` tokens while units are chosen: at most a
/// quarter of the free budget, but enough for a useful summary. `framing` is the tokens of the text around
/// it.
pub fn reserve(situation: &Situation, room: &FreeBudget, framing: u32, wanted: u32) -> u32 {
    let free = room.tokens().min(room.bytes() / u64::from(BYTES_PER_TOKEN));
    let share = u32::try_from(RESERVED_SUMMARY.of(free)).unwrap_or(u32::MAX);
    wanted
        .min(share.max(LEAST_SUMMARY))
        .saturating_add(situation.insertion_overhead)
        .saturating_add(framing)
}

/// Returns the index of the unit before which the summary is inserted: the one after the last removed unit.
pub fn summary_position(outcomes: &[UnitOutcome]) -> usize {
    outcomes
        .iter()
        .rposition(|outcome| *outcome != UnitOutcome::Kept)
        .map_or(0, |last| last + 1)
}

/// Returns the tokens of the removed units.
fn removed_tokens(units: &[Unit], outcomes: &[UnitOutcome]) -> u64 {
    let pairs = units.iter().zip(outcomes);
    pairs
        .filter(|(_, outcome)| **outcome != UnitOutcome::Kept)
        .map(|(unit, _)| unit.cost())
        .sum()
}

/// Returns the most tokens of a summary before unit `at` with which the result fits and is smaller than
/// before. `None` if no summary would make it smaller.
///
/// # Errors
/// Returns a failure if the budget leaves too few tokens for a summary.
pub fn max_summary_tokens(
    situation: &Situation,
    units: &[Unit],
    outcomes: &[UnitOutcome],
    at: usize,
    framing: u32,
) -> Result<Option<u32>, Failure> {
    let mut room = FreeBudget::of(situation);
    let kept = || {
        units
            .iter()
            .zip(outcomes)
            .filter(|(_, outcome)| **outcome == UnitOutcome::Kept)
    };
    for (unit, _) in kept() {
        room.charge(unit);
    }
    let first = (0..at).find(|index| {
        outcomes[*index] == UnitOutcome::Kept && units[*index].kind != UnitKind::Instructions
    });
    let note = opening_note(situation, first.and_then(|index| units.get(index)));
    let around = u64::from(situation.insertion_overhead) + u64::from(framing) + SEAMS;
    let free = room
        .tokens()
        .saturating_sub(note)
        .min(room.bytes() / u64::from(BYTES_PER_TOKEN));
    if !room.is_within_limits() || free < around + LEAST {
        return Err(Failure::Other(
            "the budget leaves too few tokens for a summary".to_owned(),
        ));
    }
    let gain = removed_tokens(units, outcomes).saturating_sub(note);
    if gain < around + LEAST {
        return Ok(None);
    }
    let tokens = free.min(gain - 1) - around;
    Ok(Some(u32::try_from(tokens).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::Source;
    use baler_strategy::testing::Recording;

    fn recording() -> Recording {
        Recording::new()
            .system("be brief")
            .tokens(50)
            .step("old", [])
            .tokens(1_000)
            .user("new")
            .tokens(30)
    }

    const OUTCOMES: [UnitOutcome; 3] = [
        UnitOutcome::Kept,
        UnitOutcome::Summarized,
        UnitOutcome::Kept,
    ];

    /// ALL-N7: the overhead, what stays and what stands around the summary are all paid for.
    #[test]
    fn a_summary_has_what_the_rest_leaves_free() {
        let units = recording().units();
        let situation = recording().situation(500);
        assert_eq!(
            max_summary_tokens(&situation, &units, &OUTCOMES, 1, 6),
            Ok(Some(370))
        );
        assert!(max_summary_tokens(&recording().situation(100), &units, &OUTCOMES, 1, 0).is_err());
    }

    #[test]
    fn a_summary_is_shorter_than_what_it_stands_for() {
        let recording = recording();
        let mut units = recording.units();
        units[1].tokens = 100;
        let situation = recording.situation(500);
        assert_eq!(
            max_summary_tokens(&situation, &units, &OUTCOMES, 1, 0),
            Ok(Some(55))
        );
        units[1].tokens = 50;
        assert_eq!(
            max_summary_tokens(&situation, &units, &OUTCOMES, 1, 0),
            Ok(None)
        );
    }

    #[test]
    fn bytes_bound_it_too() {
        let units = recording().units();
        let mut situation = recording().situation(500);
        situation.max_bytes = Some(units[0].bytes + units[2].bytes + 800);
        assert_eq!(
            max_summary_tokens(&situation, &units, &OUTCOMES, 1, 0),
            Ok(Some(56))
        );
    }

    #[test]
    fn it_goes_after_what_it_stands_for() {
        use UnitOutcome::{Earlier, Kept, Summarized};
        assert_eq!(
            summary_position(&[Kept, Summarized, Kept, Earlier, Kept]),
            4
        );
        assert_eq!(summary_position(&[Kept, Kept]), 0);
    }
}
