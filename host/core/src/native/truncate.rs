//! `native:truncate`: keeps the newest turns that fit, without units that alone need most of the budget. It cannot fail.

use baler_conversation::{Role, Unit, UnitKind};
use baler_digest::shares::{INSERTION_BYTES, LARGE_UNIT};

use crate::plan::{Insertion, InsertionPurpose, Piece, Placement, Plan};
use crate::report::{Answer, Metric, MetricValue, Report};
use crate::situation::Situation;

/// Replaces the removed units.
const NOTE: &str = "(Earlier conversation omitted due to length)";

/// Keeps protected units, earlier summaries, and as many of the newest turns as fit. If the newest turn alone
/// is too large, keeps its newest steps.
pub(crate) fn truncate(situation: &Situation) -> Report {
    if situation.fits() {
        return unchanged();
    }
    let units = situation.units();
    let mut kept: Vec<bool> = (0..units.len())
        .map(|unit| situation.is_protected(unit))
        .collect();
    let note = situation.insertion_overhead() + situation.conversation.tokenizer().count(NOTE);
    // Protected units have priority over the note.
    let mut free = Free::of(situation);
    // Where the user's messages may not follow one another, the note needs the host's own on both sides.
    let fits = || {
        let left = situation.left_for_text(&kept);
        left.is_some_and(|left| left >= note)
    };
    let has_note = free.tokens >= note && free.bytes >= INSERTION_BYTES && fits();
    free = if has_note {
        free.without_text(note, INSERTION_BYTES)
    } else {
        // The host puts its own note before a result that begins with a step.
        free.without_text(situation.opening_note(), 0)
    };
    for (index, unit) in units.iter().enumerate().rev() {
        if unit.kind == UnitKind::Summary && !kept[index] && free.take(unit) {
            kept[index] = true;
        }
    }
    keep_newest_turns(situation, &mut kept, free);
    make_room_for_notes(situation, &mut kept, has_note.then_some(note));
    let removed = kept.iter().filter(|kept| !**kept).count();
    if removed == 0 {
        return unchanged();
    }
    Report {
        answer: Answer::Compacted(plan(situation, &kept, has_note)),
        metrics: vec![Metric {
            name: "units-removed".to_owned(),
            value: MetricValue::Count(u32::try_from(removed).unwrap_or(u32::MAX)),
        }],
    }
}

fn unchanged() -> Report {
    Report {
        answer: Answer::Unchanged("nothing has to be removed".to_owned()),
        metrics: Vec::new(),
    }
}

/// Keeps the newest turns that fit, or the newest steps of the newest turn if all of it does not fit. If that is due to
/// units that alone need most of the tokens, the turn is kept without them.
fn keep_newest_turns(situation: &Situation, kept: &mut [bool], mut free: Free) {
    let units = situation.units();
    let Some(newest) = units.last().map(|unit| unit.turn) else {
        return;
    };
    let large = LARGE_UNIT.of(free.tokens);
    // Without the answer that ended it, a turn with calls would count as unfinished.
    let is_large = |unit: &usize| {
        let unit = &units[*unit];
        unit.tokens > large && (unit.kind == UnitKind::User || unit.traits.calls)
    };
    let mut end = units.len();
    while end > 0 {
        let turn = units[end - 1].turn;
        let start = units[..end]
            .iter()
            .rposition(|unit| unit.turn != turn)
            .map_or(0, |before| before + 1);
        let open: Vec<usize> = (start..end)
            .filter(|unit| !kept[*unit] && units[*unit].kind != UnitKind::Summary)
            .collect();
        let without_large: Vec<usize> = open
            .iter()
            .copied()
            .filter(|unit| !is_large(unit))
            .collect();
        let fitting = [&open, &without_large].into_iter().find_map(|part| {
            let mut left = free;
            let fits = part.iter().all(|unit| left.take(&units[*unit]));
            fits.then_some((part, left))
        });
        if let Some((part, left)) = fitting {
            free = left;
            part.iter().for_each(|unit| kept[*unit] = true);
            end = start;
            continue;
        }
        // A long tool loop is one turn: a part of it is better than nothing.
        if turn == newest {
            for unit in open.into_iter().rev() {
                if free.take(&units[unit]) {
                    kept[unit] = true;
                } else if !is_large(&unit) {
                    break;
                }
            }
        }
        return;
    }
}

/// Removes the oldest units that are not protected until the host's own notes fit, nearly always only a few.
/// The host may have to insert a note between units that were not adjacent before, in addition to `note`, the
/// tokens of [`NOTE`].
fn make_room_for_notes(situation: &Situation, kept: &mut [bool], note: Option<u32>) {
    let exceeds = |kept: &[bool]| match note {
        Some(note) if kept.contains(&false) => {
            situation.left_for_text(kept).is_none_or(|left| left < note)
        }
        _ => situation.exceeds_target(kept),
    };
    let removable: Vec<usize> = (0..kept.len())
        .filter(|unit| kept[*unit] && !situation.is_protected(*unit))
        .collect();
    let count = fewest(removable.len(), |count| {
        let mut left = kept.to_vec();
        removable[..count]
            .iter()
            .for_each(|unit| left[*unit] = false);
        !exceeds(&left)
    });
    removable[..count]
        .iter()
        .for_each(|unit| kept[*unit] = false);
}

/// Returns the smallest number up to `most` that is enough; `most` if none is. The number of calls of
/// `is_enough` grows with the logarithm of the result.
fn fewest(most: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    if most == 0 || is_enough(0) {
        return 0;
    }
    let mut too_few = 0;
    let mut enough = 1;
    while enough < most && !is_enough(enough) {
        too_few = enough;
        enough = (enough * 2).min(most);
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    enough
}

/// Makes a plan that keeps the `kept` units, with the note in the place of the first removed unit.
fn plan(situation: &Situation, kept: &[bool], has_note: bool) -> Plan {
    let mut plan = Plan::default();
    let first_removed = kept.iter().position(|kept| !kept);
    for (unit, _) in situation.units().iter().enumerate() {
        if has_note && first_removed == Some(unit) {
            plan.pieces.push(Piece::Insert(Insertion {
                role: Role::User,
                purpose: InsertionPurpose::Note,
                placement: Placement::Alone,
                text: NOTE.to_owned(),
            }));
        }
        if kept[unit] {
            plan.keep(unit);
        }
    }
    plan
}

/// What is free beside the units that are kept: tokens, bytes and media.
#[derive(Debug, Clone, Copy)]
struct Free {
    tokens: u32,
    bytes: usize,
    media: u32,
}

impl Free {
    /// Returns what the protected units leave of the budget.
    fn of(situation: &Situation) -> Self {
        let protected: Vec<bool> = situation.protected().collect();
        let mut free = Self {
            tokens: situation.left_without_text(&protected),
            bytes: situation.max_bytes_of_units(),
            media: situation.limits.media,
        };
        let units = situation.units().iter().enumerate();
        for (index, unit) in units.filter(|(index, _)| protected[*index]) {
            free.bytes = free.bytes.saturating_sub(situation.bytes_of(index));
            free.media = free.media.saturating_sub(unit.media);
        }
        free
    }

    /// Subtracts what a unit needs, and returns whether it fits. If not, nothing changes.
    const fn take(&mut self, unit: &Unit) -> bool {
        if unit.tokens > self.tokens || unit.bytes > self.bytes || unit.media > self.media {
            return false;
        }
        self.tokens -= unit.tokens;
        self.bytes -= unit.bytes;
        self.media -= unit.media;
        true
    }

    /// Returns what is left after a text of this many tokens and bytes.
    const fn without_text(self, tokens: u32, bytes: usize) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(tokens),
            bytes: self.bytes.saturating_sub(bytes),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn fewest_finds_the_smallest_number_with_few_calls() {
        for most in [0, 1, 2, 3, 10, 100_000] {
            for wanted in [0, 1, 2, 3, 9, 70_000] {
                let asked = Cell::new(0);
                let found = fewest(most, |count| {
                    asked.set(asked.get() + 1);
                    count >= wanted
                });
                assert_eq!(found, wanted.min(most), "{wanted} of {most}");
                assert!(asked.get() < 40, "{}", asked.get());
            }
        }
    }
}
