//! Sleeps for an hour.
//!
//! It uses no fuel meanwhile: the time of the call ends it.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};
use wasip2::clocks::monotonic_clock;

struct Sleeps;

impl Hostile for Sleeps {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        monotonic_clock::subscribe_duration(3_600_000_000_000).block();
        unchanged("an hour is over".to_owned())
    }
}

hostile!(Sleeps);
