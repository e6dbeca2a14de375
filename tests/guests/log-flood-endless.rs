//! Writes log lines without end.
//!
//! Fuel does not charge what a host function does: time, and the count of host calls, end it.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, log};

struct LogFloodEndless;

impl Hostile for LogFloodEndless {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let line = "x".repeat(64 << 10);
        loop {
            log::emit(log::Level::Error, black_box(&line));
        }
    }
}

hostile!(LogFloodEndless);
