//! Never returns from `compact`.
//!
//! The host ends it when its fuel or its time is used up, whichever comes first.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct LoopForever;

impl Hostile for LoopForever {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut turns = 0u64;
        loop {
            turns = black_box(turns.wrapping_add(1));
        }
    }
}

hostile!(LoopForever);
