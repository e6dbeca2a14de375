//! Why it is time.

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
    /// The tokens of a trigger were reached.
    Tokens,
    /// There are too many messages.
    Messages,
    /// There are too many turns.
    Turns,
    /// The request has too many bytes for a trigger.
    Bytes,
    /// The request has more bytes than the provider takes.
    Body,
    /// There are more pictures than the provider takes.
    Media,
    /// The conversation is larger than the context window.
    Window,
    /// The strategy said so, or has no opinion where there is no trigger.
    Strategy,
    /// The provider refused the request as too long.
    Overflow,
    /// Somebody asked for it.
    Manual,
}

impl Pressure {
    /// Whether the next request would be refused, so that the strategy has no veto.
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(
            self,
            Self::Window | Self::Overflow | Self::Media | Self::Body
        )
    }
}

/// The host's own view, where the newest compaction left so much. It costs the same for a
/// conversation of any length.
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
        (Pressure::Media, conversation.media() > limits.pictures),
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
