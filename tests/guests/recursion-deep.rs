//! Calls itself until the stack ends.
//!
//! The host's stack is not the guest's: the call ends as a fault, and the program goes on.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct RecursionDeep;

impl Hostile for RecursionDeep {
    fn compact(situation: Situation, _: String) -> Result<Report, Failure> {
        unchanged(deeper(situation.used).to_string())
    }
}

#[inline(never)]
fn deeper(depth: u32) -> u32 {
    if black_box(depth) == u32::MAX {
        return depth;
    }
    // What follows the call keeps it from becoming a loop.
    deeper(depth.wrapping_add(1) & 0xffff) ^ black_box(1)
}

hostile!(RecursionDeep);
