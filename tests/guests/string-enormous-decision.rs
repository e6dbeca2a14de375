//! Answers `should-compact` with 32 MiB of reasons.
//!
//! The bound holds for every export.

use hostile_guests::{Decision, Failure, Hostile, Situation, hostile};

struct StringEnormousDecision;

impl Hostile for StringEnormousDecision {
    fn should_compact(_: Situation, _: String) -> Result<Decision, Failure> {
        Ok(Decision::Wait("wait ".repeat((32 << 20) / 5)))
    }
}

hostile!(StringEnormousDecision);
