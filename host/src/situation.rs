//! One compaction to be done: the conversation, what must stay of it, and what to reach.

use std::sync::OnceLock;

use baler_conversation::provider::Binding;
use baler_conversation::{Conversation, Deadline, Unit, UnitKind};

use crate::fault::Quantity;
use crate::model::Spending;
use crate::once::OncePerUnit;
use crate::reference::reference;
use crate::request::{Budget, MIN_UNPROTECTED_TOKENS, Request, ThinkingPolicy};
use crate::shortening::{self, Unseen, UnseenBudget};
use crate::unit_status::{UnitStatus, unit_statuses};

/// A request for one conversation, worked out.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) conversation: Conversation,
    pub(crate) request: Request,
    /// What is known of each unit in this situation.
    pub(crate) statuses: Vec<UnitStatus>,
    /// Tokens that the result should fit in.
    pub(crate) budget: u32,
    /// Tokens of the smallest result that there can be, each shortened output counted as its cap.
    pub(crate) floor: u32,
    /// The same in bytes.
    pub(crate) floor_bytes: usize,
    /// The most bytes that the result may have.
    pub(crate) max_bytes: usize,
    /// The most pictures, documents and the like that the result may have.
    pub(crate) max_media: u32,
    /// What cannot be reached, since what must stay is larger.
    pub(crate) below_floor: Vec<Quantity>,
    /// Tokens that a mark and a message add to an inserted text.
    pub(crate) insertion_overhead: u32,
    /// Tokens of the host's own note where a result may not begin with a step; else 0.
    pub(crate) opening_note: u32,
    /// The first unit that does not belong to a finished turn, once somebody asked.
    unfinished: OnceLock<usize>,
    /// Whether a plan may leave out the thinking of each unit, once somebody asked.
    loses_thinking: OncePerUnit<bool>,
    references: OncePerUnit<Option<String>>,
    /// Whether what leaves can be had back, so that references mean something.
    pub(crate) archived: bool,
    /// What was asked of models so far.
    pub(crate) spending: Spending,
    /// Number of messages up to the model's last one.
    answered: usize,
    /// The outputs that the model has not seen, and how far they are shortened.
    pub(crate) unseen: Unseen,
}

impl Situation {
    /// Tokens that the mark of the strategy called `name`, and a message of its own, add to an
    /// inserted text.
    pub(crate) fn insertion_overhead_for(&self, name: &str) -> u32 {
        let own = self.conversation.insertion_tokens(name);
        self.insertion_overhead.max(own)
    }

    pub(crate) fn new(conversation: &Conversation, request: &Request, archived: bool) -> Self {
        let statuses = unit_statuses(conversation, request);
        let unseen = Unseen::of(conversation, &request.policy, &statuses);
        let marks = conversation.mark_tokens();
        let budget = request.budget.tokens_of(conversation);
        let (max_bytes, max_media) = request.limits(conversation.format());
        let mut situation = Self {
            max_bytes,
            max_media,
            below_floor: Vec::new(),
            insertion_overhead: marks.insertion,
            conversation: conversation.clone(),
            request: request.clone(),
            statuses,
            budget,
            floor: 0,
            floor_bytes: 0,
            opening_note: marks.opening_note,
            unfinished: OnceLock::new(),
            loses_thinking: OncePerUnit::new(conversation.units().len()),
            references: OncePerUnit::new(conversation.units().len()),
            archived,
            spending: Spending::default(),
            answered: conversation.answered(),
            unseen,
        };
        situation.find_floor();
        situation.share_with_unseen();
        situation
    }

    /// What remains where nothing but what must stay does, in its shortest form.
    fn find_floor(&mut self) {
        let protected: Vec<bool> = self.protected().collect();
        self.floor = self.tokens_under(shortening::LEAST_TOKENS, &protected, None);
        if let Budget::Share(_) = self.request.budget {
            self.budget = self.budget.max(self.least());
        }
        let media = self.sum_of_protected(|_, unit| unit.media as usize);
        let bytes = around_units(&self.conversation)
            + self.sum_of_protected(|index, unit| {
                unit.bytes - self.unseen.saved(index, shortening::LEAST_TOKENS).1
            });
        self.floor_bytes = bytes;
        let is_below = [
            (Quantity::Tokens, self.budget < self.floor),
            (Quantity::Bytes, self.max_bytes < bytes),
            (Quantity::Media, (self.max_media as usize) < media),
        ];
        self.below_floor = is_below
            .into_iter()
            .filter_map(|(what, is_below)| is_below.then_some(what))
            .collect();
    }

    /// Tokens of what has to stay, and of something that can stand for what leaves.
    pub(crate) fn least(&self) -> u32 {
        let others = self.conversation.tokens().saturating_sub(self.floor);
        self.floor
            .saturating_add(MIN_UNPROTECTED_TOKENS.min(others / 2))
    }

    /// Shortens unseen outputs where they and what else must stay do not fit, or leave next to nothing
    /// for other units and what stands for them: as little as that takes.
    fn share_with_unseen(&mut self) {
        if self.unseen.outputs().is_empty() {
            return;
        }
        let protected: Vec<bool> = self.protected().collect();
        let all = self.tokens_of_units(&protected, None);
        let bytes = around_units(&self.conversation) + self.sum_of_protected(|_, unit| unit.bytes);
        let target = self.target();
        if self.conversation.tokens() <= target && bytes <= self.max_bytes {
            return;
        }
        let others = self.conversation.tokens().saturating_sub(all);
        let free = target - self.floor;
        let fit = all <= target && bytes <= self.max_bytes;
        let free = free.saturating_sub(shortening::share_of_others(free, others, fit));
        let shortest = self.unseen.tokens_at(shortening::LEAST_TOKENS);
        let bytes_beside = bytes.saturating_sub(to_usize(self.unseen.bytes_at(u32::MAX)));
        let cap = self.unseen.cap_for(UnseenBudget {
            tokens: shortest + u64::from(free),
            bytes: self.max_bytes.saturating_sub(bytes_beside) as u64,
        });
        self.unseen.set_cap(cap);
    }

    fn sum_of_protected(&self, size: impl Fn(usize, &Unit) -> usize) -> usize {
        let units = self.units().iter().enumerate().zip(&self.statuses);
        units
            .filter(|(_, status)| status.protected)
            .map(|((index, unit), _)| size(index, unit))
            .sum()
    }

    /// Tokens that a unit costs as the host will write it: less than it has where unseen outputs in
    /// it are shortened.
    pub(crate) fn tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(self.unseen.cap(), unit)
    }

    /// The same of its shortest legal form.
    pub(crate) fn shortest_tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(shortening::LEAST_TOKENS, unit)
    }

    /// The same in bytes of the wire format.
    pub(crate) fn bytes_of(&self, unit: usize) -> usize {
        let saved = self.unseen.saved(unit, self.unseen.cap()).1;
        self.units()
            .get(unit)
            .map_or(0, |own| own.bytes.saturating_sub(saved))
    }

    fn tokens_at(&self, cap: u32, unit: usize) -> u32 {
        let saved = self.unseen.saved(unit, cap).0;
        self.units()
            .get(unit)
            .map_or(0, |own| own.tokens.saturating_sub(saved))
    }

    /// Whether the conversation as a whole fits once its unseen outputs are shortened.
    pub(crate) fn fits_shortened(&self) -> bool {
        let bytes: usize = (0..self.units().len())
            .map(|unit| self.bytes_of(unit))
            .sum();
        self.unseen.is_shortened()
            && !self.are_too_many(&vec![true; self.units().len()])
            && bytes <= self.max_bytes_of_units()
            && self.conversation.media() <= self.max_media
    }

    /// The reference under which a unit will be in the archive, if there is one.
    pub(crate) fn reference(&self, unit: usize) -> Option<String> {
        if !self.archived {
            return None;
        }
        // It is asked for each output of a unit, and is of all of the unit.
        let reference = || reference(&self.conversation, unit);
        self.references.get(unit, reference).cloned().flatten()
    }

    /// Whether the compaction has to end.
    pub(crate) fn is_over(&self) -> bool {
        self.request
            .deadline
            .as_ref()
            .is_some_and(Deadline::is_over)
    }

    pub(crate) fn units(&self) -> &[Unit] {
        self.conversation.units()
    }

    /// Whether a plan may leave the thinking of a unit out. Providers want that of the turn that
    /// goes on, and models that bind thinking to what came before it take no gap in it.
    pub(crate) fn may_lose_thinking(&self, unit: usize) -> bool {
        self.loses_thinking
            .get(unit, || self.find_whether_it_may_lose_thinking(unit))
            .is_some_and(|may| *may)
    }

    fn find_whether_it_may_lose_thinking(&self, unit: usize) -> bool {
        let is_allowed = match self.request.policy.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Auto | ThinkingPolicy::Drop => true,
        };
        is_allowed
            && !self.is_protected(unit)
            && self.conversation.envelope().binding == Binding::No
            && unit
                < *self
                    .unfinished
                    .get_or_init(|| unfinished(&self.conversation))
            && self
                .conversation
                .messages(unit)
                .iter()
                .all(|message| message.thinking().is_empty() || message.can_lose_thinking())
    }

    /// Whether what a message of a unit answers has not been seen by the model.
    pub(crate) fn is_unseen(&self, unit: usize, message: usize) -> bool {
        let unit = self
            .statuses
            .get(unit)
            .filter(|own| own.unseen)
            .and(self.units().get(unit));
        unit.is_some_and(|unit| unit.first_message + message >= self.answered)
    }

    pub(crate) fn is_protected(&self, unit: usize) -> bool {
        self.statuses
            .get(unit)
            .is_some_and(|status| status.protected)
    }

    /// Whether the caller named a unit as one that stays as it is.
    pub(crate) fn stays_whole(&self, unit: usize) -> bool {
        self.statuses.get(unit).is_some_and(|status| status.whole)
    }

    /// Whether each unit has to stay.
    pub(crate) fn protected(&self) -> impl Iterator<Item = bool> {
        self.statuses.iter().map(|status| status.protected)
    }

    /// The most bytes that the units of the result may have.
    pub(crate) fn max_bytes_of_units(&self) -> usize {
        self.max_bytes
            .saturating_sub(around_units(&self.conversation))
    }

    /// What has to be reached: the budget, or the floor where the budget is below that.
    pub(crate) fn target(&self) -> u32 {
        self.budget.max(self.floor)
    }

    /// Tokens that are left beside these units and the host's own notes between them.
    pub(crate) fn left_beside(&self, kept: &[bool]) -> u32 {
        self.target()
            .saturating_sub(self.tokens_of_units(kept, None))
    }

    /// Tokens that are left beside these units and the host's own notes between them, for a text
    /// in the place of the first unit that is not kept; none where they are too many by
    /// themselves.
    pub(crate) fn left_for_text(&self, kept: &[bool]) -> Option<u32> {
        let text = kept.iter().position(|kept| !kept);
        self.target().checked_sub(self.tokens_of_units(kept, text))
    }

    /// Whether these units and the host's own notes between them have more tokens than they may.
    pub(crate) fn are_too_many(&self, kept: &[bool]) -> bool {
        self.tokens_of_units(kept, None) > self.target()
    }

    /// Tokens of these units, of what stands beside the messages, and of the host's own notes,
    /// which [`notes`] counts.
    fn tokens_of_units(&self, kept: &[bool], text: Option<usize>) -> u32 {
        self.tokens_under(self.unseen.cap(), kept, text)
    }

    fn tokens_under(&self, cap: u32, kept: &[bool], text: Option<usize>) -> u32 {
        let conversation = &self.conversation;
        let notes = notes(conversation, kept, text);
        let units = conversation.units().iter().zip(kept).enumerate();
        units
            .filter(|(_, (unit, kept))| **kept && unit.kind != UnitKind::Instructions)
            .fold(conversation.overhead(), |sum, (index, _)| {
                sum.saturating_add(self.tokens_at(cap, index))
            })
            .saturating_add(notes.saturating_mul(conversation.mark_tokens().opening_note))
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The first unit behind the newest answer that ended a turn: one without calls, with words of the
/// user's behind it.
fn unfinished(conversation: &Conversation) -> usize {
    let units = conversation.units();
    let is_answer =
        |unit: usize| units[unit].kind == UnitKind::Step && !conversation.has_calls(unit);
    (1..units.len())
        .rev()
        .find(|unit| units[*unit].kind == UnitKind::User && is_answer(*unit - 1))
        .unwrap_or(0)
}

/// Bytes of a document beside its units.
fn around_units(conversation: &Conversation) -> usize {
    let units: usize = conversation.units().iter().map(|unit| unit.bytes).sum();
    conversation.bytes().saturating_sub(units)
}

/// How many notes of the host's own a result of these units would need. Where a text stands, in
/// front of the unit `text`, which is left out, none is needed.
fn notes(conversation: &Conversation, kept: &[bool], text: Option<usize>) -> u32 {
    let mut before = None;
    // Instructions that are written in front of what the model says next.
    let mut has_waiting = false;
    let mut notes = 0;
    for (unit, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
        if conversation.is_movable(unit) {
            has_waiting = true;
            continue;
        }
        let is_behind_text =
            text.is_some_and(|text| text < unit && before.is_none_or(|before| before < text));
        notes += u32::from(!is_behind_text && conversation.needs_note(before, unit, has_waiting));
        has_waiting &= !conversation.begins_with_model(unit);
        before = Some(unit);
    }
    let ends_with_text = text.is_some_and(|text| before.is_none_or(|before| before < text));
    let has_place = before.is_some_and(|before| conversation.takes_instructions_behind(before));
    notes + u32::from(has_waiting && !ends_with_text && !has_place)
}
