//! Which units go where masking was not enough.

use std::collections::BTreeMap;

use baler_strategy::{FreeBudget, Situation, Unit, UnitKind, opening_note};

use crate::mask::Mask;

/// Drops the oldest unprotected units until the room is kept: summaries last, and only units
/// whose loss helps. Says for each unit whether it is dropped.
pub(crate) fn choose(
    units: &[Unit],
    situation: &Situation,
    masks: &BTreeMap<usize, Vec<Mask>>,
    room: &mut FreeBudget,
) -> Vec<bool> {
    let mut dropped = vec![false; units.len()];
    let is_summary = |unit: &Unit| unit.kind == UnitKind::Summary;
    let others = (0..units.len()).filter(|index| !is_summary(&units[*index]));
    let summaries = (0..units.len()).filter(|index| is_summary(&units[*index]));
    // What dropping makes come first moves only forward, so it is looked for from there.
    let mut first = 0;
    let mut any = false;
    for index in others.chain(summaries) {
        let unit = &units[index];
        while first < units.len() && (dropped[first] || units[first].kind == UnitKind::Instructions)
        {
            first += 1;
        }
        // A host that puts a note first does so because something went before it.
        let needs_note = any
            && room.is_within_limits()
            && opening_note(situation, units.get(first)) > room.tokens();
        if room.is_within_limits() && !needs_note {
            break;
        }
        if unit.is_protected() || !(needs_note || room.is_helped_by_removing(unit)) {
            continue;
        }
        dropped[index] = true;
        any = true;
        room.release(unit);
        // The unit costs less than its figures say when it is masked.
        for mask in masks.get(&index).into_iter().flatten() {
            room.spend(mask.tokens, mask.bytes);
        }
    }
    dropped
}
