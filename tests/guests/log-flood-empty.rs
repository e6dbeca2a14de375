//! Writes 900,000 empty log lines. They have no bytes, so a bound on bytes alone never ends them.
//!
//! The host bounds what it keeps of a log, lines included.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, log, polite_report};

struct LogFloodEmpty;

impl Hostile for LogFloodEmpty {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        for _ in 0..900_000 {
            log::emit(log::Level::Debug, "");
        }
        polite_report()
    }
}

hostile!(LogFloodEmpty);
