//! Figures of a server, in the text form of Prometheus. Names of routes, statuses, outcomes and
//! codes; never a word of a conversation or of a strategy.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baler_host::{Outcome, Receipt};

/// Upper bounds of the classes of times, in seconds.
const SECONDS: [f64; 10] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 20.0, 60.0];

#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    requests: BTreeMap<(&'static str, u16), u64>,
    errors: BTreeMap<&'static str, u64>,
    times: BTreeMap<&'static str, Times>,
    outcomes: BTreeMap<&'static str, u64>,
    attempts: BTreeMap<&'static str, u64>,
    tokens: [u64; 2],
}

#[derive(Debug, Default)]
struct Times {
    classes: [u64; SECONDS.len()],
    count: u64,
    sum: f64,
}

impl Metrics {
    pub(crate) fn answered(&self, route: &'static str, status: u16, time: Duration) {
        let mut counts = self.lock();
        *counts.requests.entry((route, status)).or_default() += 1;
        let times = counts.times.entry(route).or_default();
        let seconds = time.as_secs_f64();
        for (class, bound) in times.classes.iter_mut().zip(SECONDS) {
            *class += u64::from(seconds <= bound);
        }
        times.count += 1;
        times.sum += seconds;
    }

    /// A request got an error of this code.
    pub(crate) fn refused(&self, code: &'static str) {
        *self.lock().errors.entry(code).or_default() += 1;
    }

    pub(crate) fn compacted(&self, receipt: &Receipt) {
        let mut counts = self.lock();
        let outcome = match receipt.outcome {
            Outcome::Compacted if receipt.fell_back => "compacted-by-fallback",
            Outcome::Compacted => "compacted",
            Outcome::Repaired(_) => "repaired",
            _ => "unchanged",
        };
        *counts.outcomes.entry(outcome).or_default() += 1;
        for attempt in &receipt.attempts {
            *counts.attempts.entry(attempt.result.code()).or_default() += 1;
        }
        counts.tokens[0] += u64::from(receipt.tokens.before);
        counts.tokens[1] += u64::from(receipt.tokens.after);
    }

    /// All of them. `gauges` are what is true now: name, what it is, value.
    pub(crate) fn text(&self, gauges: &[(&str, &str, usize)]) -> String {
        let counts = self.lock();
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(
            &mut text,
            "baler_requests_total",
            "counter",
            "Requests that were answered.",
        );
        for ((route, status), count) in &counts.requests {
            let _ = writeln!(
                text,
                "baler_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        head(
            &mut text,
            "baler_errors_total",
            "counter",
            "Requests that got an error, by its code.",
        );
        for (code, count) in &counts.errors {
            let _ = writeln!(text, "baler_errors_total{{code=\"{code}\"}} {count}");
        }
        let name = "baler_request_seconds";
        head(
            &mut text,
            name,
            "histogram",
            "Time until the answer, reading the body included.",
        );
        for (route, times) in &counts.times {
            for (class, bound) in times.classes.iter().zip(SECONDS) {
                let _ = writeln!(
                    text,
                    "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {class}"
                );
            }
            let count = times.count;
            let _ = writeln!(
                text,
                "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}"
            );
            let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {}", times.sum);
            let _ = writeln!(text, "{name}_count{{route=\"{route}\"}} {count}");
        }
        head(
            &mut text,
            "baler_compactions_total",
            "counter",
            "What came of compactions.",
        );
        for (outcome, count) in &counts.outcomes {
            let _ = writeln!(
                text,
                "baler_compactions_total{{outcome=\"{outcome}\"}} {count}"
            );
        }
        head(
            &mut text,
            "baler_attempts_total",
            "counter",
            "What came of strategies' turns.",
        );
        for (result, count) in &counts.attempts {
            let _ = writeln!(text, "baler_attempts_total{{result=\"{result}\"}} {count}");
        }
        head(
            &mut text,
            "baler_tokens_total",
            "counter",
            "Tokens of conversations.",
        );
        for (when, tokens) in ["before", "after"].iter().zip(counts.tokens) {
            let _ = writeln!(text, "baler_tokens_total{{when=\"{when}\"}} {tokens}");
        }
        for (name, help, value) in gauges {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
