//! Takes memory until it is refused, and uses it.
//!
//! The host's memory limit ends it or refuses; refused, the guest aborts. Either way it is the limit
//! that was met, and the host says so.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct MemoryBomb;

impl Hostile for MemoryBomb {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut taken = Vec::new();
        loop {
            taken.push(black_box(vec![1u8; 1 << 20]));
        }
    }
}

hostile!(MemoryBomb);
