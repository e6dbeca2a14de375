//! Keeps units twice.
//!
//! The plan is invalid: a call and its output would stand there twice, with the same id.

use hostile_guests::{
    Conversation, Failure, Hostile, Report, Situation, compacted, hostile, keep, nothing_to_attack,
};

struct PlanOverlapping;

impl Hostile for PlanOverlapping {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let units = conversation.units().len() as u32;
        if units == 0 {
            return nothing_to_attack();
        }
        compacted(vec![keep(0, units), keep(units - 1, 1)])
    }
}

hostile!(PlanOverlapping);
