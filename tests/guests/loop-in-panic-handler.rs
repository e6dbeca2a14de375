//! Panics, and its panic hook never returns.
//!
//! To the host this is a loop like any other.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct LoopInPanicHandler;

impl Hostile for LoopInPanicHandler {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        std::panic::set_hook(Box::new(|_| {
            let mut turns = 0u64;
            loop {
                turns = black_box(turns.wrapping_add(1));
            }
        }));
        panic!("the hook does not return")
    }
}

hostile!(LoopInPanicHandler);
