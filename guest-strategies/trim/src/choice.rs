//! Chooses the units to keep.

use baler_strategy::{
    Content, Conversation, FreeBudget, LargeSteps, Oversized, Situation, Traits, Unit, UnitKind,
    opening_note,
};

use crate::Config;
use crate::config::Keep;
use crate::counter::messages;

/// The outcome of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitOutcome {
    /// Protected.
    Protected,
    /// The first message, which is the user's.
    Initial,
    /// In the newest part.
    Recent,
    /// The newest calls with their outputs, if the units after them do not fit.
    Batch,
    /// An earlier summary.
    Summary,
    /// Not in the result.
    Removed,
}

impl UnitOutcome {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Protected => None,
            Self::Initial => Some("initial"),
            Self::Recent => Some("recent"),
            Self::Batch => Some("batch"),
            Self::Summary => Some("summary"),
            Self::Removed => Some("removed"),
        }
    }
}

/// The outcome of each unit, and the index at which the newest part begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub outcomes: Vec<UnitOutcome>,
    pub start: usize,
    /// The unit of the first message, if it is the user's and the config keeps it.
    pub initial: Option<usize>,
    /// The kept steps that are shortened.
    pub large: LargeSteps,
}

impl Choice {
    pub(crate) fn stays(&self, index: usize) -> bool {
        self.outcomes[index] != UnitOutcome::Removed
    }

    /// Returns the reason code of a unit.
    pub(crate) fn code(&self, index: usize) -> Option<&'static str> {
        match self.large.contains(index) {
            true => Some("shortened"),
            false => self.outcomes[index].code(),
        }
    }

    /// Returns whether the result is not empty, and smaller even with the host's note.
    pub(crate) fn is_a_trim(&self, units: &[Unit], situation: &Situation) -> bool {
        let units = || units.iter().enumerate();
        let gone = units().filter(|(index, _)| !self.stays(*index));
        let gone: u64 = gone.map(|(_, unit)| unit.cost()).sum();
        let mut kept = units().filter(|(index, _)| self.stays(*index)).peekable();
        let is_empty = kept.peek().is_none();
        let first = kept.find(|(_, unit)| unit.kind != UnitKind::Instructions);
        let gone = gone + self.large.saved_tokens();
        !is_empty && gone > opening_note(situation, first.map(|(_, unit)| unit))
    }

    pub(crate) fn keeps_initial(&self) -> bool {
        self.initial.is_some_and(|initial| self.stays(initial))
    }
}

/// Returns how many turns have units from index `start` on.
pub(crate) fn turns_from(units: &[Unit], start: usize) -> u64 {
    let part = units.get(start..).unwrap_or_default();
    part.chunk_by(|one, next| one.turn == next.turn).count() as u64
}

/// Chooses what to keep by the config, as far as it fits the situation.
pub(crate) fn choose(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
) -> Choice {
    let units = conversation.units();
    let first = units
        .iter()
        .position(|unit| !matches!(unit.kind, UnitKind::Instructions | UnitKind::Summary));
    let initial = first.filter(|first| units[*first].kind == UnitKind::User);
    let initial = initial.filter(|_| config.keep_initial_user);
    let batch = newest_batch(conversation);
    let mut start = match config.keep() {
        Keep::Turns(turns) => first_of_turns(units, turns),
        Keep::Messages(limit) => {
            let required = u64::from(limit) + u64::from(initial.is_some());
            match messages(units, |_| true) <= required {
                true => 0,
                false => first_of_messages(units, limit),
            }
        }
    };
    if start > 0 {
        start = batch.map_or(start, |batch| start.min(batch));
        start = aligned(conversation, start);
    }
    let mut room = FreeBudget::after_protected(situation, units);
    let mut choice = Choice {
        outcomes: units
            .iter()
            .map(|unit| match unit.is_protected() {
                true => UnitOutcome::Protected,
                false => UnitOutcome::Removed,
            })
            .collect(),
        start,
        initial,
        large: LargeSteps::new(&room),
    };
    take_what_matters_most(units, &mut choice, &mut room);
    if let Some(batch) = batch.filter(|batch| !choice.stays(*batch))
        && take(conversation, situation, &mut choice, batch, &mut room) == Some(true)
    {
        choice.outcomes[batch] = UnitOutcome::Batch;
    }
    take_recent(conversation, situation, &mut choice, &mut room);
    shorten_for_the_note(units, situation, &mut choice, &mut room);
    choice.large.lengthen(conversation, situation, &mut room);
    choice
}

/// Returns the index at which the newest `turns` turns begin. Units before the first turn are older than
/// any turn.
fn first_of_turns(units: &[Unit], turns: u32) -> usize {
    let newest = units.last().map_or(0, |unit| unit.turn);
    match newest.checked_sub(turns) {
        Some(older) => units.partition_point(|unit| unit.turn <= older),
        None => 0,
    }
}

/// Returns the index at which the newest `limit` messages begin. Units are never split.
fn first_of_messages(units: &[Unit], limit: u32) -> usize {
    let mut left = limit;
    let mut start = units.len();
    for (index, unit) in units.iter().enumerate().rev() {
        if unit.kind == UnitKind::Instructions {
            continue;
        }
        match left.checked_sub(unit.messages) {
            Some(rest) => left = rest,
            None => break,
        }
        start = index;
    }
    start
}

/// Returns the unit with the newest calls of the newest turn, if they have all their outputs. Calls of
/// older turns were answered.
fn newest_batch(conversation: &Conversation<'_>) -> Option<usize> {
    let units = conversation.units();
    let newest = units.last()?.turn;
    let begin = units.partition_point(|unit| unit.turn < newest);
    // Outputs are separate messages, so most other steps need not be read.
    let may_be = |index: &usize| {
        let unit = &units[*index];
        unit.kind == UnitKind::Step && unit.messages > 1 && !unit.traits.contains(Traits::PENDING)
    };
    (begin..units.len())
        .rev()
        .filter(may_be)
        .find(|index| has_calls(conversation, *index))
}

fn has_calls(conversation: &Conversation<'_>, index: usize) -> bool {
    conversation
        .messages(index)
        .iter()
        .flat_map(|message| &message.parts)
        .any(|part| matches!(part.content, Content::Call(_)))
}

/// Returns the first index from `start` on that has a user message or calls. A reply without what it
/// replies to says little, unless it is the newest unit.
fn aligned(conversation: &Conversation<'_>, start: usize) -> usize {
    let units = conversation.units();
    let begins = |index: &usize| {
        let unit = &units[*index];
        let follows_protected = index
            .checked_sub(1)
            .is_some_and(|before| units[before].is_protected())
            && units[index - 1].kind != UnitKind::Instructions;
        match unit.kind {
            UnitKind::User => true,
            UnitKind::Step => {
                unit.is_protected() || follows_protected || has_calls(conversation, *index)
            }
            UnitKind::Instructions | UnitKind::Summary | UnitKind::Other => false,
        }
    };
    let newest = (start..units.len()).next_back();
    (start..units.len())
        .find(begins)
        .or_else(|| newest.filter(|newest| units[*newest].kind == UnitKind::Step))
        .unwrap_or(units.len())
}

/// Keeps what takes precedence over the newest part and the newest calls: the first request and earlier summaries.
fn take_what_matters_most(units: &[Unit], choice: &mut Choice, room: &mut FreeBudget) {
    let mut take = |index: usize, outcome: UnitOutcome| {
        if choice.outcomes[index] == UnitOutcome::Removed && room.take(&units[index]) {
            choice.outcomes[index] = outcome;
        }
    };
    if let Some(initial) = choice.initial {
        take(initial, UnitOutcome::Initial);
    }
    for index in (0..units.len()).rev() {
        if units[index].kind == UnitKind::Summary {
            take(index, UnitOutcome::Summary);
        }
    }
}

/// Charges a unit, shortened if it is too large. Returns whether it stays; `None` if units before it may not stay
/// either.
fn take(
    conversation: &Conversation<'_>,
    situation: &Situation,
    choice: &mut Choice,
    index: usize,
    room: &mut FreeBudget,
) -> Option<bool> {
    if room.take(&conversation.units()[index]) {
        return Some(true);
    }
    match choice.large.take(conversation, situation, index, room) {
        Oversized::Shortened => Some(true),
        Oversized::PassedOver => Some(false),
        Oversized::EndsWindow => None,
    }
}

/// Keeps the newest part, newest unit first, up to the first unit that does not fit.
fn take_recent(
    conversation: &Conversation<'_>,
    situation: &Situation,
    choice: &mut Choice,
    room: &mut FreeBudget,
) {
    let units = conversation.units();
    let mut start = units.len();
    for index in (choice.start..units.len()).rev() {
        let unit = &units[index];
        match choice.outcomes[index] {
            UnitOutcome::Removed if unit.kind == UnitKind::Summary => {}
            UnitOutcome::Removed => match take(conversation, situation, choice, index, room) {
                Some(true) => choice.outcomes[index] = UnitOutcome::Recent,
                Some(false) => continue,
                None => break,
            },
            UnitOutcome::Batch => choice.outcomes[index] = UnitOutcome::Recent,
            _ => {}
        }
        start = index;
    }
    if start > choice.start {
        let begin = aligned(conversation, start);
        for index in start..begin {
            if choice.outcomes[index] == UnitOutcome::Recent {
                choice.outcomes[index] = UnitOutcome::Removed;
                choice.large.release(units, index, room);
            }
        }
        choice.start = begin;
    }
}

/// If the result would start with a message of the model, the host may insert a note. Removes the first
/// units until the note fits or is not needed.
fn shorten_for_the_note(
    units: &[Unit],
    situation: &Situation,
    choice: &mut Choice,
    room: &mut FreeBudget,
) {
    for (index, unit) in units.iter().enumerate() {
        if choice.outcomes[index] == UnitOutcome::Removed || unit.kind == UnitKind::Instructions {
            continue;
        }
        let fits = opening_note(situation, Some(unit)) <= room.tokens();
        if fits || choice.outcomes[index] == UnitOutcome::Protected {
            return;
        }
        choice.outcomes[index] = UnitOutcome::Removed;
        choice.large.release(units, index, room);
    }
}
