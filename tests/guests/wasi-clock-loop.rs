//! Waits for an hour by looking at the clock.
//!
//! The clock advances by each look and not with time, so no hour passes: the number of looks, or the
//! time of the call, ends it.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};
use wasip2::clocks::monotonic_clock;

struct ClockLoop;

impl Hostile for ClockLoop {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let end = monotonic_clock::now() + 3_600_000_000_000;
        while monotonic_clock::now() < end {}
        unchanged("an hour is over".to_owned())
    }
}

hostile!(ClockLoop);
