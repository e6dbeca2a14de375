//! Divides by zero, which Rust would check; so it is the machine that does it.
//!
//! A trap of its own kind.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct DivideByZero;

impl Hostile for DivideByZero {
    fn compact(situation: Situation, _: String) -> Result<Report, Failure> {
        let zero = black_box(0u32);
        // SAFETY: it is not; that is the attack. It takes away Rust's own check.
        unsafe { core::hint::assert_unchecked(zero != 0) };
        unchanged((situation.used / zero).to_string())
    }
}

hostile!(DivideByZero);
