//! Keeps a span of no units.
//!
//! The plan is invalid, as the contract says.

use hostile_guests::{
    Conversation, Failure, Hostile, Report, Situation, compacted, hostile, keep, polite_pieces,
};

struct PlanEmptySpan;

impl Hostile for PlanEmptySpan {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&conversation.units());
        pieces.insert(0, keep(0, 0));
        compacted(pieces)
    }
}

hostile!(PlanEmptySpan);
