//! The result of a compaction.

use baler_conversation::Conversation;

use crate::plan::{Fate, Plan};
use crate::receipt::{Outcome, Receipt};

/// What came of a request: a conversation, and the receipt.
#[derive(Debug)]
pub struct Compaction {
    pub(crate) conversation: Conversation,
    pub(crate) fates: Vec<Fate>,
    pub(crate) protected: Vec<bool>,
    pub(crate) insertions: Vec<usize>,
    /// For each unit that came in, the message of the result that it begins with.
    pub(crate) places: Vec<Option<usize>>,
    pub(crate) receipt: Receipt,
    /// Whether thinking goes from what stands behind a change of this conversation.
    pub(crate) drops_thinking: bool,
    /// The plan that was carried out, as its strategy made it; none where none was.
    pub(crate) plan: Option<Plan>,
}

impl Compaction {
    /// The message of the result with which a unit of the conversation that came in begins; none
    /// where nothing of it is left.
    pub(crate) fn place_of(&self, unit: usize) -> Option<usize> {
        self.places.get(unit).copied().flatten()
    }

    /// Whether thinking goes from what comes to stand behind the result, which was made behind the
    /// conversation that came in.
    pub(crate) const fn drops_thinking(&self) -> bool {
        self.drops_thinking
    }

    pub(crate) fn into_plan(self) -> Option<Plan> {
        self.plan
    }

    /// The document: the new one, or the one that was handed in, byte for byte.
    #[must_use]
    pub fn document(&self) -> &str {
        self.conversation.document()
    }

    /// The document as a conversation, already read and counted.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// What was done, and why.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// What became of each unit of the conversation that came in.
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// Which units of the conversation that came in had to stay.
    #[must_use]
    pub fn protected(&self) -> &[bool] {
        &self.protected
    }

    /// Where texts were inserted: each before this unit of the conversation that came in.
    #[must_use]
    pub fn insertions(&self) -> &[usize] {
        &self.insertions
    }

    /// Whether the document is smaller than the one that was handed in. One that was repaired
    /// and not compacted is not.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        self.receipt.outcome == Outcome::Compacted
    }
}
