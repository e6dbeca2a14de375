//! Counts, held against what a provider reported.

use std::sync::Arc;

use super::{Conversation, Inner};

/// What a provider reported of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reported {
    /// Tokens of a request and of the response to it.
    pub(crate) tokens: u32,
    /// Number of leading messages that these are.
    pub(crate) messages: usize,
}

/// The factors, in thousandths, by which counts may be corrected. A provider's own figure can
/// be for something else altogether; then it is better not believed in full.
const FACTORS: std::ops::RangeInclusive<u64> = 250..=4_000;

impl Conversation {
    /// The same, counted so that all of it has as many tokens as a provider reported.
    pub(crate) fn counting(&self, tokens: u32) -> Self {
        let mut counted = self.clone();
        let inner = Arc::make_mut(&mut counted.inner);
        inner.anchor(Reported {
            tokens,
            messages: usize::MAX,
        });
        inner.divide();
        inner.marks.take();
        counted
    }
}

impl Inner {
    /// Corrects the counts so that they agree with what was reported.
    ///
    /// A body with a system prompt or tools shows all that the provider counted, so a
    /// difference is the vocabulary's: all counts are scaled. Without them, as in a log, more
    /// than was counted is what the document does not show (system prompt, tools): it is added
    /// to what stands beside the messages.
    pub(super) fn anchor(&mut self, reported: Reported) {
        let covered = reported.messages.min(self.counts.len());
        let counted = self
            .total_of(&self.counts[..covered])
            .saturating_add(self.totals.fixed);
        if counted == 0 || reported.tokens == 0 {
            return;
        }
        let is_whole = !self.envelope.texts.is_empty()
            || self.envelope.tool_list.is_some()
            || self.has_instructions();
        if !is_whole && reported.tokens > counted {
            self.totals.fixed = self.totals.fixed.saturating_add(reported.tokens - counted);
            return;
        }
        let permille = (u64::from(reported.tokens) * 1_000)
            .div_ceil(u64::from(counted))
            .clamp(*FACTORS.start(), *FACTORS.end());
        self.tokenizer = self
            .tokenizer
            .scaled(u32::try_from(permille).unwrap_or(1_000));
        self.recount();
        self.totals.fixed = self.fixed();
    }

    /// Counts all messages by another tokenizer than before.
    pub(super) fn recount(&mut self) {
        self.counts = self
            .messages
            .iter()
            .map(|message| self.tokenizer.count_message(&self.document, message))
            .collect();
    }

    fn has_instructions(&self) -> bool {
        self.messages.iter().any(|message| message.role.instructs())
    }
}
