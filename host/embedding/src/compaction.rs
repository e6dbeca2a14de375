//! The result of a compaction.

use baler_host::receipt::{Origin, UnitOutcome};

use crate::error::Error;

/// Where a message of a result comes from (`kept`, `changed` or `inserted`), its index among the messages before, and its
/// JSON unless it is kept.
pub type MessageOfResult<'a> = (&'static str, Option<usize>, Option<&'a str>);

/// The result of a compaction.
#[derive(Debug)]
pub struct Compaction(baler_host::Compaction);

impl From<baler_host::Compaction> for Compaction {
    fn from(made: baler_host::Compaction) -> Self {
        Self(made)
    }
}

impl Compaction {
    /// Whether the conversation became smaller.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        self.0.is_compacted()
    }

    /// The result, as JSON.
    #[must_use]
    pub fn document(&self) -> &str {
        self.0.document()
    }

    /// The receipt, as JSON.
    ///
    /// # Errors
    /// It cannot be written, which is a bug.
    pub fn receipt(&self) -> Result<String, Error> {
        serde_json::to_string(self.0.receipt()).map_err(|error| Error::host(error.to_string()))
    }

    /// The receipt.
    #[must_use]
    pub fn receipt_value(&self) -> serde_json::Value {
        serde_json::to_value(self.0.receipt()).unwrap_or_default()
    }

    /// The messages of the result, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<MessageOfResult<'_>> {
        let (conversation, document) = (self.0.conversation(), self.0.document());
        let places = conversation.message_places();
        let messages = self.0.changes().messages.iter().zip(places);
        messages
            .map(|(origin, place)| {
                let text = place.and_then(|place| document.get(place));
                match origin {
                    Origin::Kept(index) => ("kept", Some(*index), None),
                    Origin::Changed(index) => ("changed", Some(*index), text),
                    Origin::Inserted => ("inserted", None, text),
                }
            })
            .collect()
    }

    /// The outcome of each unit before: `kept`, `rewritten` or `removed`.
    #[must_use]
    pub fn units(&self) -> Vec<&'static str> {
        let units = self.0.changes().units.iter();
        units
            .map(|unit| match unit.outcome {
                UnitOutcome::Kept => "kept",
                UnitOutcome::Rewritten => "rewritten",
                UnitOutcome::Removed => "removed",
            })
            .collect()
    }
}
