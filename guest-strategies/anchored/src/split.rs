//! Chooses the units to keep, and why.

use baler_strategy::{Conversation, FreeBudget, Situation, Traits, Unit, UnitKind};
use baler_strategy_core::summary::UnitOutcome;

use crate::Config;

/// The largest share of the context window for the preserved turns.
const EMERGENCY: f64 = 0.95;

/// The class of a unit: why it is kept or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitClass {
    /// In a preserved turn, or live.
    Preserved,
    /// An older user message that is kept.
    Anchor,
    /// Older, but protected.
    Protected,
    /// An earlier summary, whose content the new one includes.
    Earlier,
    /// Replaced by the new summary.
    Summarized,
}

/// The class of each unit, and the index at which the preserved turns begin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub classes: Vec<UnitClass>,
    pub cut: usize,
}

impl Split {
    pub(crate) fn units_of(&self, wanted: UnitClass) -> Vec<usize> {
        let classes = self.classes.iter().enumerate();
        classes
            .filter(|(_, class)| **class == wanted)
            .map(|(unit, _)| unit)
            .collect()
    }

    pub(crate) fn outcomes(&self) -> Vec<UnitOutcome> {
        let outcome = |class: &UnitClass| match class {
            UnitClass::Preserved | UnitClass::Anchor | UnitClass::Protected => UnitOutcome::Kept,
            UnitClass::Earlier => UnitOutcome::Earlier,
            UnitClass::Summarized => UnitOutcome::Summarized,
        };
        self.classes.iter().map(outcome).collect()
    }
}

/// Returns the split with as many preserved turns as configured, or as many fewer as needed for the request
/// to fit with a summary. `None` if there are fewer turns than to be preserved and the conversation fits.
pub(crate) fn split(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    reserve: u32,
) -> Option<Split> {
    let units = conversation.units();
    let is_live = |unit: &Unit| unit.traits.contains(Traits::LIVE);
    let end = units.iter().position(is_live).unwrap_or(units.len());
    let users: Vec<usize> = (0..end)
        .filter(|index| units[*index].kind == UnitKind::User)
        .collect();
    if users.len() < config.turns() && fits(units, situation) {
        return None;
    }
    let mut cut = end;
    for turns in 1..=config.turns().min(users.len()) {
        let earlier = users[users.len() - turns];
        if !may_be_preserved(units, situation, earlier..end, reserve) {
            break;
        }
        cut = earlier;
    }
    let mut classes = classes(units, cut);
    retain(conversation, situation, config, reserve, &mut classes);
    Some(Split { classes, cut })
}

fn fits(units: &[Unit], situation: &Situation) -> bool {
    let mut room = FreeBudget::of(situation);
    for unit in units {
        room.charge(unit);
    }
    room.is_within_limits() && situation.used <= situation.budget
}

/// Returns whether these turns are a small enough share of the window, and fit together with all protected
/// units and a summary. If not, no larger number of turns may be preserved either.
fn may_be_preserved(
    units: &[Unit],
    situation: &Situation,
    turns: std::ops::Range<usize>,
    reserve: u32,
) -> bool {
    let tokens: u32 = units[turns.clone()]
        .iter()
        .map(|unit| unit.tokens)
        .fold(0, u32::saturating_add);
    let window = situation.context_window;
    if window > 0 && f64::from(tokens) > f64::from(window) * EMERGENCY {
        return false;
    }
    let mut room = FreeBudget::of(situation);
    for (index, unit) in units.iter().enumerate() {
        if unit.is_protected() || turns.contains(&index) {
            room.charge(unit);
        }
    }
    room.spend(reserve, reserve.saturating_mul(8));
    room.is_within_limits()
}

fn classes(units: &[Unit], cut: usize) -> Vec<UnitClass> {
    let class = |(index, unit): (usize, &Unit)| match unit.kind {
        _ if index >= cut => UnitClass::Preserved,
        _ if unit.is_protected() => UnitClass::Protected,
        UnitKind::Summary => UnitClass::Earlier,
        _ => UnitClass::Summarized,
    };
    units.iter().enumerate().map(class).collect()
}

/// Makes older user messages anchors, newest first, and stops at the first that does not fit. No message is
/// cut or skipped. Anchors have at most a quarter of the request, so that they never fill a small window
/// alone.
fn retain(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    reserve: u32,
    classes: &mut [UnitClass],
) {
    let units = conversation.units();
    let mut left =
        (FreeBudget::of(situation).tokens() / 4).min(config.max_retained_user_tokens.into());
    let mut room = FreeBudget::of(situation);
    room.spend(reserve, reserve.saturating_mul(8));
    for (unit, class) in units.iter().zip(&*classes) {
        if matches!(class, UnitClass::Preserved | UnitClass::Protected) {
            room.charge(unit);
        }
    }
    for index in (0..units.len()).rev() {
        let is_candidate = matches!(classes[index], UnitClass::Summarized | UnitClass::Protected);
        if !is_candidate || units[index].kind != UnitKind::User {
            continue;
        }
        let Some(tokens) = said(conversation, index) else {
            continue;
        };
        let Some(rest) = left.checked_sub(tokens) else {
            break;
        };
        left = rest;
        // A protected message was charged before.
        if classes[index] == UnitClass::Summarized {
            if !room.take(&units[index]) {
                break;
            }
            classes[index] = UnitClass::Anchor;
        }
    }
}

/// Returns the tokens of this message with its media, `None` if it has no text of the user's own.
fn said(conversation: &Conversation<'_>, unit: usize) -> Option<u64> {
    let messages = conversation.messages(unit);
    let parts = messages.iter().flat_map(|message| &message.parts);
    let tokens: u64 = parts.map(|part| u64::from(part.tokens)).sum();
    baler_strategy_core::summary::has_users_words(&messages).then_some(tokens)
}
