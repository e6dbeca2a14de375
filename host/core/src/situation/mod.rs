//! The input of one compaction: conversation, request, and what follows from both: limits, and what must stay.

mod must_stay;
mod notes;
mod sharing;
mod size;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use baler_conversation::message::{Message, Part};
use baler_conversation::provider::Binding;
use baler_conversation::{Conversation, Deadline, Role, Unit, UnitKind};

pub(crate) use must_stay::MustStay;

use crate::fault::{Fault, Quantity};
use crate::model::Spending;
use crate::once::OncePerUnit;
use crate::request::{Budget, Request, ThinkingPolicy};
use crate::text_limits::LEAST_TOKENS;
use crate::thinking::holds_more_than_thinking;
use crate::users_words::{self, Words};
use baler_archive::reference;
use must_stay::around_units;
use notes::{count_notes, note_bytes};
use sharing::Sharing;
use size::Size;

/// A request for one conversation, with everything that is computed from both.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) conversation: Conversation,
    pub(crate) request: Request,
    /// The size that the result should fit in. A limit can be below the floor of what must stay.
    pub(crate) limits: Size,
    /// What must stay under these limits.
    pub(crate) stay: MustStay,
    /// Whether an archive stores removed content, so that references are valid.
    pub(crate) archived: bool,
    /// Usage of models so far.
    pub(crate) spending: Spending,
    on_demand: OnDemand,
}

/// What is computed at the first question.
#[derive(Debug)]
struct OnDemand {
    /// Number of messages up to the model's last answer.
    answered: OnceLock<usize>,
    /// The first unit that does not belong to a finished turn.
    first_unfinished: OnceLock<usize>,
    /// Whether a plan may remove the thinking of each unit.
    thinking_is_removable: OncePerUnit<bool>,
    /// How the user said something in each unit.
    words: OncePerUnit<Option<Words>>,
    /// Archive reference of each unit.
    references: OncePerUnit<Option<String>>,
}

impl OnDemand {
    fn of(units: usize) -> Self {
        Self {
            answered: OnceLock::new(),
            first_unfinished: OnceLock::new(),
            thinking_is_removable: OncePerUnit::new(units),
            words: OncePerUnit::new(units),
            references: OncePerUnit::new(units),
        }
    }
}

impl Situation {
    pub(crate) fn new(conversation: &Conversation, request: &Request, archived: bool) -> Self {
        let on_demand = OnDemand::of(conversation.units().len());
        let always = MustStay::of(conversation, request);
        let least_floor = always.floor.tokens;
        let sharing = Sharing {
            conversation,
            request,
            limits: limits(conversation, request, &always),
        };
        let with_words = sharing.with_users_words(always, &on_demand.words);
        Self {
            limits: sharing.limits,
            stay: sharing.shortened(with_words, least_floor),
            conversation: conversation.clone(),
            request: request.clone(),
            archived,
            spending: Spending::default(),
            on_demand,
        }
    }

    /// Returns the limits that protected units alone exceed. The result is then the smallest legal one.
    pub(crate) fn below_floor(&self) -> impl Iterator<Item = Quantity> {
        self.limits.is_below(self.stay.floor)
    }

    /// Returns whether the result can be within all limits.
    pub(crate) fn is_below_floor(&self) -> bool {
        !self.limits.admits(self.stay.floor)
    }

    /// Returns the tokens of the host's note if the wire format forbids that a result begins with a step; 0 otherwise.
    pub(crate) fn opening_note(&self) -> u32 {
        self.conversation.mark_tokens().opening_note
    }

    /// Returns the limits that a result exceeds, with `tokens` as the limit of its tokens.
    pub(crate) fn exceeded_by(
        &self,
        result: &Conversation,
        tokens: u32,
    ) -> impl Iterator<Item = Fault> {
        let limits = self.limits;
        let sizes = [
            (
                Quantity::Tokens,
                u64::from(result.tokens()),
                u64::from(tokens),
            ),
            (Quantity::Bytes, result.bytes() as u64, limits.bytes as u64),
            (
                Quantity::Media,
                u64::from(result.media()),
                u64::from(limits.media),
            ),
        ];
        let exceeded = sizes
            .into_iter()
            .filter(|(_, result, limit)| result > limit);
        exceeded.map(|(what, result, limit)| Fault::OverBudget {
            what,
            result,
            limit,
        })
    }

    /// Returns whether a result cannot be below a limit, because protected units alone exceed it in bytes or media.
    pub(crate) fn is_unreachable(&self, fault: &Fault) -> bool {
        matches!(fault, Fault::OverBudget { what, .. }
            if *what != Quantity::Tokens && self.below_floor().any(|below| below == *what))
    }

    /// Returns the tokens that a mark and a separate message add to an inserted text.
    pub(crate) fn insertion_overhead(&self) -> u32 {
        self.conversation.mark_tokens().insertion
    }

    /// Returns the tokens that the mark of the strategy called `name` and a separate message add to an
    /// inserted text.
    ///
    /// In a format whose user's messages may not follow one another, the host's notes on both sides of the
    /// message are included.
    pub(crate) fn insertion_overhead_for(&self, name: &str) -> u32 {
        let own = self.conversation.insertion_tokens(name);
        let own = self.insertion_overhead().max(own);
        if self.conversation.format().parts_users() {
            own.saturating_add(self.opening_note().saturating_mul(2))
        } else {
            own
        }
    }

    /// Returns the tokens that a strategy has to count beside the units it keeps: the overhead and, in a format
    /// whose user's messages may not follow one another, the host's notes between protected units, of which
    /// strategies know nothing.
    pub(crate) fn overhead_for_strategies(&self) -> u32 {
        let overhead = self.conversation.overhead();
        if !self.conversation.format().parts_users() {
            return overhead;
        }
        let protected: Vec<bool> = self.protected().collect();
        let notes = count_notes(&self.conversation, &protected, None);
        overhead.saturating_add(notes.saturating_mul(self.opening_note()))
    }

    /// Returns how the user said something in a unit; `None` if nothing.
    pub(crate) fn words_in(&self, unit: usize) -> Option<Words> {
        let words = || users_words::in_unit(&self.conversation, unit);
        self.on_demand.words.get(unit, words).copied().flatten()
    }

    /// Returns whether the whole conversation is within all limits.
    pub(crate) fn fits(&self) -> bool {
        self.limits.admits(Size::of(&self.conversation))
    }

    /// Returns the tokens that a strategy has to count for a unit: as the host will write it, with its long texts
    /// shortened, and with the host's note that it may need.
    pub(crate) fn tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(self.stay.shortening.cap(), unit)
            .saturating_add(self.note_before(unit))
    }

    /// Returns the same for the shortest legal form of a unit.
    pub(crate) fn shortest_tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(LEAST_TOKENS, unit)
            .saturating_add(self.note_before(unit))
    }

    /// Returns the tokens of the host's note before a unit, if its format does not let the user's messages follow one
    /// another. The overhead has those between protected units ([`Situation::overhead_for_strategies`]). It is counted
    /// whether the unit before stays or not: strategies cannot know, and over the budget their plan would be a fault.
    fn note_before(&self, unit: usize) -> u32 {
        let conversation = &self.conversation;
        let may_need_one = conversation.format().parts_users()
            && !self.stay.is_protected(unit)
            && conversation.first_role(unit) == Some(Role::User);
        match may_need_one {
            true => self.opening_note(),
            false => 0,
        }
    }

    /// Returns the bytes of a unit in the wire format, as the host will write it.
    pub(crate) fn bytes_of(&self, unit: usize) -> usize {
        let saved = self
            .stay
            .shortening
            .saved(unit, self.stay.shortening.cap())
            .1;
        self.units()
            .get(unit)
            .map_or(0, |own| own.bytes.saturating_sub(saved))
    }

    fn tokens_at(&self, cap: u32, unit: usize) -> u32 {
        let saved = self.stay.shortening.saved(unit, cap).0;
        self.units()
            .get(unit)
            .map_or(0, |own| own.tokens.saturating_sub(saved))
    }

    /// Returns whether the whole conversation fits because texts that must stay are shortened.
    pub(crate) fn fits_shortened(&self) -> bool {
        let bytes: usize = (0..self.units().len())
            .map(|unit| self.bytes_of(unit))
            .sum();
        self.stay.shortening.is_shortened()
            && !self.exceeds_target(&vec![true; self.units().len()])
            && bytes <= self.max_bytes_of_units()
            && self.conversation.media() <= self.limits.media
    }

    /// Returns the archive reference of a unit; `None` without an archive.
    pub(crate) fn reference(&self, unit: usize) -> Option<String> {
        if !self.archived {
            return None;
        }
        // Called for each output of a unit, but computed over the whole unit.
        let reference = || reference(&self.conversation, unit);
        self.on_demand
            .references
            .get(unit, reference)
            .cloned()
            .flatten()
    }

    /// Returns whether the deadline of the request has passed.
    pub(crate) fn is_over(&self) -> bool {
        self.request
            .deadline
            .as_ref()
            .is_some_and(Deadline::is_over)
    }

    pub(crate) fn units(&self) -> &[Unit] {
        self.conversation.units()
    }

    /// Returns whether a plan may remove the thinking of a unit. Providers require the thinking of an
    /// unfinished turn, and models that bind thinking to earlier content accept no gap in it.
    pub(crate) fn may_remove_thinking(&self, unit: usize) -> bool {
        self.on_demand
            .thinking_is_removable
            .get(unit, || self.compute_may_remove_thinking(unit))
            .is_some_and(|may| *may)
    }

    fn compute_may_remove_thinking(&self, unit: usize) -> bool {
        let is_allowed = match self.request.policy.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Auto | ThinkingPolicy::Drop => true,
        };
        is_allowed
            && !self.is_protected(unit)
            && self.conversation.envelope().binding == Binding::No
            && unit < self.first_unfinished()
            && self.conversation.messages(unit).iter().all(|message| {
                message.thinking().is_empty()
                    || message.can_lose_thinking()
                        && holds_more_than_thinking(&self.conversation, message)
            })
    }

    /// Returns the first unit after the newest finished turn.
    pub(crate) fn first_unfinished(&self) -> usize {
        *self
            .on_demand
            .first_unfinished
            .get_or_init(|| first_unfinished(&self.conversation))
    }

    /// Returns whether the tool outputs of a message of a unit are unseen.
    pub(crate) fn is_unseen(&self, unit: usize, message: usize) -> bool {
        let unit = self
            .stay
            .statuses
            .get(unit)
            .filter(|status| status.unseen)
            .and(self.units().get(unit));
        let answered = || self.conversation.answered();
        unit.is_some_and(|unit| {
            unit.first_message + message >= *self.on_demand.answered.get_or_init(answered)
        })
    }

    /// Returns whether a unit must not be removed.
    pub(crate) fn is_protected(&self, unit: usize) -> bool {
        self.stay.is_protected(unit)
    }

    /// Returns whether a unit must stay byte-identical, because the caller named it.
    pub(crate) fn stays_whole(&self, unit: usize) -> bool {
        self.stay
            .statuses
            .get(unit)
            .is_some_and(|status| status.whole)
    }

    /// Returns whether no plan may edit an output for the sake of the user's words: it is the user's answer, or stands in a
    /// unit that is protected for them, where the host shortens it.
    pub(crate) fn stays_for_words(&self, unit: usize, message: &Message, part: &Part) -> bool {
        let Some(status) = self
            .stay
            .statuses
            .get(unit)
            .filter(|status| status.protected)
        else {
            return false;
        };
        status.for_words
            || (self.request.policy.user_percent > 0
                && users_words::is_answer(&self.conversation, message, part))
    }

    /// Returns for each unit whether it must not be removed.
    pub(crate) fn protected(&self) -> impl Iterator<Item = bool> {
        self.stay.protected()
    }

    /// Returns the maximum bytes of all units of the result together, without the host's notes between protected units, of
    /// which strategies know nothing.
    pub(crate) fn max_bytes_of_units(&self) -> usize {
        let protected: Vec<bool> = self.protected().collect();
        let around = around_units(&self.conversation) + note_bytes(&self.conversation, &protected);
        self.limits.bytes.saturating_sub(around)
    }

    /// Returns the tokens to reach: the budget, or the floor if the budget is below it.
    pub(crate) fn target(&self) -> u32 {
        self.limits.tokens.max(self.stay.floor.tokens)
    }

    /// Returns the tokens that the `kept` units and the host's notes between them leave of the target.
    pub(crate) fn left_without_text(&self, kept: &[bool]) -> u32 {
        self.target()
            .saturating_sub(self.tokens_of_units(kept, None))
    }

    /// Returns the tokens that the `kept` units and the host's notes between them leave for a text in the
    /// place of the first unit that is not kept; `None` if they exceed the target themselves.
    pub(crate) fn left_for_text(&self, kept: &[bool]) -> Option<u32> {
        let text = kept.iter().position(|kept| !kept);
        self.target().checked_sub(self.tokens_of_units(kept, text))
    }

    /// Returns whether the `kept` units and the host's notes between them exceed the target.
    pub(crate) fn exceeds_target(&self, kept: &[bool]) -> bool {
        self.tokens_of_units(kept, None) > self.target()
    }

    /// Returns the tokens of the `kept` units, of the overhead, and of the host's notes ([`count_notes`]). A
    /// text that a strategy inserts before the removed unit `text` is not counted.
    fn tokens_of_units(&self, kept: &[bool], text: Option<usize>) -> u32 {
        let cap = self.stay.shortening.cap();
        self.stay.tokens_under(cap, &self.conversation, kept, text)
    }
}

/// Returns the first unit after the newest finished turn. A finished turn ends with a step without calls that
/// a user message follows.
fn first_unfinished(conversation: &Conversation) -> usize {
    let units = conversation.units();
    let is_answer = |unit: usize| units[unit].kind == UnitKind::Step && !units[unit].traits.calls;
    (1..units.len())
        .rev()
        .find(|unit| units[*unit].kind == UnitKind::User && is_answer(*unit - 1))
        .unwrap_or(0)
}

/// Returns the size that the result should fit in. `always` must stay under any budget: a share of the conversation leaves
/// space for text beside it.
fn limits(conversation: &Conversation, request: &Request, always: &MustStay) -> Size {
    let tokens = request.budget.tokens_of(conversation);
    let (bytes, media) = request.limits(conversation.format());
    Size {
        tokens: match request.budget {
            Budget::Share(_) => tokens.max(always.least_budget(conversation)),
            Budget::Tokens(_) => tokens,
        },
        bytes,
        media,
    }
}
