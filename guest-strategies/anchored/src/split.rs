//! Which units stay, and why.

use baler_strategy::{Conversation, FreeBudget, Situation, Traits, Unit, UnitKind};
use summarize_core::UnitOutcome;

use crate::Config;

/// The share of the window that the preserved turns may have.
const EMERGENCY: f64 = 0.95;

/// The outcome of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitClass {
    /// of a preserved turn, or live
    Preserved,
    /// an older user message that stays
    Anchor,
    /// older, but must stay
    Protected,
    /// an earlier summary that the new one carries on
    Earlier,
    /// the new summary stands for it
    Summarized,
}

/// The class of each unit, and where the preserved turns begin.
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

/// The split with as many preserved turns as the config wants, or with as many fewer, one by
/// one, as it takes for the whole request to fit with a summary. None where there are no more
/// turns than are to be preserved and all fit.
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

/// Whether these turns are a small enough share of the window, and fit beside all that must
/// stay and a summary. More turns than these may be preserved only where these may.
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

/// Makes anchors of older user messages, from the newest on, and stops at the first that does
/// not fit: none is cut and none is skipped. They have a quarter of the request at most, so
/// that they never fill a small window alone.
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
        // One that must stay has its room already.
        if classes[index] == UnitClass::Summarized {
            if !room.take(&units[index]) {
                break;
            }
            classes[index] = UnitClass::Anchor;
        }
    }
}

/// Tokens of this message, pictures and the like included; none where there is no text of the
/// user's own.
fn said(conversation: &Conversation<'_>, unit: usize) -> Option<u64> {
    let messages = conversation.messages(unit);
    let parts = messages.iter().flat_map(|message| &message.parts);
    let tokens: u64 = parts.map(|part| u64::from(part.tokens)).sum();
    summarize_core::has_users_words(&messages).then_some(tokens)
}
