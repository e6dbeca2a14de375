//! What must stay of a conversation under a request, and the size of the smallest result.

use baler_conversation::{Conversation, Unit, UnitKind};

use super::notes::{count_notes, note_bytes};
use super::size::Size;
use crate::request::{MIN_UNPROTECTED_TOKENS, Request};
use crate::text_limits::{LEAST_TOKENS, Shortening};
use crate::unit_status::{UnitStatus, protect_for_words, unit_statuses};
use crate::users_words;

/// The units that must stay, and the texts of them that may be shortened.
#[derive(Debug, Clone)]
pub(crate) struct MustStay {
    /// Status of each unit.
    pub(crate) statuses: Vec<UnitStatus>,
    /// The texts that must stay but may be shortened, and how far they are shortened.
    pub(crate) shortening: Shortening,
    /// Size of the smallest possible result, with each text that may be shortened counted as its shortest form.
    pub(crate) floor: Size,
}

impl MustStay {
    /// Returns what must stay under any budget.
    pub(crate) fn of(conversation: &Conversation, request: &Request) -> Self {
        let statuses = unit_statuses(conversation, request);
        Self::under(conversation, request, statuses)
    }

    /// Returns the same with `units`, which stay for the user's words in them.
    pub(super) fn with_words(
        &self,
        conversation: &Conversation,
        request: &Request,
        units: &[usize],
    ) -> Self {
        let mut statuses = self.statuses.clone();
        protect_for_words(conversation, request, &mut statuses, units);
        Self::under(conversation, request, statuses)
    }

    fn under(conversation: &Conversation, request: &Request, statuses: Vec<UnitStatus>) -> Self {
        let shortening = Shortening::of(conversation, &request.policy, &statuses);
        Self::shortened_by(conversation, statuses, shortening)
    }

    /// Returns the same, with the user's words whole under any cap.
    pub(super) fn with_whole_words(self, conversation: &Conversation) -> Self {
        let mut shortening = self.shortening;
        shortening.leave_words_whole();
        Self::shortened_by(conversation, self.statuses, shortening)
    }

    fn shortened_by(
        conversation: &Conversation,
        statuses: Vec<UnitStatus>,
        shortening: Shortening,
    ) -> Self {
        let mut own = Self {
            statuses,
            shortening,
            floor: Size {
                tokens: 0,
                bytes: 0,
                media: 0,
            },
        };
        let protected: Vec<bool> = own.protected().collect();
        own.floor = Size {
            tokens: own.tokens_under(LEAST_TOKENS, conversation, &protected, None),
            bytes: around_units(conversation)
                + note_bytes(conversation, &protected)
                + own.sum_of_protected(conversation, |index, unit| {
                    unit.bytes - own.shortening.saved(index, LEAST_TOKENS).1
                }),
            media: u32::try_from(own.sum_of_protected(conversation, |_, unit| unit.media as usize))
                .unwrap_or(u32::MAX),
        };
        own
    }

    /// Returns the smallest budget in tokens that leaves space for text about removed units.
    pub(crate) fn least_budget(&self, conversation: &Conversation) -> u32 {
        let floor = self.comfortable_floor(conversation);
        let others = conversation.tokens().saturating_sub(floor);
        floor.saturating_add(MIN_UNPROTECTED_TOKENS.min(others / 2))
    }

    /// Returns the tokens of the smallest result in which the newest user message stays whole, if no work
    /// follows it. A budget that the host chooses itself is not below that.
    pub(crate) fn comfortable_floor(&self, conversation: &Conversation) -> u32 {
        let newest = newest_user_message(conversation)
            .filter(|unit| self.unprotected_tokens_after(conversation, *unit) == 0);
        let saved = newest.map_or(0, |unit| self.shortening.saved(unit, LEAST_TOKENS).0);
        self.floor.tokens.saturating_add(saved)
    }

    pub(super) fn unprotected_tokens_after(&self, conversation: &Conversation, unit: usize) -> u32 {
        let units = conversation.units().iter().zip(&self.statuses);
        units
            .skip(unit + 1)
            .filter(|(_, status)| !status.protected)
            .fold(0, |sum, (unit, _)| sum.saturating_add(unit.tokens))
    }

    pub(super) fn sum_of_protected(
        &self,
        conversation: &Conversation,
        size: impl Fn(usize, &Unit) -> usize,
    ) -> usize {
        let units = conversation.units().iter().enumerate();
        units
            .zip(&self.statuses)
            .filter(|(_, status)| status.protected)
            .map(|((index, unit), _)| size(index, unit))
            .sum()
    }

    /// Returns whether a unit must not be removed.
    pub(super) fn is_protected(&self, unit: usize) -> bool {
        self.statuses
            .get(unit)
            .is_some_and(|status| status.protected)
    }

    /// Returns for each unit whether it must not be removed.
    pub(super) fn protected(&self) -> impl Iterator<Item = bool> {
        self.statuses.iter().map(|status| status.protected)
    }

    /// Returns the tokens of the `kept` units with texts shortened to `cap`, of the overhead, and of the host's
    /// notes ([`count_notes`]). A text that a strategy inserts before the removed unit `text` is not counted.
    pub(super) fn tokens_under(
        &self,
        cap: u32,
        conversation: &Conversation,
        kept: &[bool],
        text: Option<usize>,
    ) -> u32 {
        let notes = count_notes(conversation, kept, text);
        let units = conversation.units().iter().zip(kept).enumerate();
        units
            .filter(|(_, (unit, kept))| **kept && unit.kind != UnitKind::Instructions)
            .fold(conversation.overhead(), |sum, (index, (unit, _))| {
                let tokens = unit
                    .tokens
                    .saturating_sub(self.shortening.saved(index, cap).0);
                sum.saturating_add(tokens)
            })
            .saturating_add(notes.saturating_mul(conversation.mark_tokens().opening_note))
    }
}

/// Returns the newest unit in which the user says something.
pub(super) fn newest_user_message(conversation: &Conversation) -> Option<usize> {
    let mut units = conversation.units().iter();
    users_words::newest(conversation).or_else(|| units.rposition(|unit| unit.traits.user_text))
}

/// Returns the bytes of a document outside its units.
pub(super) fn around_units(conversation: &Conversation) -> usize {
    let units: usize = conversation.units().iter().map(|unit| unit.bytes).sum();
    conversation.bytes().saturating_sub(units)
}
