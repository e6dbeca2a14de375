//! Keeps units that the conversation does not have.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, keep, polite_pieces,
};

struct PlanOutOfRange;

impl Hostile for PlanOutOfRange {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        pieces.push(keep(u32::MAX - 1, 1));
        compacted(pieces)
    }
}

hostile!(PlanOutOfRange);
