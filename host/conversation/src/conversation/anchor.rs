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
    /// Whether a log says so.
    pub(crate) by_log: bool,
}

impl Reported {
    /// What a caller says of the whole conversation.
    pub(crate) const fn of_all(tokens: u32) -> Self {
        Self {
            tokens,
            messages: usize::MAX,
            by_log: false,
        }
    }
}

/// The factors, in thousandths, by which counts may be corrected. A provider's own figure can
/// be for something else altogether; then what was counted is better not believed to be that small,
/// and what is beyond the factor stands beside it.
const FACTORS: std::ops::RangeInclusive<u64> = 250..=4_000;

impl Conversation {
    /// Tokens that a provider reported and that no text of the document has: what it does not show, or
    /// what is beyond the factor by which counts are corrected. They are part of the overhead.
    #[must_use]
    pub fn tokens_not_shown(&self) -> u32 {
        self.inner.hidden()
    }

    /// The same, counted so that all of it has as many tokens as a provider reported.
    pub fn counting(&self, tokens: u32) -> Self {
        let mut counted = self.clone();
        let inner = Arc::make_mut(&mut counted.inner);
        inner.anchor(Reported::of_all(tokens));
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
    /// to what stands beside the messages. So is what no factor explains, such as a file that the
    /// document names by its id alone. What was added so is the first that goes again.
    ///
    /// A log never makes counts smaller. The document that is made of it holds no usage, and whoever reads that, or
    /// a result of it, counts what it shows: a result would then be too large for the budget that it was made for.
    pub(super) fn anchor(&mut self, reported: Reported) {
        let covered = reported.messages.min(self.counts.len());
        let hidden = self.hidden();
        let counted = self
            .total_of(&self.counts[..covered])
            .saturating_add(self.totals.fixed);
        if counted == 0 || reported.tokens == 0 || reported.by_log && reported.tokens < counted {
            return;
        }
        let is_whole = !self.envelope.texts.is_empty()
            || self.envelope.tool_list.is_some()
            || self.has_instructions();
        if !is_whole && reported.tokens > counted {
            self.totals.fixed = self.totals.fixed.saturating_add(reported.tokens - counted);
            return;
        }
        let shown = counted.saturating_sub(hidden).max(1);
        let hidden = hidden.saturating_sub(counted.saturating_sub(reported.tokens));
        let wanted = u64::from(reported.tokens.saturating_sub(hidden)) * 1_000;
        let wanted = wanted.div_ceil(u64::from(shown));
        let permille = wanted.clamp(*FACTORS.start(), *FACTORS.end());
        self.tokenizer = self
            .tokenizer
            .scaled(u32::try_from(permille).unwrap_or(1_000));
        self.recount();
        self.totals.fixed = self.fixed().saturating_add(hidden);
        if wanted > permille {
            let counted = self
                .total_of(&self.counts[..covered])
                .saturating_add(self.totals.fixed);
            let beyond = reported.tokens.saturating_sub(counted);
            self.totals.fixed = self.totals.fixed.saturating_add(beyond);
        }
    }

    /// Tokens beside the messages that no text of the document has.
    pub(super) fn hidden(&self) -> u32 {
        self.totals.fixed.saturating_sub(self.fixed())
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use std::sync::Arc;

    use super::{Conversation, Reported};
    use crate::model::format::Format;

    fn with_system(words: usize) -> Conversation {
        of_model("gpt-4o", words)
    }

    fn of_model(model: &str, words: usize) -> Conversation {
        let body = json!({"model": model, "messages": [
            {"role": "system", "content": "You read reports."},
            {"role": "user", "content": "word ".repeat(words)},
            {"role": "assistant", "content": "word ".repeat(words)},
        ]});
        Conversation::of(&body.to_string(), Some(Format::OpenAiChat)).expect("reads")
    }

    #[test]
    fn what_is_beyond_the_factor_is_overhead_and_goes_again_first() {
        let conversation = with_system(500);
        let counted = conversation.tokens();
        let anchored = conversation.counting(150_000);
        assert_eq!(anchored.tokens(), 150_000);
        assert!(anchored.overhead() > 150_000 - 5 * counted);
        assert!(anchored.tokens_not_shown() > 0);
        // It stays when more comes, and is counted once.
        assert_eq!(anchored.counting(150_000).tokens(), 150_000);
        assert!(anchored.counting(151_000).tokens().abs_diff(151_000) < 100);
        // Once what it was of has gone, the rest is counted as it was.
        let again = anchored.counting(counted);
        assert_eq!(again.tokens_not_shown(), 0);
        assert!(again.tokens().abs_diff(counted) < 20);
    }

    #[test]
    fn a_log_makes_counts_larger_and_never_smaller() {
        // Nobody knows its vocabulary, so its counts are estimates.
        let plain = of_model("lighthouse-7b", 500);
        let said_by_log = |tokens: u32| {
            let mut anchored = plain.clone();
            let inner = Arc::make_mut(&mut anchored.inner);
            inner.anchor(Reported {
                tokens,
                messages: usize::MAX,
                by_log: true,
            });
            inner.divide();
            anchored.tokens()
        };
        let counted = plain.tokens();
        for fewer in [1, counted / 2, counted - 1] {
            assert_eq!(said_by_log(fewer), counted, "{fewer}");
        }
        assert!(said_by_log(2 * counted).abs_diff(2 * counted) < 20);
        // What a provider says of this very document counts either way.
        assert!(plain.counting(counted / 2).tokens().abs_diff(counted / 2) < 20);
    }

    #[test]
    fn within_the_factor_all_is_scaled_and_nothing_is_beside_it() {
        let conversation = with_system(500);
        let twice = conversation.tokens() * 2;
        let anchored = conversation.counting(twice);
        assert_eq!(anchored.tokens_not_shown(), 0);
        // What a message costs beside its parts is not scaled.
        assert!(anchored.tokens().abs_diff(twice) < 20);
    }
}
