//! Chooses the units to remove if masking does not reach the budget.

use std::collections::BTreeMap;

use baler_strategy::{FreeBudget, Situation, Unit, UnitKind, opening_note};

use crate::mask::Mask;

/// Removes the oldest unprotected units until no limit is exceeded: summaries last, and only units whose
/// removal helps. Returns for each unit whether it is removed.
pub(crate) fn choose(
    units: &[Unit],
    situation: &Situation,
    masks: &BTreeMap<usize, Vec<Mask>>,
    room: &mut FreeBudget,
) -> Vec<bool> {
    let mut removed = vec![false; units.len()];
    let is_summary = |unit: &Unit| unit.kind == UnitKind::Summary;
    let others = (0..units.len()).filter(|index| !is_summary(&units[*index]));
    let summaries = (0..units.len()).filter(|index| is_summary(&units[*index]));
    // The first kept unit only moves forward, so the search continues from there.
    let mut first = 0;
    let mut any = false;
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
        if unit.is_protected() || !(needs_note || room.is_helped_by_removing(unit)) {
            continue;
        }
        removed[index] = true;
        any = true;
        room.release(unit);
        // A masked unit costs less than its figures say.
        for mask in masks.get(&index).into_iter().flatten() {
            room.spend(mask.tokens, mask.bytes);
        }
    }
    removed
}
