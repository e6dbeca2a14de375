//! Chooses the units to remove if masking does not reach the budget.

use std::collections::BTreeMap;

use baler_strategy::{
    Conversation, FreeBudget, LargeSteps, Oversized, Situation, Unit, UnitKind, opening_note,
};

use crate::mask::Mask;

/// Shortens the unmasked steps that alone need most of the budget, and removes those that cannot be shortened and can never
/// fit. Adds to `room` what that saves. Returns for each unit whether it is removed.
pub(crate) fn shorten_large(
    conversation: &Conversation<'_>,
    situation: &Situation,
    masks: &BTreeMap<usize, Vec<Mask>>,
    large: &mut LargeSteps,
    room: &mut FreeBudget,
) -> Vec<bool> {
    let units = conversation.units();
    let mut removed = vec![false; units.len()];
    let mut free = FreeBudget::after_protected(situation, units);
    let most = free.tokens();
    for (index, unit) in units.iter().enumerate().rev() {
        // A limit of media is no reason to shorten text.
        if masks.contains_key(&index) || !room.is_helped_by_removing(unit) {
            continue;
        }
        match large.take(conversation, situation, index, &mut free) {
            Oversized::Shortened => {
                let (tokens, bytes) = large.saved(index);
                room.gain(tokens, bytes);
            }
            Oversized::PassedOver if unit.cost() > most => {
                removed[index] = true;
                room.release(unit);
            }
            Oversized::PassedOver | Oversized::EndsWindow => {}
        }
    }
    removed
}

/// Removes the oldest unprotected units until no limit is exceeded, in addition to those in `removed`: summaries last,
/// and only units whose removal helps.
pub(crate) fn remove_oldest(
    units: &[Unit],
    situation: &Situation,
    masks: &BTreeMap<usize, Vec<Mask>>,
    large: &mut LargeSteps,
    removed: &mut [bool],
    room: &mut FreeBudget,
) {
    let is_summary = |unit: &Unit| unit.kind == UnitKind::Summary;
    let others = (0..units.len()).filter(|index| !is_summary(&units[*index]));
    let summaries = (0..units.len()).filter(|index| is_summary(&units[*index]));
    // The first kept unit only moves forward, so the search continues from there.
    let mut first = 0;
    let mut any = removed.contains(&true);
    for index in others.chain(summaries) {
        let unit = &units[index];
        while first < units.len() && (removed[first] || units[first].kind == UnitKind::Instructions)
        {
            first += 1;
        }
        // A host inserts an opening note only if units before it were removed.
        let needs_note = any
            && room.is_within_limits()
            && opening_note(situation, units.get(first)) > room.tokens();
        if room.is_within_limits() && !needs_note {
            break;
        }
        if removed[index]
            || unit.is_protected()
            || !(needs_note || room.is_helped_by_removing(unit))
        {
            continue;
        }
        removed[index] = true;
        any = true;
        large.release(units, index, room);
        // A masked unit costs less than its figures say.
        for mask in masks.get(&index).into_iter().flatten() {
            room.spend(mask.tokens, mask.bytes);
        }
    }
}
