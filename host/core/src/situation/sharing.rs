//! Shares the free budget between the user's words, other texts that must stay, and the rest (docs/shares.md).

use baler_conversation::{Conversation, UnitKind};

use super::must_stay::{MustStay, around_units, newest_user_message};
use super::size::{Size, to_usize};
use crate::once::OncePerUnit;
use crate::request::Request;
use crate::text_limits::{self, FIRST_MESSAGE_PERCENT, LEAST_TOKENS, Shortening, TextBudget};
use crate::users_words::{self, Words};

/// A conversation, a request for it, and the most that the result may have.
#[derive(Clone, Copy)]
pub(super) struct Sharing<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) request: &'a Request,
    pub(super) limits: Size,
}

/// What must stay with the user's words that fit their share.
pub(super) struct WithWords {
    pub(super) stay: MustStay,
    /// Tokens of the user's share that the user's words have left above their shortest forms.
    left: u32,
}

impl Sharing<'_> {
    /// Protects the user's words, the newest first, as long as they fit the user's share of the free budget in their shortest
    /// form. Words that do not fit are passed over. All stay whole if that fits, too.
    pub(super) fn with_users_words(
        self,
        stay: MustStay,
        words: &OncePerUnit<Option<Words>>,
    ) -> WithWords {
        let percent = self.request.policy.user_percent.min(100);
        let of_words = if percent == 0 {
            FIRST_MESSAGE_PERCENT
        } else {
            percent
        };
        let share = self.limits.beside(stay.floor).percent(of_words);
        if percent == 0
            || self.limits.admits(Size::of(self.conversation))
            || !self.limits.admits(stay.floor)
        {
            let left = share.tokens;
            return WithWords { stay, left };
        }
        let mut left = share;
        let chosen = self.words_within(&mut left, &stay, words);
        let with = |units: &[usize]| stay.with_words(self.conversation, self.request, units);
        let mut stay_with = with(&chosen);
        // A step may need an answer of the model's behind it, and any unit notes beside it, for which there may be no room. Then
        // the surest and newest stay.
        if !self.limits.admits(stay_with.floor) {
            let units = self.conversation.units();
            let mut messages = chosen.clone();
            messages.retain(|unit| units[*unit].kind == UnitKind::User);
            let most = |units: &[usize]| {
                most_of(units.len(), |count| {
                    self.limits.admits(with(&units[..count]).floor)
                })
            };
            let (of_all, of_messages) = (most(&chosen), most(&messages));
            stay_with = if of_all < of_messages {
                with(&messages[..of_messages])
            } else {
                with(&chosen[..of_all])
            };
        }
        if stay_with.shortening.tokens_of_words() <= u64::from(left.tokens) {
            stay_with = stay_with.with_whole_words(self.conversation);
        }
        WithWords {
            stay: stay_with,
            left: left.tokens,
        }
    }

    /// Returns the units that hold words of the user and are not protected, of each kind of words the newest first, as
    /// long as they fit `left` in their shortest form; takes them from it.
    fn words_within(
        self,
        left: &mut Size,
        stay: &MustStay,
        words: &OncePerUnit<Option<Words>>,
    ) -> Vec<usize> {
        let conversation = self.conversation;
        let said = |unit: usize| {
            let words = words.get(unit, || users_words::in_unit(conversation, unit));
            Some((words.copied().flatten()?, unit))
        };
        let mut candidates: Vec<(Words, usize)> = (0..conversation.units().len())
            .rev()
            .filter(|unit| !stay.is_protected(*unit))
            .filter_map(said)
            .collect();
        candidates.sort_by_key(|(words, _)| *words);
        let mut statuses = stay.statuses.clone();
        for (_, unit) in &candidates {
            statuses[*unit].for_words = true;
        }
        let shortening = Shortening::of(conversation, &self.request.policy, &statuses);
        let mut chosen = Vec::with_capacity(candidates.len());
        for (_, unit) in candidates {
            let own = &conversation.units()[unit];
            let (tokens, bytes) = shortening.saved(unit, LEAST_TOKENS);
            let shortest = Size {
                tokens: own.tokens.saturating_sub(tokens),
                bytes: own.bytes.saturating_sub(bytes),
                media: own.media,
            };
            if let Some(rest) = left.without(shortest) {
                *left = rest;
                chosen.push(unit);
            }
        }
        chosen
    }

    /// Shortens texts that must stay if protected units do not fit otherwise, or leave too little for other
    /// units and a summary. Shortens them no more than necessary. `least_floor` are the tokens of the floor without
    /// the user's words that fit their share.
    pub(super) fn shortened(self, with_words: WithWords, least_floor: u32) -> MustStay {
        let WithWords { mut stay, left } = with_words;
        if stay.shortening.texts().is_empty() {
            return stay;
        }
        let conversation = self.conversation;
        let protected: Vec<bool> = stay.protected().collect();
        let all_of = |stay: &MustStay| {
            stay.tokens_under(stay.shortening.cap(), conversation, &protected, None)
        };
        let all = all_of(&stay);
        let bytes =
            around_units(conversation) + stay.sum_of_protected(conversation, |_, unit| unit.bytes);
        let target = self.limits.tokens.max(stay.floor.tokens);
        if conversation.tokens() <= target && bytes <= self.limits.bytes {
            return stay;
        }
        let others = conversation.tokens().saturating_sub(all);
        let other_bytes = bytes.saturating_sub(to_usize(stay.shortening.bytes_at(u32::MAX)));
        let free = target - stay.floor.tokens;
        self.limit_users_words(&mut stay, least_floor, left, [free, others]);
        stay.shortening.limit_outputs_beside_words();
        let fit = all_of(&stay) <= target && bytes <= self.limits.bytes;
        if fit && !stay.shortening.has_unseen() {
            return stay;
        }
        let free = free.saturating_sub(text_limits::share_of_others(free, others, fit));
        let shortest = stay.shortening.tokens_at(LEAST_TOKENS);
        let cap = stay.shortening.cap_for(TextBudget {
            tokens: shortest + u64::from(free),
            bytes: self.limits.bytes.saturating_sub(other_bytes) as u64,
        });
        stay.shortening.set_cap(cap);
        stay
    }

    /// Limits the user's words to their share of the `free` budget, so that a long message does not take all of it. `others`
    /// are the tokens of unprotected units.
    fn limit_users_words(
        self,
        stay: &mut MustStay,
        least_floor: u32,
        left: u32,
        [free, others]: [u32; 2],
    ) {
        let mut units = stay.shortening.users_units();
        let newest = newest_user_message(self.conversation);
        if let Some(newest) = newest.filter(|newest| units.contains(newest)) {
            units.retain(|unit| *unit != newest);
            let work = stay.unprotected_tokens_after(self.conversation, newest);
            let words = stay.floor.tokens.saturating_sub(least_floor);
            let share = text_limits::share_of_newest_message(free, others, work, words);
            stay.shortening.limit_words(&[newest], share);
        }
        let share = text_limits::share_of_words(free, others, left);
        stay.shortening.limit_words(&units, share);
    }
}

/// Returns the largest count up to `all` that `fits`, where no count fits after one that does not; 0 if none does.
fn most_of(all: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut most, mut over) = (0, all + 1);
    while over - most > 1 {
        let middle = most + (over - most) / 2;
        if fits(middle) {
            most = middle;
        } else {
            over = middle;
        }
    }
    most
}
