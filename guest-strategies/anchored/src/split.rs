//! Which units stay, and why.

use baler_strategy::{Conversation, Room, Situation, Traits, Unit, UnitKind};
use summarize_core::Place;

use crate::Config;

/// The share of the window that the preserved turns may have.
const EMERGENCY: f64 = 0.95;

/// What becomes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
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

/// The fate of each unit, and where the preserved turns begin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub fates: Vec<Fate>,
    pub cut: usize,
}

impl Split {
    pub(crate) fn with(&self, wanted: Fate) -> Vec<usize> {
        let fates = self.fates.iter().enumerate();
        fates
            .filter(|(_, fate)| **fate == wanted)
            .map(|(unit, _)| unit)
            .collect()
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        let place = |fate: &Fate| match fate {
            Fate::Preserved | Fate::Anchor | Fate::Protected => Place::Kept,
            Fate::Earlier => Place::Earlier,
            Fate::Summarized => Place::Summarized,
        };
        self.fates.iter().map(place).collect()
    }
}

/// The split with as many preserved turns as the config wants, or with as many fewer, one by
/// one, as it takes for the whole request to fit with a summary. None where there are no more
/// turns than are to be preserved and all fit.
pub(crate) fn split(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    set_aside: u32,
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
        if !may_be_preserved(units, situation, earlier..end, set_aside) {
            break;
        }
        cut = earlier;
    }
    let mut fates = fates(units, cut);
    retain(conversation, situation, config, set_aside, &mut fates);
    Some(Split { fates, cut })
}

fn fits(units: &[Unit], situation: &Situation) -> bool {
    let mut room = Room::of(situation);
    for unit in units {
        room.charge(unit);
    }
    room.is_kept() && situation.used <= situation.budget
}

/// Whether these turns are a small enough share of the window, and fit beside all that must
/// stay and a summary. More turns than these may be preserved only where these may.
fn may_be_preserved(
    units: &[Unit],
    situation: &Situation,
    turns: std::ops::Range<usize>,
    set_aside: u32,
) -> bool {
    let tokens: u32 = units[turns.clone()]
        .iter()
        .map(|unit| unit.tokens)
        .fold(0, u32::saturating_add);
    let window = situation.context_window;
    if window > 0 && f64::from(tokens) > f64::from(window) * EMERGENCY {
        return false;
    }
    let mut room = Room::of(situation);
    for (index, unit) in units.iter().enumerate() {
        if unit.is_protected() || turns.contains(&index) {
            room.charge(unit);
        }
    }
    room.spend(set_aside, set_aside.saturating_mul(8));
    room.is_kept()
}

fn fates(units: &[Unit], cut: usize) -> Vec<Fate> {
    let fate = |(index, unit): (usize, &Unit)| match unit.kind {
        _ if index >= cut => Fate::Preserved,
        _ if unit.is_protected() => Fate::Protected,
        UnitKind::Summary => Fate::Earlier,
        _ => Fate::Summarized,
    };
    units.iter().enumerate().map(fate).collect()
}

/// Makes anchors of older user messages, from the newest on, and stops at the first that does
/// not fit: none is cut and none is skipped. They have a quarter of the request at most, so
/// that they never fill a small window alone.
fn retain(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    set_aside: u32,
    fates: &mut [Fate],
) {
    let units = conversation.units();
    let mut left = (Room::of(situation).tokens() / 4).min(config.max_retained_user_tokens.into());
    let mut room = Room::of(situation);
    room.spend(set_aside, set_aside.saturating_mul(8));
    for (unit, fate) in units.iter().zip(&*fates) {
        if matches!(fate, Fate::Preserved | Fate::Protected) {
            room.charge(unit);
        }
    }
    for index in (0..units.len()).rev() {
        let is_candidate = matches!(fates[index], Fate::Summarized | Fate::Protected);
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
        if fates[index] == Fate::Summarized {
            if !room.take(&units[index]) {
                break;
            }
            fates[index] = Fate::Anchor;
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
