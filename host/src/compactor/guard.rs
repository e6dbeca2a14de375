//! What keeps a compactor from doing the same thing again to no purpose.

use serde::{Deserialize, Serialize};

use baler_conversation::Conversation;

/// Growth of a conversation from which on another try may end otherwise: a part in so many of
/// its tokens.
const GROWTH: u32 = 20;

/// Growth from which on what a compaction left beyond a trigger, or close to it, fires that again: a
/// part in so many of the trigger.
const REGROWTH: u64 = 10;

/// How large a conversation is by what triggers go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Size {
    pub(super) tokens: u64,
    pub(super) messages: u64,
    pub(super) turns: u64,
    pub(super) bytes: u64,
}

impl Size {
    /// The size of a conversation of so many tokens.
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

/// From where on a trigger fires that does so from `least` on, where the newest compaction left so
/// much. Without growth each step would compact again what cannot become less, and what can would
/// be halved each time.
pub(super) fn fires_from(least: u64, left: Option<u64>) -> u64 {
    let grown = |left: u64| left.saturating_add((least / REGROWTH).max(1));
    left.map_or(least, |left| least.max(grown(left)))
}

/// The newest compaction that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LastFutileAttempt {
    /// Tokens that the conversation had then, by the host's count.
    pub(super) tokens: u32,
    pub(super) messages: usize,
    /// Whether another try may end otherwise as soon as anything changed: the strategy failed,
    /// rather than to find nothing that could go.
    pub(super) may_be_tried: bool,
    /// It had to succeed, so that the whole chain was tried.
    pub(super) was_required: bool,
}

impl LastFutileAttempt {
    /// Whether trying again would be the same again. What has to be done waits for nothing but
    /// a change.
    pub(super) fn holds(
        &self,
        conversation: &Conversation,
        retry_after: usize,
        is_required: bool,
    ) -> bool {
        let came = conversation.message_count().saturating_sub(self.messages);
        let grown = conversation.tokens().saturating_sub(self.tokens);
        if is_required {
            return self.was_required && came == 0;
        }
        if self.may_be_tried {
            return came < retry_after;
        }
        // A retry for each message of a long loop would cost a strategy's call each.
        came == 0 || (came < retry_after && grown < self.tokens / GROWTH)
    }
}
