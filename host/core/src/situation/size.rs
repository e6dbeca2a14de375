//! Sizes in all dimensions that have a limit.

use baler_conversation::Conversation;

use crate::fault::Quantity;

/// A size, or the largest size that something may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) tokens: u32,
    /// Bytes of the document.
    pub(crate) bytes: usize,
    /// Number of pictures, documents and the like.
    pub(crate) media: u32,
}

impl Size {
    /// Returns the size of a conversation.
    pub(super) fn of(conversation: &Conversation) -> Self {
        Self {
            tokens: conversation.tokens(),
            bytes: conversation.bytes(),
            media: conversation.media(),
        }
    }

    /// Returns this percentage of it, rounded down.
    pub(super) fn percent(self, percent: u8) -> Self {
        let share = |size: u64| (u128::from(size) * u128::from(percent) / 100) as u64;
        Self {
            tokens: u32::try_from(share(self.tokens.into())).unwrap_or(self.tokens),
            bytes: to_usize(share(self.bytes as u64)),
            media: u32::try_from(share(self.media.into())).unwrap_or(self.media),
        }
    }

    /// Returns what is left of it without `part`; `None` if `part` does not fit.
    pub(super) fn without(self, part: Self) -> Option<Self> {
        Some(Self {
            tokens: self.tokens.checked_sub(part.tokens)?,
            bytes: self.bytes.checked_sub(part.bytes)?,
            media: self.media.checked_sub(part.media)?,
        })
    }

    /// Returns what is left of it beside `part`: nothing of what `part` has too much of.
    pub(super) fn beside(self, part: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(part.tokens),
            bytes: self.bytes.saturating_sub(part.bytes),
            media: self.media.saturating_sub(part.media),
        }
    }

    /// Returns whether it is a limit that `size` does not exceed.
    pub(super) fn admits(self, size: Self) -> bool {
        self.is_below(size).next().is_none()
    }

    /// Returns in what it is less than `other`.
    pub(super) fn is_below(self, other: Self) -> impl Iterator<Item = Quantity> {
        [
            (Quantity::Tokens, self.tokens < other.tokens),
            (Quantity::Bytes, self.bytes < other.bytes),
            (Quantity::Media, self.media < other.media),
        ]
        .into_iter()
        .filter_map(|(what, is_below)| is_below.then_some(what))
    }
}

pub(super) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
