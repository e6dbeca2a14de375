//! Makes pollables without end and keeps them all.
//!
//! The host holds each of them, and limits how many it holds for one call.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};
use wasip2::clocks::monotonic_clock;

struct HandleFlood;

impl Hostile for HandleFlood {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut kept = Vec::new();
        for _ in 0..1_000_000 {
            kept.push(monotonic_clock::subscribe_instant(u64::MAX));
        }
        unchanged(format!("{} pollables", kept.len()))
    }
}

hostile!(HandleFlood);
