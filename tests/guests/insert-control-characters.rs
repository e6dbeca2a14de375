//! Inserts NUL, escape sequences of a terminal, line separators, text that turns its direction, and
//! characters that are none.
//!
//! What is written is valid JSON, and what is shown to a person has no control characters.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, note, polite_pieces,
};

struct InsertControlCharacters;

impl Hostile for InsertControlCharacters {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        let text = "\0\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{8}\u{85}\u{2028}\u{2029}\u{202e}\u{2066}\u{feff}\u{fffe}\u{10ffff}\"\\},{";
        pieces.insert(0, note(text));
        compacted(pieces)
    }
}

hostile!(InsertControlCharacters);
