//! Asks WASI for as many random bytes as a number can say.
//!
//! The host would have to hold them all: it ends the call instead.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct AsksForAllRandom;

impl Hostile for AsksForAllRandom {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        black_box(wasip2::random::random::get_random_bytes(u64::MAX));
        unchanged("the host had them".to_owned())
    }
}

hostile!(AsksForAllRandom);
