//! Executes `unreachable`.
//!
//! A trap.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct Unreachable;

impl Hostile for Unreachable {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        core::arch::wasm32::unreachable()
    }
}

hostile!(Unreachable);
