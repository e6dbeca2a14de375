//! Computes how far unseen tool outputs are shortened, and how many tokens that saves.

use std::ops::Range;

use baler_conversation::Conversation;
use baler_conversation::message::Content;

use crate::request::Policy;
use crate::unit_status::UnitStatus;
use crate::unseen;

/// Lowest cap of a shortened output in tokens, its mark included: enough for its first, its last and some of
/// its error lines. An output with no more tokens is not shortened.
pub(crate) const LEAST_TOKENS: u32 = 400;

/// [`LEAST_TOKENS`] in bytes of the wire format.
const LEAST_BYTES: usize = 8 * 1024;

/// Divisor of the free budget: the part that other units and a summary get if the unseen outputs do not fit
/// unshortened.
const OTHERS_DIVISOR: u32 = 2;

/// Divisor of the free budget for other units and a summary if the unseen outputs fit unshortened. The result
/// is enough to say what the work is about.
const OTHERS_DIVISOR_IF_FITTING: u32 = 8;

/// An unseen output that may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnseenOutput {
    pub(crate) unit: usize,
    /// Index of the message in its unit.
    pub(crate) message: usize,
    /// Index of the part in its message.
    pub(crate) part: usize,
    /// Tokens of its text.
    pub(crate) tokens: u32,
    /// Bytes of its text.
    pub(crate) bytes: usize,
}

impl UnseenOutput {
    /// Returns its maximum tokens under a cap.
    fn tokens_at(&self, cap: u32) -> u32 {
        self.tokens.min(cap)
    }

    /// Returns its maximum bytes under a cap, in proportion to its tokens.
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

/// The unseen outputs of a conversation that may be shortened, and their cap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unseen {
    /// In the order of the conversation.
    outputs: Vec<UnseenOutput>,
    /// Maximum tokens of each output; `u32::MAX` if none is shortened.
    cap: u32,
}

/// Maximum size of all unseen outputs together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnseenBudget {
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
}

impl Unseen {
    /// Finds the unseen outputs of `conversation`, none of them shortened yet. Leaves out those of units that
    /// the caller named as pinned or live, which stay byte-identical.
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
                push_outputs(conversation, unit, answered, &mut outputs);
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

    /// Sets the cap, at least to [`LEAST_TOKENS`].
    pub(crate) fn set_cap(&mut self, cap: u32) {
        self.cap = cap.max(LEAST_TOKENS);
    }

    /// Returns the highest cap under which all outputs together fit `budget`; [`LEAST_TOKENS`] if none does.
    pub(crate) fn cap_for(&self, budget: UnseenBudget) -> u32 {
        let fits =
            |cap: u32| self.tokens_at(cap) <= budget.tokens && self.bytes_at(cap) <= budget.bytes;
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

    /// Returns the maximum tokens of all outputs together under a cap.
    pub(crate) fn tokens_at(&self, cap: u32) -> u64 {
        let tokens = self
            .outputs
            .iter()
            .map(|output| u64::from(output.tokens_at(cap)));
        tokens.sum()
    }

    /// Returns the maximum bytes of all outputs together under a cap.
    pub(crate) fn bytes_at(&self, cap: u32) -> u64 {
        let bytes = self
            .outputs
            .iter()
            .map(|output| output.bytes_at(cap) as u64);
        bytes.sum()
    }

    /// Returns whether at least one output is shortened.
    pub(crate) fn is_shortened(&self) -> bool {
        self.outputs.iter().any(|output| output.tokens > self.cap)
    }

    /// Returns the outputs of a unit.
    pub(crate) fn of_unit(&self, unit: usize) -> &[UnseenOutput] {
        let start = self.outputs.partition_point(|output| output.unit < unit);
        let end = self.outputs.partition_point(|output| output.unit <= unit);
        &self.outputs[start..end]
    }

    /// Returns how many tokens and bytes a cap saves in a unit.
    pub(crate) fn saved(&self, unit: usize, cap: u32) -> (u32, usize) {
        // A shortcut: unseen outputs are in the newest units, so most units have none.
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

/// Returns how many tokens of the free budget other units get instead of unseen outputs. `others` are the
/// tokens of these units, and `fit` says whether the outputs fit unshortened.
pub(crate) fn share_of_others(free: u32, others: u32, fit: bool) -> u32 {
    let divisor = if fit {
        OTHERS_DIVISOR_IF_FITTING
    } else {
        OTHERS_DIVISOR
    };
    (free / divisor).min(others)
}

/// Adds the unseen outputs of a unit that are large enough to be shortened. `answered` is the number of
/// messages up to the model's last answer.
fn push_outputs(
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
            let part_tokens = counts
                .get(index)
                .and_then(|counts| counts.parts.get(part).copied());
            // The text of a part has no more tokens than the part, and counting it is slower.
            if !output.has_replaceable_text()
                || part_tokens.is_none_or(|tokens| tokens <= LEAST_TOKENS)
            {
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
