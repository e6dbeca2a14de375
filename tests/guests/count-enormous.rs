//! Has the tokens of 30 MiB of text counted.
//!
//! The host bounds what it copies out of a guest, before it copies.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, tokenizer, unchanged};

struct CountEnormous;

impl Hostile for CountEnormous {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let tokens = tokenizer::count(&"word ".repeat((30 << 20) / 5));
        unchanged(tokens.to_string())
    }
}

hostile!(CountEnormous);
