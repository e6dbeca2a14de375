//! Reports 700,000 metrics.
//!
//! The host bounds what it copies out of a guest, before it copies.

use hostile_guests::{Failure, Hostile, Metric, Outcome, Report, Situation, Value, hostile};

struct ListEnormous;

impl Hostile for ListEnormous {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let metrics = (0..700_000)
            .map(|number| Metric {
                name: String::new(),
                value: Value::Count(number),
            })
            .collect();
        Ok(Report {
            outcome: Outcome::Unchanged(String::new()),
            metrics,
        })
    }
}

hostile!(ListEnormous);
