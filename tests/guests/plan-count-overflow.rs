//! Keeps a span whose end does not fit in 32 bits.
//!
//! The plan is invalid, and the sum must not wrap or crash.

use hostile_guests::{Failure, Hostile, Report, Situation, compacted, hostile, keep};

struct PlanCountOverflow;

impl Hostile for PlanCountOverflow {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        compacted(vec![keep(u32::MAX, u32::MAX)])
    }
}

hostile!(PlanCountOverflow);
