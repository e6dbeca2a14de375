//! Measures real time by sleeps: it starts many of them, works, and counts how many are over.
//!
//! All of them are over at once, however long it worked: the metric is the same each time.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Metric, Report, Situation, Value, hostile, polite_report};
use wasip2::clocks::monotonic_clock;

struct Stopwatch;

impl Hostile for Stopwatch {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let rungs: Vec<_> = (0..400)
            .map(|step| monotonic_clock::subscribe_duration(step * 100_000))
            .collect();
        let mut work = 1u64;
        for round in 0..3_000_000u64 {
            work = black_box(work.wrapping_mul(round | 1));
        }
        let over = rungs.iter().filter(|rung| rung.ready()).count();
        let mut report = polite_report()?;
        report.metrics.push(Metric {
            name: "removed".to_owned(),
            value: Value::Count(over as u32),
        });
        Ok(report)
    }
}

hostile!(Stopwatch);
