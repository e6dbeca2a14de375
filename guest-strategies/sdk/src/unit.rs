use crate::bindings::baler::compaction::history::Figures;
use crate::{Traits, UnitKind};

/// The smallest run of messages that is kept or removed together. A plan names a unit by its index in
/// [`Conversation::units`](crate::Conversation::units).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// What the unit is.
    pub kind: UnitKind,
    /// What the host knows about the unit.
    pub traits: Traits,
    /// The turn of the unit: 0 before the first user message, and one more from each user message on.
    pub turn: u32,
    /// Number of messages in the unit, at least 1.
    pub messages: u32,
    /// Tokens that the unit costs in the request. Those of units of kind `Instructions` are also part of
    /// [`Situation::overhead`](crate::Situation::overhead). For a unit that the host may shorten: its size
    /// as the host will write it if all protected units would not fit otherwise, or leave too little for others.
    pub tokens: u32,
    /// Tokens of the unit's shortest legal form, which [`Situation::floor`](crate::Situation::floor) counts.
    /// Fewer than `tokens` only if the host may shorten the unit: an unseen one, or a user message that is protected
    /// only by default.
    pub shortest: u32,
    /// Size of the unit in the wire format, in bytes.
    pub bytes: u32,
    /// Number of pictures, documents and similar files in the unit.
    pub media: u32,
}

impl Unit {
    /// Makes units of the lists that the host hands over.
    #[doc(hidden)]
    pub fn all(figures: &Figures) -> Vec<Self> {
        let Figures {
            kinds,
            traits,
            turns,
            messages,
            tokens,
            shortest,
            bytes,
            media,
        } = figures;
        // All lists have the same length. Said so once, it is not checked for each figure.
        let units = kinds.len();
        let [turns, messages, tokens, shortest, bytes, media] =
            [turns, messages, tokens, shortest, bytes, media].map(|figure| &figure[..units]);
        let traits = &traits[..units];
        (0..units)
            .map(|unit| Self {
                kind: kinds[unit],
                traits: traits[unit],
                turn: turns[unit],
                messages: messages[unit],
                tokens: tokens[unit],
                shortest: shortest[unit],
                bytes: bytes[unit],
                media: media[unit],
            })
            .collect()
    }
}
