//! Chooses the units to keep.

use crate::summary::UnitOutcome;
use baler_strategy::{Conversation, FreeBudget, Situation, Unit, UnitKind};

use crate::summarize::config::{Keep, share_of};

/// Returns the index of the first unit to keep by the config. A unit is never split: one with a message of
/// the newest part is kept as a whole.
pub(crate) fn wanted(conversation: &Conversation<'_>, situation: &Situation, keep: Keep) -> usize {
    let units = conversation.units();
    match keep {
        Keep::Messages(messages) => newest_messages(units, messages),
        Keep::Units(number) => back(units, number, |_| 1),
        Keep::Share(share) => {
            let window = match situation.context_window {
                0 => situation.budget,
                window => window,
            };
            newest_tokens(conversation, share_of(window, share))
        }
    }
}

/// Returns the index of the first of the newest units that have so many messages, instructions not counted. A unit with
/// one of these messages counts as a whole.
pub fn newest_messages(units: &[Unit], messages: u32) -> usize {
    back(units, messages, |unit| unit.messages)
}

/// Goes back from the end until `left` is used up. Instructions do not count, since they are always kept.
fn back(units: &[Unit], mut left: u32, measure: impl Fn(&Unit) -> u32) -> usize {
    let mut first = units.len();
    for (index, unit) in units.iter().enumerate().rev() {
        if left == 0 {
            break;
        }
        if unit.kind != UnitKind::Instructions {
            left = left.saturating_sub(measure(unit));
            first = index;
        }
    }
    first
}

/// Returns the index of the first of the newest units whose messages have at most so many tokens, instructions not counted.
/// A unit with one of these messages counts as a whole, and the newest message always counts.
pub fn newest_tokens(conversation: &Conversation<'_>, budget: u64) -> usize {
    let units = conversation.units();
    let mut first = units.len();
    let mut left = budget;
    for (index, unit) in units.iter().enumerate().rev() {
        if unit.kind == UnitKind::Instructions {
            continue;
        }
        let is_newest = first == units.len();
        match left.checked_sub(u64::from(unit.tokens)) {
            Some(rest) => left = rest,
            None if is_newest || newest_message_fits(conversation, index, left) => return index,
            None => break,
        }
        first = index;
    }
    first
}

fn newest_message_fits(conversation: &Conversation<'_>, unit: usize, left: u64) -> bool {
    let messages = conversation.messages(unit);
    messages.last().is_some_and(|message| {
        let tokens: u64 = message
            .parts
            .iter()
            .map(|part| u64::from(part.tokens))
            .sum();
        messages.len() > 1 && tokens <= left
    })
}

/// Returns the outcome of each unit. Protected units are kept, and as much of the newest part as fits with
/// them and the tokens reserved for the summary.
pub(crate) fn outcomes(
    units: &[Unit],
    situation: &Situation,
    wanted: usize,
    reserve: u32,
) -> Vec<UnitOutcome> {
    let mut room = FreeBudget::after_protected(situation, units);
    room.spend(reserve, reserve.saturating_mul(8));
    let mut outcomes: Vec<UnitOutcome> = units
        .iter()
        .map(|unit| match unit.kind {
            _ if unit.is_protected() => UnitOutcome::Kept,
            UnitKind::Summary => UnitOutcome::Earlier,
            _ => UnitOutcome::Summarized,
        })
        .collect();
    for (unit, outcome) in units.iter().zip(&mut outcomes).skip(wanted).rev() {
        if *outcome == UnitOutcome::Kept {
            continue;
        }
        if !room.take(unit) {
            break;
        }
        *outcome = UnitOutcome::Kept;
    }
    outcomes
}
