//! Rewrites a unit that the conversation does not have.
//!
//! The plan is invalid.

use hostile_guests::{
    Conversation, Failure, Hostile, Piece, Report, Rewrite, Situation, compacted, hostile,
    polite_pieces,
};

struct EditUnitOutOfRange;

impl Hostile for EditUnitOutOfRange {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&conversation.units());
        pieces.push(Piece::Rewrite(Rewrite {
            unit: u32::MAX,
            edits: Vec::new(),
        }));
        compacted(pieces)
    }
}

hostile!(EditUnitOutOfRange);
