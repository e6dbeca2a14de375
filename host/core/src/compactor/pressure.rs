//! Decides whether to compact now, and why.

use schemars::JsonSchema;
use serde::Serialize;

use baler_conversation::Conversation;

use super::CompactorOptions;
use super::guard::{Size, fires_from};

/// Why a compactor acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pressure {
    /// The conversation has the tokens of a trigger.
    Tokens,
    /// The conversation has more messages than a trigger allows.
    Messages,
    /// The conversation has more turns than a trigger allows.
    Turns,
    /// The request has more bytes than a trigger allows.
    Bytes,
    /// The request has more bytes than the provider accepts.
    Body,
    /// The request has more pictures than the provider accepts, or too large ones.
    Media,
    /// The conversation is larger than the context window.
    Window,
    /// The strategy decided so, or left the decision to a host without triggers.
    Strategy,
    /// The provider refused the request as too long.
    Overflow,
    /// A person or program asked for it.
    Manual,
}

impl Pressure {
    /// Returns whether the provider would refuse the next request, so that the strategy may not decline.
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(
            self,
            Self::Window | Self::Overflow | Self::Media | Self::Body
        )
    }
}

/// Returns why the host would compact now; `left` is the size that the newest compaction left. The cost does
/// not depend on the conversation's length.
pub(super) fn of(
    conversation: &Conversation,
    tokens: u32,
    options: &CompactorOptions,
    left: Option<Size>,
) -> Option<Pressure> {
    let triggers = &options.triggers;
    let limits = conversation.format().limits();
    let now = Size::of(conversation, tokens);
    let fires = |least: Option<u64>, of: fn(Size) -> u64| {
        least.is_some_and(|least| of(now) >= fires_from(least, left.map(of)))
    };
    let above = |most: usize| (most as u64).saturating_add(1);
    let is_over = [
        (
            Pressure::Window,
            options.context_window.is_some_and(|window| tokens > window),
        ),
        (
            Pressure::Media,
            conversation.media() > limits.pictures || conversation.has_refused_pictures(),
        ),
        (Pressure::Body, conversation.bytes() > limits.body_bytes),
        (
            Pressure::Bytes,
            fires(triggers.bytes.map(above), |size| size.bytes),
        ),
        (
            Pressure::Tokens,
            fires(options.threshold().map(u64::from), |size| size.tokens),
        ),
        (
            Pressure::Messages,
            fires(triggers.messages.map(above), |size| size.messages),
        ),
        (
            Pressure::Turns,
            fires(triggers.turns.map(|most| u64::from(most) + 1), |size| {
                size.turns
            }),
        ),
    ];
    is_over
        .into_iter()
        .find_map(|(pressure, is_over)| is_over.then_some(pressure))
}
