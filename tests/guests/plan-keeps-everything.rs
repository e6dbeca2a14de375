//! Keeps all there is and calls it a compaction.
//!
//! No progress: the next strategy of the chain runs.

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, compacted, hostile, keep};

struct PlanKeepsEverything;

impl Hostile for PlanKeepsEverything {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        compacted(vec![keep(0, conversation.units().len() as u32)])
    }
}

hostile!(PlanKeepsEverything);
