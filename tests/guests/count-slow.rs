//! Has the tokens of one long word counted, again and again: text on which a careless tokenizer takes
//! time with the square of its length.
//!
//! Counting takes time with the length, and the time of the call covers it.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, polite_report, tokenizer};

struct CountSlow;

impl Hostile for CountSlow {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let word = "a".repeat(512 << 10);
        let mut tokens = 0u32;
        for _ in 0..200 {
            tokens = tokens.wrapping_add(tokenizer::count(black_box(&word)));
        }
        black_box(tokens);
        polite_report()
    }
}

hostile!(CountSlow);
