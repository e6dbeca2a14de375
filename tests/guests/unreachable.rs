//! Executes `unreachable`.
//!
//! A trap.

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, hostile};

struct Unreachable;

impl Hostile for Unreachable {
    fn compact(_: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        core::arch::wasm32::unreachable()
    }
}

hostile!(Unreachable);
