//! The result of a compaction.

use baler_conversation::Conversation;

use crate::changes::Changes;
use crate::plan::Plan;
use crate::receipt::{Outcome, Receipt};

/// What came of a request: a conversation, and the receipt.
#[derive(Debug)]
pub struct Compaction {
    pub(crate) conversation: Conversation,
    pub(crate) changes: Changes,
    pub(crate) receipt: Receipt,
    /// Whether thinking goes from what stands behind a change of this conversation.
    pub(crate) drops_thinking: bool,
    /// The plan that was carried out, as its strategy made it; none where none was.
    pub(crate) plan: Option<Plan>,
}

impl Compaction {
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

    /// Returns what was kept, changed, removed and inserted, by index.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Whether the document is smaller than the one that was handed in. One that was repaired
    /// and not compacted is not.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        self.receipt.outcome == Outcome::Compacted
    }
}
