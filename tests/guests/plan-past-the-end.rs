//! Keeps one unit more than the conversation has.
//!
//! The plan is invalid; it is not cut to fit.

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, compacted, hostile, keep};

struct PlanPastTheEnd;

impl Hostile for PlanPastTheEnd {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        compacted(vec![keep(0, conversation.units().len() as u32 + 1)])
    }
}

hostile!(PlanPastTheEnd);
