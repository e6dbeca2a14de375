//! Decides by random numbers, clocks and addresses what it keeps.
//!
//! All of them are the same in each call, and so is its plan.

use hostile_guests::{Failure, Hostile, Metric, Report, Situation, Value, hostile, polite_report};
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::random::{insecure, insecure_seed, random};

struct ThrowsDice;

impl Hostile for ThrowsDice {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut report = polite_report()?;
        let seed = insecure_seed::insecure_seed();
        let now = wall_clock::now();
        let thrown = [
            random::get_random_u64(),
            insecure::get_insecure_random_u64(),
            seed.0,
            seed.1,
            now.seconds,
            u64::from(now.nanoseconds),
            monotonic_clock::now(),
            u64::from(random::get_random_bytes(7)[6]),
        ];
        let thrown = thrown
            .iter()
            .fold(0u64, |all, one| all.rotate_left(7) ^ one);
        report.metrics.push(Metric {
            name: "removed".to_owned(),
            value: Value::Count(thrown as u32),
        });
        Ok(report)
    }
}

hostile!(ThrowsDice);
