//! Metrics of a server, in Prometheus' text format. They hold names of routes, statuses, outcomes and
//! codes, never text of a conversation or of a strategy.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baler_host::{Receipt, receipt::Outcome};

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 10] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 20.0, 60.0];

/// The counters of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Responses by route and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    /// Errors by code.
    errors: BTreeMap<&'static str, u64>,
    /// Response times by route.
    times: BTreeMap<&'static str, Histogram>,
    /// Compactions by outcome.
    outcomes: BTreeMap<&'static str, u64>,
    /// Calls of strategies by result.
    attempts: BTreeMap<&'static str, u64>,
    /// Tokens before and after compaction.
    tokens: [u64; 2],
}

#[derive(Debug, Default)]
struct Histogram {
    /// Cumulative: each bucket includes all shorter times.
    buckets: [u64; BUCKETS.len()],
    count: u64,
    /// Seconds.
    sum: f64,
}

impl Metrics {
    /// Counts a response with its status and time.
    pub(crate) fn record_response(&self, route: &'static str, status: u16, time: Duration) {
        let mut counts = self.lock();
        *counts.requests.entry((route, status)).or_default() += 1;
        let histogram = counts.times.entry(route).or_default();
        let seconds = time.as_secs_f64();
        for (bucket, bound) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
        histogram.count += 1;
        histogram.sum += seconds;
    }

    /// Counts an error response by its code.
    pub(crate) fn record_error(&self, code: &'static str) {
        *self.lock().errors.entry(code).or_default() += 1;
    }

    /// Counts a compaction: its outcome, the results of its strategies, and its tokens.
    pub(crate) fn record_compaction(&self, receipt: &Receipt) {
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

    /// Returns all metrics as text. Each of `gauges` has a name, a description and a current value.
    pub(crate) fn to_prometheus(&self, gauges: &[(&str, &str, usize)]) -> String {
        let counts = self.lock();
        let mut text = String::new();
        write_requests(&mut text, &counts);
        write_times(&mut text, &counts);
        write_compactions(&mut text, &counts);
        for (name, help, value) in gauges {
            write_header(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Writes a counter with one label.
fn write_counter<'a>(
    text: &mut String,
    name: &str,
    help: &str,
    label: &str,
    counts: impl IntoIterator<Item = (&'a &'static str, &'a u64)>,
) {
    write_header(text, name, "counter", help);
    for (value, count) in counts {
        let _ = writeln!(text, "{name}{{{label}=\"{value}\"}} {count}");
    }
}

fn write_requests(text: &mut String, counts: &Counts) {
    let name = "baler_requests_total";
    write_header(text, name, "counter", "Requests that were answered.");
    for ((route, status), count) in &counts.requests {
        let _ = writeln!(
            text,
            "{name}{{route=\"{route}\",status=\"{status}\"}} {count}"
        );
    }
    write_counter(
        text,
        "baler_errors_total",
        "Requests that were answered with an error, by its code.",
        "code",
        &counts.errors,
    );
}

fn write_times(text: &mut String, counts: &Counts) {
    let name = "baler_request_seconds";
    let help = "Time until the response, including the time to read the body.";
    write_header(text, name, "histogram", help);
    for (route, histogram) in &counts.times {
        let mut write_bucket = |bound: &dyn Display, count: u64| {
            let _ = writeln!(
                text,
                "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {count}"
            );
        };
        for (count, bound) in histogram.buckets.iter().zip(BUCKETS) {
            write_bucket(&bound, *count);
        }
        let count = histogram.count;
        write_bucket(&"+Inf", count);
        let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {}", histogram.sum);
        let _ = writeln!(text, "{name}_count{{route=\"{route}\"}} {count}");
    }
}

fn write_compactions(text: &mut String, counts: &Counts) {
    write_counter(
        text,
        "baler_compactions_total",
        "Compactions by outcome.",
        "outcome",
        &counts.outcomes,
    );
    write_counter(
        text,
        "baler_attempts_total",
        "Calls of strategies by result.",
        "result",
        &counts.attempts,
    );
    let name = "baler_tokens_total";
    let help = "Tokens of conversations before and after compaction.";
    write_header(text, name, "counter", help);
    for (when, tokens) in ["before", "after"].iter().zip(counts.tokens) {
        let _ = writeln!(text, "{name}{{when=\"{when}\"}} {tokens}");
    }
}
