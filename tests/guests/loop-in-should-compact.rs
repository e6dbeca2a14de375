//! Never returns from `should-compact`, which a host may call before every request.
//!
//! The limits hold for this call as for any other, and the request goes on without an answer.

use core::hint::black_box;

use hostile_guests::{Decision, Failure, Hostile, Situation, hostile};

struct LoopInShouldCompact;

impl Hostile for LoopInShouldCompact {
    fn should_compact(_: Situation, _: String) -> Result<Decision, Failure> {
        let mut turns = 0u64;
        loop {
            turns = black_box(turns.wrapping_add(1));
        }
    }
}

hostile!(LoopInShouldCompact);
