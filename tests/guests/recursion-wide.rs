//! Calls itself with so much on its stack that the part of the stack which lies in the guest's own
//! memory ends first.
//!
//! To the host this is an access outside the memory.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct RecursionWide;

impl Hostile for RecursionWide {
    fn compact(situation: Situation, _: String) -> Result<Report, Failure> {
        unchanged(wider(situation.used).to_string())
    }
}

#[inline(never)]
fn wider(depth: u32) -> u32 {
    if black_box(depth) == u32::MAX {
        return depth;
    }
    let mut room = [depth; 4096];
    black_box(&mut room);
    wider(room[7].wrapping_add(1) & 0xffff) ^ black_box(&room)[9]
}

hostile!(RecursionWide);
