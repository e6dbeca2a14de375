//! How far unseen tool outputs are shortened, and how many tokens that saves.

use std::ops::Range;

use baler_conversation::Conversation;
use baler_conversation::message::Content;

use crate::request::Policy;
use crate::unit_status::UnitStatus;
use crate::unseen;

/// Tokens that a shortened output has at least, its mark included: room for its first, its last
/// and some of its error lines. One that has no more is not shortened.
pub(crate) const LEAST_TOKENS: u32 = 400;

/// The same in bytes of the wire format.
const LEAST_BYTES: usize = 8 * 1024;

/// The share of what is free beside protected units that other units and a summary keep, where
/// unseen outputs would take all of it.
const OTHERS_SHARE: u32 = 2;

/// The share that they keep where unseen outputs fit as they are: enough to say what the work is about.
const OTHERS_LEAST: u32 = 8;

/// One output that may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnseenOutput {
    pub(crate) unit: usize,
    /// Index of the message in its unit, and of the part in its message.
    pub(crate) message: usize,
    pub(crate) part: usize,
    /// Tokens and bytes of its text.
    pub(crate) tokens: u32,
    pub(crate) bytes: usize,
}

impl UnseenOutput {
    /// Tokens under a cap.
    fn tokens_at(&self, cap: u32) -> u32 {
        self.tokens.min(cap)
    }

    /// The most bytes under a cap: as many as it has for its tokens now.
    pub(crate) fn bytes_at(&self, cap: u32) -> usize {
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

/// The unseen outputs of a conversation that may be shortened, and how far they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unseen {
    /// In the order of the conversation.
    outputs: Vec<UnseenOutput>,
    /// The most tokens of each; as large as can be where none is shortened.
    cap: u32,
}

/// What there is to share out, beside what is fixed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Free {
    /// Tokens and bytes that all unseen outputs together may have.
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
}

impl Unseen {
    /// The outputs of `conversation`, none of them shortened. Those of units that the caller named to stay are left whole.
    pub(crate) fn of(
        conversation: &Conversation,
        policy: &Policy,
        statuses: &[UnitStatus],
    ) -> Self {
        let mut outputs = Vec::new();
        if policy.excerpts {
            let answered = conversation.answered();
            let may_change = |unit: &usize| !statuses[*unit].whole;
            for unit in unseen::units(conversation).filter(may_change) {
                of_unit(conversation, unit, answered, &mut outputs);
            }
        }
        Self {
            outputs,
            cap: u32::MAX,
        }
    }

    pub(crate) fn outputs(&self) -> &[UnseenOutput] {
        &self.outputs
    }

    pub(crate) const fn cap(&self) -> u32 {
        self.cap
    }

    /// Shortens them under another cap, never a lower one than outputs need.
    pub(crate) fn set_cap(&mut self, cap: u32) {
        self.cap = cap.max(LEAST_TOKENS);
    }

    /// The highest cap under which all outputs together take no more than what is free; the lowest
    /// that there is where none does.
    pub(crate) fn cap_for(&self, free: Free) -> u32 {
        let fits =
            |cap: u32| self.tokens_at(cap) <= free.tokens && self.bytes_at(cap) <= free.bytes;
        if fits(u32::MAX) {
            return u32::MAX;
        }
        let most = self.outputs.iter().map(|output| output.tokens).max();
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

    /// Tokens of all outputs under a cap.
    pub(crate) fn tokens_at(&self, cap: u32) -> u64 {
        let tokens = self
            .outputs
            .iter()
            .map(|output| u64::from(output.tokens_at(cap)));
        tokens.sum()
    }

    pub(crate) fn bytes_at(&self, cap: u32) -> u64 {
        let bytes = self
            .outputs
            .iter()
            .map(|output| output.bytes_at(cap) as u64);
        bytes.sum()
    }

    /// Whether an output is shortened.
    pub(crate) fn is_shortened(&self) -> bool {
        self.outputs.iter().any(|output| output.tokens > self.cap)
    }

    /// The outputs of a unit.
    pub(crate) fn of_unit(&self, unit: usize) -> &[UnseenOutput] {
        let start = self.outputs.partition_point(|output| output.unit < unit);
        let end = self.outputs.partition_point(|output| output.unit <= unit);
        &self.outputs[start..end]
    }

    /// Tokens and bytes that a unit has fewer under a cap.
    pub(crate) fn saved(&self, unit: usize, cap: u32) -> (u32, usize) {
        // Most units are asked in vain.
        if self.outputs.first().is_none_or(|first| unit < first.unit) {
            return (0, 0);
        }
        self.of_unit(unit)
            .iter()
            .fold((0, 0), |(tokens, bytes), output| {
                (
                    tokens + (output.tokens - output.tokens_at(cap)),
                    bytes + (output.bytes - output.bytes_at(cap)),
                )
            })
    }
}

/// How much of what is free beside protected units goes to other units rather than to unseen
/// outputs, where there are others. `fit` says whether the outputs fit as they are.
pub(crate) fn share_of_others(free: u32, others: u32, fit: bool) -> u32 {
    let share = if fit { OTHERS_LEAST } else { OTHERS_SHARE };
    (free / share).min(others)
}

fn of_unit(
    conversation: &Conversation,
    unit: usize,
    answered: usize,
    outputs: &mut Vec<UnseenOutput>,
) {
    let first = conversation.units()[unit].first_message;
    let counts = conversation.counts(unit);
    for (index, message) in conversation.messages(unit).iter().enumerate() {
        if first + index < answered || message.opaque {
            continue;
        }
        for (part, content) in message.parts.iter().enumerate() {
            let Content::Output(output) = &content.content else {
                continue;
            };
            let whole = counts
                .get(index)
                .and_then(|counts| counts.parts.get(part).copied());
            // An output with few tokens has no text with more.
            if !output.has_replaceable_text() || whole.is_none_or(|tokens| tokens <= LEAST_TOKENS) {
                continue;
            }
            let tokens = conversation.text_tokens(unit, (index, part));
            if tokens > LEAST_TOKENS {
                outputs.push(UnseenOutput {
                    unit,
                    message: index,
                    part,
                    tokens,
                    bytes: output.texts.iter().map(Range::len).sum(),
                });
            }
        }
    }
}
