//! Writes 100,000 log lines of 1 KiB, with control characters in them, and answers well.
//!
//! The host keeps so much of it as its limit says, counts the rest, and goes on.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, log, polite_report};

struct LogFlood;

impl Hostile for LogFlood {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let line = "\u{1b}[31mall\nwell\r\n".repeat(64);
        for _ in 0..100_000 {
            log::emit(log::Level::Error, &line);
        }
        polite_report()
    }
}

hostile!(LogFlood);
