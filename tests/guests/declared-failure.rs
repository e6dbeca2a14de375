//! Reports a failure with a message of 1 MB that is full of control characters.
//!
//! A declared failure, not a fault. The message is bounded, and shown without control characters.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct DeclaredFailure;

impl Hostile for DeclaredFailure {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        Err(Failure::Other(
            "\u{1b}[2J\u{1b}]0;owned\u{7}\r\n\u{202e}\0".repeat(50_000),
        ))
    }
}

hostile!(DeclaredFailure);
