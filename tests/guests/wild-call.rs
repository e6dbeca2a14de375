//! Calls a function by a number that its table does not have.
//!
//! A trap.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct WildCall;

impl Hostile for WildCall {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        // SAFETY: it is not; that is the attack.
        let nothing: fn() = unsafe { core::mem::transmute(black_box(0x00ff_ffffusize)) };
        nothing();
        unchanged("")
    }
}

hostile!(WildCall);
