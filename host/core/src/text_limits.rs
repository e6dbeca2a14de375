//! Computes how far texts that must stay are shortened, and how many tokens that saves: tool outputs that the
//! model has not seen, the user's words that nobody pinned by their index, and tool outputs beside these words.

use std::ops::Range;

use baler_conversation::message::{Content, Role};
use baler_conversation::{Conversation, UnitKind};
use baler_provenance::is_by_program;

use crate::request::{MIN_UNPROTECTED_TOKENS, Policy};
use crate::unit_status::UnitStatus;
use crate::{unseen, users_words};

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

/// Percent of the free budget for a first message that is pinned only by default, if the policy protects no other words of
/// the user.
pub(crate) const FIRST_MESSAGE_PERCENT: u8 = 50;

/// What a text that must stay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Words of the user.
    Users,
    /// An output, or a text of a program in the user's role, that the model has not seen.
    Unseen,
    /// What a tool or a program wrote and the model has seen, in a unit that stays for other words. It gets [`LEAST_TOKENS`].
    Beside,
}

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
    pub(crate) kind: Kind,
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
                    push_texts(conversation, unit, answered, Stays::Unseen, &mut texts);
                } else if status.for_words {
                    push_texts(conversation, unit, answered, Stays::ForWords, &mut texts);
                } else if status.protected && own.kind == UnitKind::User {
                    push_texts(
                        conversation,
                        unit,
                        answered,
                        Stays::UsersMessage,
                        &mut texts,
                    );
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

    /// Returns the units with words of the user that may be shortened, oldest first.
    pub(crate) fn users_units(&self) -> Vec<usize> {
        let mut units: Vec<usize> = self.of_kind(Kind::Users).map(|text| text.unit).collect();
        units.dedup();
        units
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &LongText> {
        self.texts.iter().filter(move |text| text.kind == kind)
    }

    pub(crate) fn has_unseen(&self) -> bool {
        self.of_kind(Kind::Unseen).next().is_some()
    }

    /// Returns how many tokens all words of the user have above their shortest form.
    pub(crate) fn tokens_of_words(&self) -> u64 {
        let words = self.of_kind(Kind::Users);
        words
            .map(|text| u64::from(text.tokens - LEAST_TOKENS))
            .sum()
    }

    /// Leaves all words of the user whole.
    pub(crate) fn leave_words_whole(&mut self) {
        self.texts.retain(|text| text.kind != Kind::Users);
    }

    /// Limits outputs in the same unit as the user's words to [`LEAST_TOKENS`].
    pub(crate) fn limit_outputs_beside_words(&mut self) {
        let beside = self
            .texts
            .iter_mut()
            .filter(|text| text.kind == Kind::Beside);
        beside.for_each(|text| text.most = LEAST_TOKENS);
    }

    /// Limits the user's words in `units` together to `tokens` more than their shortest form has.
    pub(crate) fn limit_words(&mut self, units: &[usize], tokens: u32) {
        let is_of_them =
            |text: &LongText| text.kind == Kind::Users && units.binary_search(&text.unit).is_ok();
        let own = Self {
            texts: self.texts.iter().copied().filter(is_of_them).collect(),
            cap: u32::MAX,
        };
        let most = own.cap_for(TextBudget {
            tokens: own.tokens_at(LEAST_TOKENS) + u64::from(tokens),
            bytes: u64::MAX,
        });
        for text in self.texts.iter_mut().filter(|text| is_of_them(text)) {
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
/// unprotected units, `work` those of them that follow the message, and `words` those of the user's earlier words, which
/// say what it is about as a summary does. Without such work it stays whole unless it alone exceeds the budget.
pub(crate) fn share_of_newest_message(free: u32, others: u32, work: u32, words: u32) -> u32 {
    let for_summary = MIN_UNPROTECTED_TOKENS.saturating_sub(words).min(others / 2);
    let for_work = (free / WORK_DIVISOR).min(work);
    free.saturating_sub(for_summary.max(for_work))
}

/// Returns how many tokens of the `free` budget the user's words may have: their `share`, and what `others`, the tokens of
/// unprotected units, do not need.
pub(crate) fn share_of_words(free: u32, others: u32, share: u32) -> u32 {
    let reserved = free.saturating_sub(share).min(others);
    free - reserved
}

/// Why texts of a unit stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stays {
    /// For outputs that the model has not seen.
    Unseen,
    /// As a message of the user that is protected anyway.
    UsersMessage,
    /// For the user's words in the unit alone.
    ForWords,
}

/// Adds the texts of a unit that are large enough to be shortened. The model has seen the messages before `answered`.
fn push_texts(
    conversation: &Conversation,
    unit: usize,
    answered: usize,
    stays: Stays,
    texts: &mut Vec<LongText>,
) {
    let first = conversation.units()[unit].first_message;
    let counts = conversation.counts(unit);
    for (index, message) in conversation.messages(unit).iter().enumerate() {
        let is_seen = first + index < answered;
        if is_seen && stays == Stays::Unseen || message.opaque {
            continue;
        }
        for (part, own) in message.parts.iter().enumerate() {
            let (bytes, kind) = match &own.content {
                Content::Output(output)
                    if stays != Stays::UsersMessage && output.has_replaceable_text() =>
                {
                    let is_answer = || users_words::is_answer(conversation, message, own);
                    let kind = match stays {
                        Stays::ForWords if is_answer() => Kind::Users,
                        Stays::ForWords => Kind::Beside,
                        Stays::Unseen | Stays::UsersMessage => Kind::Unseen,
                    };
                    (output.texts.iter().map(Range::len).sum(), kind)
                }
                // A mark does not count within the contents of files that a program added.
                Content::Text(place)
                    if stays != Stays::Unseen
                        && message.role == Role::User
                        && !message.is_closed(own) =>
                {
                    (place.len(), Kind::Users)
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
            let kind = match &own.content {
                // A program's text takes no room from the user's words.
                Content::Text(place) if is_by_program(&conversation.text(place)) => match is_seen {
                    true => Kind::Beside,
                    false => Kind::Unseen,
                },
                _ => kind,
            };
            if tokens > LEAST_TOKENS {
                texts.push(LongText {
                    unit,
                    message: index,
                    part,
                    tokens,
                    bytes,
                    kind,
                    most: u32::MAX,
                });
            }
        }
    }
}
