//! Keeps a span whose end, counted in 32 bits, is the end of the conversation.
//!
//! The plan is invalid, and the sum must not wrap.

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, compacted, hostile, keep};

struct PlanCountWraps;

impl Hostile for PlanCountWraps {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let units = conversation.units().len() as u32;
        compacted(vec![keep(units + 1, u32::MAX)])
    }
}

hostile!(PlanCountWraps);
