//! Asks WASI for random bytes without end.
//!
//! Each question is a call of the host: their number, or the time, ends it.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct RandomFlood;

impl Hostile for RandomFlood {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        loop {
            black_box(wasip2::random::random::get_random_bytes(4096));
            black_box(wasip2::random::insecure::get_insecure_random_u64());
        }
    }
}

hostile!(RandomFlood);
