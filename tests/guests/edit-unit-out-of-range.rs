//! Rewrites a unit that the conversation does not have.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Piece, Report, Rewrite, Situation, compacted, history, hostile, polite_pieces,
};

struct EditUnitOutOfRange;

impl Hostile for EditUnitOutOfRange {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        pieces.push(Piece::Rewrite(Rewrite {
            unit: u32::MAX,
            edits: Vec::new(),
        }));
        compacted(pieces)
    }
}

hostile!(EditUnitOutOfRange);
