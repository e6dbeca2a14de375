//! Prevents a compactor from repeating a futile compaction.

use serde::{Deserialize, Serialize};

use baler_conversation::Conversation;

/// Growth after which another attempt may succeed: 1/20 of the conversation's tokens.
const GROWTH: u32 = 20;

/// Growth after which a result that is above or close to a trigger reaches it again: 1/10 of the trigger.
const REGROWTH: u64 = 10;

/// The size of a conversation, in each unit of the triggers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Size {
    pub(super) tokens: u64,
    pub(super) messages: u64,
    pub(super) turns: u64,
    pub(super) bytes: u64,
}

impl Size {
    /// Returns the size of a conversation with this number of tokens.
    pub(super) fn of(conversation: &Conversation, tokens: u32) -> Self {
        let turns = conversation.units().last().map_or(0, |last| last.turn);
        Self {
            tokens: tokens.into(),
            messages: conversation.message_count() as u64,
            turns: turns.into(),
            bytes: conversation.bytes() as u64,
        }
    }
}

/// Returns the value at which a trigger of `least` is reached, if the newest compaction left `left`. Without
/// the required growth each step would compact again what cannot become smaller, or halve what can.
pub(super) fn fires_from(least: u64, left: Option<u64>) -> u64 {
    let grown = |left: u64| left.saturating_add((least / REGROWTH).max(1));
    left.map_or(least, |left| least.max(grown(left)))
}

/// The newest compaction that was futile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LastFutileAttempt {
    /// Tokens of the conversation at that time, by the host's count.
    pub(super) tokens: u32,
    pub(super) messages: usize,
    /// Whether the strategy failed or declined, rather than find nothing to remove.
    pub(super) may_be_tried: bool,
    /// Whether the compaction was required, so that the whole chain was tried.
    pub(super) was_required: bool,
}

impl LastFutileAttempt {
    /// Whether another attempt would be futile too. A required compaction waits only for a new message.
    pub(super) fn holds(
        &self,
        conversation: &Conversation,
        retry_after: usize,
        is_required: bool,
    ) -> bool {
        let appended = conversation.message_count().saturating_sub(self.messages);
        let grown = conversation.tokens().saturating_sub(self.tokens);
        if is_required {
            return self.was_required && appended == 0;
        }
        if self.may_be_tried {
            return appended < retry_after;
        }
        // A retry after each message of a long loop would call the strategy each time.
        appended == 0 || (appended < retry_after && grown < self.tokens / GROWTH)
    }
}
