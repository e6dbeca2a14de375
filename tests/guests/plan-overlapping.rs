//! Keeps units twice.
//!
//! The plan is invalid: a call and its output would stand there twice, with the same id.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, keep, nothing_to_attack,
};

struct PlanOverlapping;

impl Hostile for PlanOverlapping {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units().len() as u32;
        if units == 0 {
            return nothing_to_attack();
        }
        compacted(vec![keep(0, units), keep(units - 1, 1)])
    }
}

hostile!(PlanOverlapping);
