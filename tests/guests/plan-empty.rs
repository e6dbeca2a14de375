//! A plan without pieces: nothing is left.
//!
//! The plan is invalid wherever a unit is protected, and a conversation without messages is never the
//! result.

use hostile_guests::{Failure, Hostile, Report, Situation, compacted, hostile};

struct PlanEmpty;

impl Hostile for PlanEmpty {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        compacted(Vec::new())
    }
}

hostile!(PlanEmpty);
