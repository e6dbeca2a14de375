//! Inserts an empty text, and one of blanks. Providers refuse empty messages.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, note, polite_pieces,
};

struct InsertEmpty;

impl Hostile for InsertEmpty {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        pieces.insert(0, note(" \n\t"));
        pieces.insert(0, note(""));
        compacted(pieces)
    }
}

hostile!(InsertEmpty);
