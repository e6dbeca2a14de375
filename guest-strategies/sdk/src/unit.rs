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
    /// [`Situation::overhead`](crate::Situation::overhead). For an unseen unit: its size as the host will write
    /// it if all protected units would not fit otherwise.
    pub tokens: u32,
    /// Tokens of the unit's shortest legal form, which [`Situation::floor`](crate::Situation::floor) counts.
    /// Only an unseen unit has fewer than `tokens`.
    pub shortest: u32,
    /// Size of the unit in the wire format, in bytes.
    pub bytes: u32,
    /// Number of pictures, documents and similar files in the unit.
    pub media: u32,
}

impl Unit {
    /// Makes units of the lists that the host hands over.
    pub(crate) fn all(figures: &Figures) -> Vec<Self> {
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
        let texts = turns.iter().zip(messages).zip(tokens).zip(shortest);
        let sizes = bytes.iter().zip(media);
        let own = kinds.iter().zip(traits);
        own.zip(texts)
            .zip(sizes)
            .map(
                |(((kind, traits), (((turn, messages), tokens), shortest)), (bytes, media))| Self {
                    kind: *kind,
                    traits: *traits,
                    turn: *turn,
                    messages: *messages,
                    tokens: *tokens,
                    shortest: *shortest,
                    bytes: *bytes,
                    media: *media,
                },
            )
            .collect()
    }
}
