//! Writes one log line of 30 MiB.
//!
//! The host bounds what it copies out of a guest, before it copies.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, log, polite_report};

struct LogLineEnormous;

impl Hostile for LogLineEnormous {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        log::emit(log::Level::Info, &"all is well ".repeat((30 << 20) / 12));
        polite_report()
    }
}

hostile!(LogLineEnormous);
