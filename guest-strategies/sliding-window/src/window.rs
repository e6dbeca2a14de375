//! Chooses the units to keep, from figures alone as long as no unit is too large.

use baler_strategy::{
    Conversation, FreeBudget, LargeSteps, Oversized, Situation, Unit, UnitKind, opening_note,
};

use crate::Keep;

/// Where a unit ends up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitOutcome {
    /// Kept in the window.
    Window,
    /// Kept in the window, with its outputs shortened.
    Shortened,
    /// Kept in addition to the window.
    Aside,
    /// Not in the result.
    Removed,
}

/// The result of [`choose`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The outcome of each unit, and what is left of those that are shortened.
    Of(Vec<UnitOutcome>, LargeSteps),
    /// Nothing would be removed.
    Everything,
    /// Nothing would be kept.
    Nothing,
}

/// Chooses the outcome of each unit. The result stays within the budget, or at the floor where
/// the budget is below it.
pub(crate) fn choose(conversation: &Conversation<'_>, situation: &Situation, keep: Keep) -> Window {
    let units = conversation.units();
    let mut room = FreeBudget::of(situation);
    let mut has_summary = false;
    let mut outcomes: Vec<UnitOutcome> = units
        .iter()
        .map(|unit| {
            if unit.is_protected() {
                room.charge(unit);
                return UnitOutcome::Aside;
            }
            has_summary |= is_summary(unit);
            UnitOutcome::Removed
        })
        .collect();
    // A summary replaces much more than it costs, so it takes precedence over the window.
    let summaries = units.iter().zip(&mut outcomes).rev();
    for (unit, outcome) in summaries.take(if has_summary { units.len() } else { 0 }) {
        if is_summary(unit) && *outcome == UnitOutcome::Removed && room.take(unit) {
            *outcome = UnitOutcome::Aside;
        }
    }
    let mut large = LargeSteps::new(&room);
    let mut used = 0;
    for (index, (unit, outcome)) in units.iter().zip(&mut outcomes).enumerate().rev() {
        if *outcome == UnitOutcome::Aside || is_summary(unit) {
            continue;
        }
        let (limit, share) = keep.measure(unit.messages, unit.tokens);
        used += share;
        if used > limit {
            break;
        }
        if room.take(unit) {
            *outcome = UnitOutcome::Window;
            continue;
        }
        match large.take(conversation, situation, index, &mut room) {
            Oversized::Shortened => *outcome = UnitOutcome::Shortened,
            Oversized::PassedOver => {}
            Oversized::EndsWindow => break,
        }
    }
    let changes =
        |outcome: &UnitOutcome| matches!(outcome, UnitOutcome::Removed | UnitOutcome::Shortened);
    if !outcomes.iter().any(changes) {
        return Window::Everything;
    }
    shorten_for_the_note(units, situation, &mut outcomes, &mut large, &mut room);
    large.lengthen(conversation, situation, &mut room);
    if outcomes
        .iter()
        .all(|outcome| *outcome == UnitOutcome::Removed)
    {
        return Window::Nothing;
    }
    Window::Of(outcomes, large)
}

/// If the result would start with a message of the model, the host may insert a note. Removes the oldest
/// units of the window until the note fits or is not needed.
fn shorten_for_the_note(
    units: &[Unit],
    situation: &Situation,
    outcomes: &mut [UnitOutcome],
    large: &mut LargeSteps,
    room: &mut FreeBudget,
) {
    for index in 0..units.len() {
        let unit = &units[index];
        if outcomes[index] == UnitOutcome::Removed || unit.kind == UnitKind::Instructions {
            continue;
        }
        if outcomes[index] == UnitOutcome::Aside
            || opening_note(situation, Some(unit)) <= room.tokens()
        {
            return;
        }
        outcomes[index] = UnitOutcome::Removed;
        large.release(units, index, room);
    }
}

fn is_summary(unit: &Unit) -> bool {
    unit.kind == UnitKind::Summary
}
