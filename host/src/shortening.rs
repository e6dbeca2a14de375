//! Computes how far texts that must stay are shortened, and how many tokens that saves: tool outputs that the
//! model has not seen, and user messages that stay only by default.

use std::ops::Range;

use baler_conversation::message::{Content, Role};
use baler_conversation::{Conversation, UnitKind};

use crate::request::{MIN_UNPROTECTED_TOKENS, Policy};
use crate::unit_status::UnitStatus;
use crate::unseen;

/// Lowest cap of a shortened text in tokens, its mark included: enough for its first, its last and some of
/// its error lines or rules. A text with no more tokens is not shortened.
pub(crate) const LEAST_TOKENS: u32 = 400;

/// [`LEAST_TOKENS`] in bytes of the wire format.
const LEAST_BYTES: usize = 8 * 1024;

// How texts that must stay share the free budget with other units and a summary (docs/shares.md).

/// Divisor of the free budget: the part that other units and a summary get if the texts do not fit unshortened. They get
/// [`MIN_UNPROTECTED_TOKENS`] first: with fewer, a summary says little, and the texts have [`LEAST_TOKENS`] each already.
const OTHERS_DIVISOR: u32 = 2;

/// Divisor of the free budget for other units and a summary if the texts fit unshortened. The result is
/// enough to say what the work is about.
const OTHERS_DIVISOR_IF_FITTING: u32 = 8;

/// Divisor of the free budget: the part that the newest user message leaves to the work that follows it.
const WORK_DIVISOR: u32 = 4;

/// A text that may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LongText {
    pub(crate) unit: usize,
    /// Index of the message in its unit.
    pub(crate) message: usize,
    /// Index of the part in its message.
    pub(crate) part: usize,
    /// Tokens of its text.
    pub(crate) tokens: u32,
    /// Bytes of its text.
    pub(crate) bytes: usize,
    /// Whether it is text of the user, and not an unseen output.
    pub(crate) is_users: bool,
    /// The most tokens that it may have besides the common cap; `u32::MAX` without such a limit.
    most: u32,
}

impl LongText {
    /// Returns its own limit under a common cap.
    pub(crate) fn limit_at(&self, cap: u32) -> u32 {
        cap.min(self.most)
    }

    /// Returns its maximum tokens under a cap.
    fn tokens_at(&self, cap: u32) -> u32 {
        self.tokens.min(self.limit_at(cap))
    }

    /// Returns its maximum bytes under a cap, in proportion to its tokens.
    pub(crate) fn bytes_at(&self, cap: u32) -> usize {
        let cap = self.limit_at(cap);
        if self.tokens <= cap {
            return self.bytes;
        }
        let share = self.bytes as u128 * u128::from(cap) / u128::from(self.tokens.max(1));
        usize::try_from(share)
            .unwrap_or(self.bytes)
            .max(LEAST_BYTES)
            .min(self.bytes)
    }
}

/// The texts of a conversation that may be shortened, and their cap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shortening {
    /// In the order of the conversation.
    texts: Vec<LongText>,
    /// Maximum tokens of each text; `u32::MAX` if no cap is set.
    cap: u32,
}

/// Maximum size of all these texts together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextBudget {
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
}

impl Shortening {
    /// Finds the texts of `conversation` that may be shortened, none of them shortened yet. Leaves out those of
    /// units that the caller named as pinned or live, which stay byte-identical.
    pub(crate) fn of(
        conversation: &Conversation,
        policy: &Policy,
        statuses: &[UnitStatus],
    ) -> Self {
        let mut texts = Vec::new();
        if policy.excerpts {
            let answered = conversation.answered();
            let units = conversation.units().iter().enumerate().zip(statuses);
            let unseen = unseen::units(conversation);
            for ((unit, own), status) in units {
                if status.whole {
                    continue;
                }
                if unseen.contains(&unit) {
                    push_texts(conversation, unit, answered, false, &mut texts);
                } else if status.protected && own.kind == UnitKind::User {
                    push_texts(conversation, unit, 0, true, &mut texts);
                }
            }
        }
        Self {
            texts,
            cap: u32::MAX,
        }
    }

    pub(crate) fn texts(&self) -> &[LongText] {
        &self.texts
    }

    pub(crate) const fn cap(&self) -> u32 {
        self.cap
    }

    /// Sets the cap, at least to [`LEAST_TOKENS`].
    pub(crate) fn set_cap(&mut self, cap: u32) {
        self.cap = cap.max(LEAST_TOKENS);
    }

    /// Returns the user messages that may be shortened, oldest first.
    pub(crate) fn users_units(&self) -> Vec<usize> {
        let users = self.texts.iter().filter(|text| text.is_users);
        let mut units: Vec<usize> = users.map(|text| text.unit).collect();
        units.dedup();
        units
    }

    /// Limits the texts of a unit together to `tokens` more than their shortest form has.
    pub(crate) fn limit_unit(&mut self, unit: usize, tokens: u32) {
        let own = Self {
            texts: self.of_unit(unit).to_vec(),
            cap: u32::MAX,
        };
        let most = own.cap_for(TextBudget {
            tokens: own.tokens_at(LEAST_TOKENS) + u64::from(tokens),
            bytes: u64::MAX,
        });
        for text in self.texts.iter_mut().filter(|text| text.unit == unit) {
            text.most = most;
        }
    }

    /// Returns the highest cap under which all texts together fit `budget`; [`LEAST_TOKENS`] if none does.
    pub(crate) fn cap_for(&self, budget: TextBudget) -> u32 {
        let fits =
            |cap: u32| self.tokens_at(cap) <= budget.tokens && self.bytes_at(cap) <= budget.bytes;
        if fits(u32::MAX) {
            return u32::MAX;
        }
        let most = self.texts.iter().map(|text| text.tokens).max();
        let (mut low, mut high) = (LEAST_TOKENS, most.unwrap_or(0).max(LEAST_TOKENS));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Returns the maximum tokens of all texts together under a cap.
    pub(crate) fn tokens_at(&self, cap: u32) -> u64 {
        let tokens = self.texts.iter().map(|text| u64::from(text.tokens_at(cap)));
        tokens.sum()
    }

    /// Returns the maximum bytes of all texts together under a cap.
    pub(crate) fn bytes_at(&self, cap: u32) -> u64 {
        let bytes = self.texts.iter().map(|text| text.bytes_at(cap) as u64);
        bytes.sum()
    }

    /// Returns whether at least one text is shortened.
    pub(crate) fn is_shortened(&self) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| text.tokens > text.limit_at(self.cap))
    }

    /// Returns the texts of a unit.
    pub(crate) fn of_unit(&self, unit: usize) -> &[LongText] {
        let start = self.texts.partition_point(|text| text.unit < unit);
        let end = self.texts.partition_point(|text| text.unit <= unit);
        &self.texts[start..end]
    }

    /// Returns how many tokens and bytes a cap saves in a unit.
    pub(crate) fn saved(&self, unit: usize, cap: u32) -> (u32, usize) {
        // A shortcut for conversations without such texts.
        if self.texts.first().is_none_or(|first| unit < first.unit) {
            return (0, 0);
        }
        self.of_unit(unit)
            .iter()
            .fold((0, 0), |(tokens, bytes), text| {
                (
                    tokens + (text.tokens - text.tokens_at(cap)),
                    bytes + (text.bytes - text.bytes_at(cap)),
                )
            })
    }
}

/// Returns how many tokens of the free budget other units get instead of texts that must stay. `others` are
/// the tokens of these units, and `fit` says whether the texts fit unshortened.
pub(crate) fn share_of_others(free: u32, others: u32, fit: bool) -> u32 {
    let (divisor, least) = if fit {
        (OTHERS_DIVISOR_IF_FITTING, 0)
    } else {
        (OTHERS_DIVISOR, MIN_UNPROTECTED_TOKENS)
    };
    (free / divisor).max(free.min(least)).min(others)
}

/// Returns how many tokens of the free budget the newest user message may have. `others` are the tokens of
/// unprotected units, and `work` those of them that follow the message. Without such work it stays whole
/// unless it alone exceeds the budget.
pub(crate) fn share_of_newest_message(free: u32, others: u32, work: u32) -> u32 {
    let for_summary = MIN_UNPROTECTED_TOKENS.min(others / 2);
    let for_work = (free / WORK_DIVISOR).min(work);
    free.saturating_sub(for_summary.max(for_work))
}

/// Returns how many tokens of the free budget a first user message may have that is pinned only by default.
pub(crate) fn share_of_first_message(free: u32, others: u32, percent: u8) -> u32 {
    let share = u64::from(free) * u64::from(percent.min(100)) / 100;
    let reserved = (u64::from(free) - share).min(u64::from(others));
    free - u32::try_from(reserved).unwrap_or(free)
}

/// Adds the texts of a unit that are large enough to be shortened: those of the user, or the outputs of messages
/// from `answered` on.
fn push_texts(
    conversation: &Conversation,
    unit: usize,
    answered: usize,
    is_users: bool,
    texts: &mut Vec<LongText>,
) {
    let first = conversation.units()[unit].first_message;
    let counts = conversation.counts(unit);
    for (index, message) in conversation.messages(unit).iter().enumerate() {
        if first + index < answered || message.opaque {
            continue;
        }
        for (part, own) in message.parts.iter().enumerate() {
            let bytes = match &own.content {
                Content::Output(output) if !is_users && output.has_replaceable_text() => {
                    output.texts.iter().map(Range::len).sum()
                }
                // A mark does not count within the contents of files that a program added.
                Content::Text(place)
                    if is_users && message.role == Role::User && !message.is_closed(own) =>
                {
                    place.len()
                }
                _ => continue,
            };
            let part_tokens = counts
                .get(index)
                .and_then(|counts| counts.parts.get(part).copied());
            // The text of a part has no more tokens than the part, and counting it is slower.
            if part_tokens.is_none_or(|tokens| tokens <= LEAST_TOKENS) {
                continue;
            }
            let tokens = conversation.text_tokens(unit, (index, part));
            if tokens > LEAST_TOKENS {
                texts.push(LongText {
                    unit,
                    message: index,
                    part,
                    tokens,
                    bytes,
                    is_users,
                    most: u32::MAX,
                });
            }
        }
    }
}
