//! What keeps a compactor from doing the same thing again to no purpose.

use serde::{Deserialize, Serialize};

use crate::conversation::Conversation;

/// Growth of a conversation from which on another try may end otherwise: a part in so many of
/// its tokens.
const GROWTH: u32 = 20;

/// The newest compaction that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Fruitless {
    /// Tokens that the conversation had then.
    tokens: u32,
    messages: usize,
    /// Whether another try may end otherwise as soon as anything changed: the strategy failed,
    /// rather than to find nothing that could go.
    may_be_tried: bool,
    /// It had to succeed, so that the whole chain was tried.
    was_required: bool,
}

impl Fruitless {
    pub(super) fn new(conversation: &Conversation, may_be_tried: bool, was_required: bool) -> Self {
        Self {
            tokens: conversation.tokens(),
            messages: conversation.message_count(),
            may_be_tried,
            was_required,
        }
    }

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
