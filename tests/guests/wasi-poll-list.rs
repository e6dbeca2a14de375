//! Waits for the same clock five million times in one list.
//!
//! The list is larger than what a call may pass to the host.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};
use wasip2::clocks::monotonic_clock;
use wasip2::io::poll;

struct PollList;

impl Hostile for PollList {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let clock = monotonic_clock::subscribe_instant(0);
        let list = vec![&clock; 5_000_000];
        unchanged(format!("{} are ready", poll::poll(&list).len()))
    }
}

hostile!(PollList);
