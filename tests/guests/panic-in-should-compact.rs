//! Panics in `should-compact`.
//!
//! The request goes on, and the fault is counted.

use hostile_guests::{Decision, Failure, Hostile, Situation, hostile};

struct PanicInShouldCompact;

impl Hostile for PanicInShouldCompact {
    fn should_compact(_: Situation, _: String) -> Result<Decision, Failure> {
        panic!("it is time")
    }
}

hostile!(PanicInShouldCompact);
