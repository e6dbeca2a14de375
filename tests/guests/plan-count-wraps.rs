//! Keeps a span whose end, counted in 32 bits, is the end of the conversation.
//!
//! The plan is invalid, and the sum must not wrap.

use hostile_guests::{Failure, Hostile, Report, Situation, compacted, history, hostile, keep};

struct PlanCountWraps;

impl Hostile for PlanCountWraps {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units().len() as u32;
        compacted(vec![keep(units + 1, u32::MAX)])
    }
}

hostile!(PlanCountWraps);
