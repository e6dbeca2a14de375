//! Keeps a span of no units.
//!
//! The plan is invalid, as the contract says.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, keep, polite_pieces,
};

struct PlanEmptySpan;

impl Hostile for PlanEmptySpan {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        pieces.insert(0, keep(0, 0));
        compacted(pieces)
    }
}

hostile!(PlanEmptySpan);
