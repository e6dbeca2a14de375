//! Keeps one unit more than the conversation has.
//!
//! The plan is invalid; it is not cut to fit.

use hostile_guests::{Failure, Hostile, Report, Situation, compacted, history, hostile, keep};

struct PlanPastTheEnd;

impl Hostile for PlanPastTheEnd {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        compacted(vec![keep(0, history::units().len() as u32 + 1)])
    }
}

hostile!(PlanPastTheEnd);
