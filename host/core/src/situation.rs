//! The input of one compaction: conversation, protected units, budget and limits.

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use baler_conversation::message::{Message, Part};
use baler_conversation::provider::Binding;
use baler_conversation::{Conversation, Deadline, Role, Unit, UnitKind};

use crate::fault::Quantity;
use crate::model::Spending;
use crate::once::OncePerUnit;
use crate::plan::holds_more_than_thinking;
use crate::request::{Budget, MIN_UNPROTECTED_TOKENS, Request, ThinkingPolicy};
use crate::shortening::{self, FIRST_MESSAGE_PERCENT, Shortening, TextBudget};
use crate::unit_status::{UnitStatus, protect_for_words, unit_statuses};
use crate::users_words::{self, Words};
use baler_archive::reference;

/// A request for one conversation, with everything that is computed from both.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) conversation: Conversation,
    pub(crate) request: Request,
    /// Status of each unit.
    pub(crate) statuses: Vec<UnitStatus>,
    /// Tokens that the result should fit in.
    pub(crate) budget: u32,
    /// Tokens of the smallest possible result, with each text that may be shortened counted as its shortest form.
    pub(crate) floor: u32,
    /// Tokens of the smallest result under any budget: the floor without the user's words that stay only because they fit
    /// their share of this budget.
    pub(crate) least_floor: u32,
    /// Bytes of the smallest possible result.
    pub(crate) floor_bytes: usize,
    /// Maximum bytes of the result.
    pub(crate) max_bytes: usize,
    /// Maximum number of pictures, documents and the like in the result.
    pub(crate) max_media: u32,
    /// Limits that protected units alone exceed.
    pub(crate) below_floor: Vec<Quantity>,
    /// Tokens that a mark and a separate message add to an inserted text.
    pub(crate) insertion_overhead: u32,
    /// Tokens of the host's note if the wire format forbids that a result begins with a step; 0 otherwise.
    pub(crate) opening_note: u32,
    /// The first unit that does not belong to a finished turn; computed on demand.
    first_unfinished: OnceLock<usize>,
    /// Whether a plan may remove the thinking of each unit; computed on demand.
    thinking_is_removable: OncePerUnit<bool>,
    /// How the user said something in each unit; computed on demand.
    words: OncePerUnit<Option<Words>>,
    /// Archive reference of each unit; computed on demand.
    references: OncePerUnit<Option<String>>,
    /// Whether an archive stores removed content, so that references are valid.
    pub(crate) archived: bool,
    /// Usage of models so far.
    pub(crate) spending: Spending,
    /// Number of messages up to the model's last answer.
    answered: usize,
    /// The texts that must stay but may be shortened, and how far they are shortened.
    pub(crate) shortening: Shortening,
    /// Tokens of the user's share that the user's words have left above their shortest forms.
    left_for_words: u32,
}

/// A size in all dimensions that have a limit.
#[derive(Debug, Clone, Copy)]
struct Size {
    tokens: u32,
    bytes: usize,
    media: u32,
}

impl Size {
    /// Returns this percentage of it, rounded down.
    fn percent(self, percent: u8) -> Self {
        let share = |size: u64| (u128::from(size) * u128::from(percent) / 100) as u64;
        Self {
            tokens: u32::try_from(share(self.tokens.into())).unwrap_or(self.tokens),
            bytes: to_usize(share(self.bytes as u64)),
            media: u32::try_from(share(self.media.into())).unwrap_or(self.media),
        }
    }

    /// Returns what is left of it without `part`; `None` if `part` does not fit.
    fn without(self, part: Self) -> Option<Self> {
        Some(Self {
            tokens: self.tokens.checked_sub(part.tokens)?,
            bytes: self.bytes.checked_sub(part.bytes)?,
            media: self.media.checked_sub(part.media)?,
        })
    }
}

impl Situation {
    /// Returns the tokens that the mark of the strategy called `name` and a separate message add to an
    /// inserted text.
    ///
    /// In a format whose user's messages may not follow one another, the host's notes on both sides of the
    /// message are included.
    pub(crate) fn insertion_overhead_for(&self, name: &str) -> u32 {
        let own = self.conversation.insertion_tokens(name);
        let own = self.insertion_overhead.max(own);
        if self.conversation.format().parts_users() {
            own.saturating_add(self.opening_note.saturating_mul(2))
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
        overhead.saturating_add(notes.saturating_mul(self.opening_note))
    }

    pub(crate) fn new(conversation: &Conversation, request: &Request, archived: bool) -> Self {
        let statuses = unit_statuses(conversation, request);
        let shortening = Shortening::of(conversation, &request.policy, &statuses);
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
            least_floor: 0,
            floor_bytes: 0,
            opening_note: marks.opening_note,
            first_unfinished: OnceLock::new(),
            thinking_is_removable: OncePerUnit::new(conversation.units().len()),
            words: OncePerUnit::new(conversation.units().len()),
            references: OncePerUnit::new(conversation.units().len()),
            archived,
            spending: Spending::default(),
            answered: conversation.answered(),
            shortening,
            left_for_words: 0,
        };
        situation.find_floor();
        situation.least_floor = situation.floor;
        if let Budget::Share(_) = situation.request.budget {
            situation.budget = situation.budget.max(situation.least());
            situation.find_floor();
        }
        situation.protect_users_words();
        situation.share_with_others();
        situation
    }

    /// Computes the size of the protected units in their shortest form, and the limits that they exceed.
    fn find_floor(&mut self) {
        let protected: Vec<bool> = self.protected().collect();
        self.floor = self.tokens_under(shortening::LEAST_TOKENS, &protected, None);
        let media = self.sum_of_protected(|_, unit| unit.media as usize);
        let bytes = around_units(&self.conversation)
            + self.sum_of_protected(|index, unit| {
                unit.bytes - self.shortening.saved(index, shortening::LEAST_TOKENS).1
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

    /// Returns the smallest budget in tokens that leaves space for text about removed units.
    pub(crate) fn least(&self) -> u32 {
        let floor = self.comfortable_floor();
        let others = self.conversation.tokens().saturating_sub(floor);
        floor.saturating_add(MIN_UNPROTECTED_TOKENS.min(others / 2))
    }

    /// Returns the tokens of the smallest result in which the newest user message stays whole, if no work
    /// follows it. A budget that the host chooses itself is not below that.
    pub(crate) fn comfortable_floor(&self) -> u32 {
        let newest = self
            .newest_user_message()
            .filter(|unit| self.unprotected_tokens_after(*unit) == 0);
        let saved = newest.map_or(0, |unit| {
            self.shortening.saved(unit, shortening::LEAST_TOKENS).0
        });
        self.least_floor.saturating_add(saved)
    }

    fn newest_user_message(&self) -> Option<usize> {
        users_words::newest(&self.conversation)
            .or_else(|| self.units().iter().rposition(|unit| unit.traits.user_text))
    }

    /// Protects the user's words, the newest first, as long as they fit the user's share of the free budget in their shortest
    /// form. Words that do not fit are passed over. All stay whole if that fits, too.
    fn protect_users_words(&mut self) {
        let percent = self.request.policy.user_percent.min(100);
        let of_words = if percent == 0 {
            FIRST_MESSAGE_PERCENT
        } else {
            percent
        };
        let share = self.free().percent(of_words);
        self.left_for_words = share.tokens;
        if percent == 0 || self.fits() || !self.below_floor.is_empty() {
            return;
        }
        let mut candidates: Vec<(Words, usize)> = (0..self.units().len())
            .rev()
            .filter(|unit| !self.is_protected(*unit))
            .filter_map(|unit| Some((self.words_in(unit)?, unit)))
            .collect();
        // Of each kind the newest first.
        candidates.sort_by_key(|(words, _)| *words);
        let statuses = self.statuses.clone();
        for (_, unit) in &candidates {
            self.statuses[*unit].for_words = true;
        }
        self.find_texts();
        let mut left = share;
        let mut chosen: Vec<usize> = Vec::with_capacity(candidates.len());
        for (_, unit) in candidates {
            if let Some(rest) = left.without(self.shortest_size_of(unit)) {
                left = rest;
                chosen.push(unit);
            }
        }
        // A step may need an answer of the model's behind it, and any unit notes beside it, for which there may be no room. Then
        // the surest and newest stay.
        if !self.has_room_for(&statuses, &chosen) {
            let is_message = |unit: &usize| self.units()[*unit].kind == UnitKind::User;
            let mut messages = chosen.clone();
            messages.retain(is_message);
            let of_all = self.most_with_room(&statuses, &chosen);
            let of_messages = self.most_with_room(&statuses, &messages);
            let kept = if of_all < of_messages {
                &messages[..of_messages]
            } else {
                &chosen[..of_all]
            };
            self.has_room_for(&statuses, kept);
        }
        self.left_for_words = left.tokens;
        if self.shortening.tokens_of_words() <= u64::from(left.tokens) {
            self.shortening.leave_words_whole();
            self.find_floor();
        }
    }

    /// Returns how many of the first `units` can be protected for the user's words in them.
    fn most_with_room(&mut self, statuses: &[UnitStatus], units: &[usize]) -> usize {
        let (mut fits, mut over) = (0, units.len() + 1);
        while over - fits > 1 {
            let middle = fits + (over - fits) / 2;
            if self.has_room_for(statuses, &units[..middle]) {
                fits = middle;
            } else {
                over = middle;
            }
        }
        fits
    }

    /// Protects `units` for the user's words in them, beside what `statuses` protect. Returns whether the result can still be
    /// within all limits.
    fn has_room_for(&mut self, statuses: &[UnitStatus], units: &[usize]) -> bool {
        self.statuses.clear();
        self.statuses.extend_from_slice(statuses);
        protect_for_words(&self.conversation, &self.request, &mut self.statuses, units);
        self.find_texts();
        self.find_floor();
        self.below_floor.is_empty()
    }

    /// Returns how the user said something in a unit; `None` if nothing.
    pub(crate) fn words_in(&self, unit: usize) -> Option<Words> {
        let words = || users_words::in_unit(&self.conversation, unit);
        self.words.get(unit, words).copied().flatten()
    }

    fn find_texts(&mut self) {
        let policy = &self.request.policy;
        self.shortening = Shortening::of(&self.conversation, policy, &self.statuses);
    }

    /// Returns whether the whole conversation is within all limits.
    pub(crate) fn fits(&self) -> bool {
        self.conversation.tokens() <= self.budget
            && self.conversation.bytes() <= self.max_bytes
            && self.conversation.media() <= self.max_media
    }

    /// Returns what the limits leave beside the smallest possible result.
    fn free(&self) -> Size {
        let media = self.sum_of_protected(|_, unit| unit.media as usize);
        Size {
            tokens: self.target() - self.floor,
            bytes: self.max_bytes.saturating_sub(self.floor_bytes),
            media: self
                .max_media
                .saturating_sub(u32::try_from(media).unwrap_or(u32::MAX)),
        }
    }

    /// Returns the size of the shortest legal form of a unit.
    fn shortest_size_of(&self, unit: usize) -> Size {
        let own = &self.units()[unit];
        let (tokens, bytes) = self.shortening.saved(unit, shortening::LEAST_TOKENS);
        Size {
            tokens: own.tokens.saturating_sub(tokens),
            bytes: own.bytes.saturating_sub(bytes),
            media: own.media,
        }
    }

    /// Shortens texts that must stay if protected units do not fit otherwise, or leave too little for other
    /// units and a summary. Shortens them no more than necessary.
    fn share_with_others(&mut self) {
        if self.shortening.texts().is_empty() {
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
        let other_bytes = bytes.saturating_sub(to_usize(self.shortening.bytes_at(u32::MAX)));
        let free = target - self.floor;
        self.limit_users_words(free, others);
        self.shortening.limit_outputs_beside_words();
        let all = self.tokens_of_units(&protected, None);
        let fit = all <= target && bytes <= self.max_bytes;
        if fit && !self.shortening.has_unseen() {
            return;
        }
        let free = free.saturating_sub(shortening::share_of_others(free, others, fit));
        let shortest = self.shortening.tokens_at(shortening::LEAST_TOKENS);
        let cap = self.shortening.cap_for(TextBudget {
            tokens: shortest + u64::from(free),
            bytes: self.max_bytes.saturating_sub(other_bytes) as u64,
        });
        self.shortening.set_cap(cap);
    }

    /// Limits the user's words to their share of the `free` budget, so that a long message does not take all of it. `others`
    /// are the tokens of unprotected units.
    fn limit_users_words(&mut self, free: u32, others: u32) {
        let newest = self.newest_user_message();
        let mut units = self.shortening.users_units();
        if let Some(newest) = newest.filter(|newest| units.contains(newest)) {
            units.retain(|unit| *unit != newest);
            let work = self.unprotected_tokens_after(newest);
            let words = self.floor.saturating_sub(self.least_floor);
            let share = shortening::share_of_newest_message(free, others, work, words);
            self.shortening.limit_words(&[newest], share);
        }
        let share = shortening::share_of_words(free, others, self.left_for_words);
        self.shortening.limit_words(&units, share);
    }

    fn unprotected_tokens_after(&self, unit: usize) -> u32 {
        let units = self.units().iter().zip(&self.statuses).skip(unit + 1);
        units
            .filter(|(_, status)| !status.protected)
            .fold(0, |sum, (unit, _)| sum.saturating_add(unit.tokens))
    }

    fn sum_of_protected(&self, size: impl Fn(usize, &Unit) -> usize) -> usize {
        let units = self.units().iter().enumerate().zip(&self.statuses);
        units
            .filter(|(_, status)| status.protected)
            .map(|((index, unit), _)| size(index, unit))
            .sum()
    }

    /// Returns the tokens of a unit as the host will write it, with its long texts shortened.
    pub(crate) fn tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(self.shortening.cap(), unit)
    }

    /// Returns the tokens of the shortest legal form of a unit.
    pub(crate) fn shortest_tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(shortening::LEAST_TOKENS, unit)
    }

    /// Returns the bytes of a unit in the wire format, as the host will write it.
    pub(crate) fn bytes_of(&self, unit: usize) -> usize {
        let saved = self.shortening.saved(unit, self.shortening.cap()).1;
        self.units()
            .get(unit)
            .map_or(0, |own| own.bytes.saturating_sub(saved))
    }

    fn tokens_at(&self, cap: u32, unit: usize) -> u32 {
        let saved = self.shortening.saved(unit, cap).0;
        self.units()
            .get(unit)
            .map_or(0, |own| own.tokens.saturating_sub(saved))
    }

    /// Returns whether the whole conversation fits because texts that must stay are shortened.
    pub(crate) fn fits_shortened(&self) -> bool {
        let bytes: usize = (0..self.units().len())
            .map(|unit| self.bytes_of(unit))
            .sum();
        self.shortening.is_shortened()
            && !self.exceeds_target(&vec![true; self.units().len()])
            && bytes <= self.max_bytes_of_units()
            && self.conversation.media() <= self.max_media
    }

    /// Returns the archive reference of a unit; `None` without an archive.
    pub(crate) fn reference(&self, unit: usize) -> Option<String> {
        if !self.archived {
            return None;
        }
        // Called for each output of a unit, but computed over the whole unit.
        let reference = || reference(&self.conversation, unit);
        self.references.get(unit, reference).cloned().flatten()
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
        self.thinking_is_removable
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
            .first_unfinished
            .get_or_init(|| first_unfinished(&self.conversation))
    }

    /// Returns whether the tool outputs of a message of a unit are unseen.
    pub(crate) fn is_unseen(&self, unit: usize, message: usize) -> bool {
        let unit = self
            .statuses
            .get(unit)
            .filter(|status| status.unseen)
            .and(self.units().get(unit));
        unit.is_some_and(|unit| unit.first_message + message >= self.answered)
    }

    /// Returns whether a unit must not be removed.
    pub(crate) fn is_protected(&self, unit: usize) -> bool {
        self.statuses
            .get(unit)
            .is_some_and(|status| status.protected)
    }

    /// Returns whether a unit must stay byte-identical, because the caller named it.
    pub(crate) fn stays_whole(&self, unit: usize) -> bool {
        self.statuses.get(unit).is_some_and(|status| status.whole)
    }

    /// Returns whether no plan may edit an output for the sake of the user's words: it is the user's answer, or stands in a
    /// unit that is protected for them, where the host shortens it.
    pub(crate) fn stays_for_words(&self, unit: usize, message: &Message, part: &Part) -> bool {
        let Some(status) = self.statuses.get(unit).filter(|status| status.protected) else {
            return false;
        };
        status.for_words
            || (self.request.policy.user_percent > 0
                && users_words::is_answer(&self.conversation, message, part))
    }

    /// Returns for each unit whether it must not be removed.
    pub(crate) fn protected(&self) -> impl Iterator<Item = bool> {
        self.statuses.iter().map(|status| status.protected)
    }

    /// Returns the maximum bytes of all units of the result together.
    pub(crate) fn max_bytes_of_units(&self) -> usize {
        self.max_bytes
            .saturating_sub(around_units(&self.conversation))
    }

    /// Returns the tokens to reach: the budget, or the floor if the budget is below it.
    pub(crate) fn target(&self) -> u32 {
        self.budget.max(self.floor)
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
        self.tokens_under(self.shortening.cap(), kept, text)
    }

    fn tokens_under(&self, cap: u32, kept: &[bool], text: Option<usize>) -> u32 {
        let conversation = &self.conversation;
        let notes = count_notes(conversation, kept, text);
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

/// Returns the bytes of a document outside its units.
fn around_units(conversation: &Conversation) -> usize {
    let units: usize = conversation.units().iter().map(|unit| unit.bytes).sum();
    conversation.bytes().saturating_sub(units)
}

/// Returns how many of the host's notes a result of the `kept` units needs. A text of the user's role before the
/// removed unit `text` makes a note there unnecessary, or needs one on either side.
fn count_notes(conversation: &Conversation, kept: &[bool], text: Option<usize>) -> u32 {
    let parts_from_text = |unit: Option<usize>, role: fn(&Conversation, usize) -> Option<Role>| {
        let role = unit.and_then(|unit| role(conversation, unit));
        let note = role.and_then(|role| conversation.parting_role(Role::User, role));
        u32::from(note.is_some())
    };
    let mut before = None;
    // Movable instructions wait until the next message of the model, and are written before it.
    let mut has_waiting = false;
    let mut notes = 0;
    for (unit, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
        if conversation.is_movable(unit) {
            has_waiting = true;
            continue;
        }
        let follows_text =
            text.is_some_and(|text| text < unit && before.is_none_or(|before| before < text));
        notes += if follows_text {
            parts_from_text(before, Conversation::last_role)
                + parts_from_text(Some(unit), Conversation::first_role)
        } else {
            u32::from(conversation.needs_note(before, unit, has_waiting).is_some())
        };
        has_waiting &= !conversation.begins_with_model(unit);
        before = Some(unit);
    }
    let ends_with_text = text.is_some_and(|text| before.is_none_or(|before| before < text));
    if ends_with_text {
        notes += parts_from_text(before, Conversation::last_role);
    }
    let has_place = before.is_some_and(|before| conversation.takes_instructions_behind(before));
    notes + u32::from(has_waiting && !ends_with_text && !has_place)
}
