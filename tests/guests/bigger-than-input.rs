//! Keeps all there is and adds more.
//!
//! A result that is not smaller is none.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, keep_where, note,
};

struct BiggerThanInput;

impl Hostile for BiggerThanInput {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = keep_where(&history::units(), |_, _| true);
        pieces.push(note(&"more and more ".repeat(30_000)));
        compacted(pieces)
    }
}

hostile!(BiggerThanInput);
