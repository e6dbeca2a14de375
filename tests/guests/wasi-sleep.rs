//! Sleeps for an hour, again and again.
//!
//! No sleep takes time, so that no time can be measured by one: the number of sleeps, or the time of the call, ends it.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};
use wasip2::clocks::monotonic_clock;

struct Sleeps;

impl Hostile for Sleeps {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        loop {
            monotonic_clock::subscribe_duration(3_600_000_000_000).block();
        }
    }
}

hostile!(Sleeps);
