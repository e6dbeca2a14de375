//! Inserts a short text 20,000 times: few enough bytes to be copied.
//!
//! The host bounds the pieces of a plan, and the result must fit the budget.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, note, polite_pieces,
};

struct PlanManyPieces;

impl Hostile for PlanManyPieces {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        pieces.extend((0..20_000).map(|_| note("and")));
        compacted(pieces)
    }
}

hostile!(PlanManyPieces);
