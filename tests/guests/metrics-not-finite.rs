//! Reports figures that are no numbers, under names with control characters and of 100 kB.
//!
//! What is written is valid JSON, and what is shown to a person has no control characters.

use core::hint::black_box;

use hostile_guests::{
    Failure, Hostile, Metric, Outcome, Plan, Report, Situation, Value, history, hostile,
    polite_pieces,
};

struct MetricsNotFinite;

impl Hostile for MetricsNotFinite {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let names = [
            "removed",
            "",
            "a\nb",
            "\u{1b}[2J",
            "\"},{\"",
            "removed",
            "../../x",
            "\u{202e}",
        ];
        let values = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            f64::MAX,
            f64::MIN_POSITIVE / 2.0,
            1e300,
            -f64::NAN,
        ];
        let mut metrics: Vec<Metric> = names
            .into_iter()
            .zip(values)
            .map(|(name, value)| Metric {
                name: name.to_owned(),
                value: Value::Ratio(black_box(value)),
            })
            .collect();
        metrics.push(Metric {
            name: "x".repeat(100_000),
            value: Value::Text("\0".repeat(100_000)),
        });
        Ok(Report {
            outcome: Outcome::Compacted(Plan {
                pieces: polite_pieces(&history::units()),
                reasons: Vec::new(),
            }),
            metrics,
        })
    }
}

hostile!(MetricsNotFinite);
