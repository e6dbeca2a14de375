//! The free budget of native strategies.

use baler_conversation::Unit;
use baler_digest::shares::INSERTION_BYTES;

use crate::situation::Situation;

/// What is free for units and text: tokens, bytes and media. Without a limit, bytes and media are at their
/// maximum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreeBudget {
    pub(crate) tokens: u32,
    pub(crate) bytes: usize,
    media: u32,
}

impl FreeBudget {
    /// Returns what the protected units leave of the budget.
    pub(crate) fn of(situation: &Situation) -> Self {
        let protected: Vec<bool> = situation.protected().collect();
        let mut free = Self {
            tokens: situation.left_without_text(&protected),
            bytes: situation.max_bytes_of_units(),
            media: situation.max_media,
        };
        for (index, unit) in situation.units().iter().enumerate() {
            if situation.is_protected(index) {
                free.bytes = free.bytes.saturating_sub(situation.bytes_of(index));
                free.media = free.media.saturating_sub(unit.media);
            }
        }
        free
    }

    /// Reserves the message and the mark of one inserted text; `None` if they do not fit.
    pub(crate) const fn without_insertion(self, situation: &Situation) -> Option<Self> {
        let (Some(tokens), Some(bytes)) = (
            self.tokens.checked_sub(situation.insertion_overhead),
            self.bytes.checked_sub(INSERTION_BYTES),
        ) else {
            return None;
        };
        Some(Self {
            tokens,
            bytes,
            ..self
        })
    }

    /// Subtracts what a unit needs, and returns whether it fits. If not, nothing changes.
    pub(crate) const fn take(&mut self, unit: &Unit) -> bool {
        if unit.tokens > self.tokens || unit.bytes > self.bytes || unit.media > self.media {
            return false;
        }
        self.tokens -= unit.tokens;
        self.bytes -= unit.bytes;
        self.media -= unit.media;
        true
    }

    /// Returns what a text of so many tokens and bytes leaves.
    pub(crate) const fn without_text(self, tokens: u32, bytes: usize) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(tokens),
            bytes: self.bytes.saturating_sub(bytes),
            ..self
        }
    }

    /// Reverses [`FreeBudget::without_text`], up to saturation.
    pub(crate) const fn with_text(self, tokens: u32, bytes: usize) -> Self {
        Self {
            tokens: self.tokens.saturating_add(tokens),
            bytes: self.bytes.saturating_add(bytes),
            ..self
        }
    }
}
