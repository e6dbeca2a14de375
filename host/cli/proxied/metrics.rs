//! Metrics of a proxy, in Prometheus' text format. They hold names of upstreams, counts and sizes, never text of a
//! conversation.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::header;
use axum::routing::get;
use baler_proxy::Exchange;

use super::Passed;

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 20.0];

/// The counters of a proxy.
#[derive(Debug)]
pub(crate) struct Metrics {
    passed: Passed,
    counts: Mutex<Counts>,
}

/// What [`Passed`] does not count.
#[derive(Debug, Default)]
struct Counts {
    /// Requests by upstream, what was done, and class of the status.
    requests: BTreeMap<(String, &'static str, u16), u64>,
    /// Requests by the time that baler added, each bucket with all shorter times.
    buckets: [u64; BUCKETS.len()],
    /// Microseconds that baler added to all requests.
    added_us: u64,
}

/// Returns what serves the metrics at `/metrics`.
pub(crate) fn router(metrics: Arc<Metrics>) -> Router {
    let kind = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    let text = move || async move { (kind, metrics.to_prometheus()) };
    Router::new().route("/metrics", get(text))
}

impl Metrics {
    /// Metrics of what passes, which somebody else counts.
    pub(super) fn new(passed: &Passed) -> Self {
        Self {
            passed: Arc::clone(passed),
            counts: Mutex::default(),
        }
    }

    /// Counts an exchange.
    pub(super) fn record(&self, exchange: &Exchange) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let action = match exchange.shadow {
            true => "shadow",
            false => exchange.action.name(),
        };
        let labels = (exchange.upstream.clone(), action, exchange.status / 100);
        *counts.requests.entry(labels).or_default() += 1;
        let seconds = exchange.added_us as f64 / 1e6;
        for (bucket, bound) in counts.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
        counts.added_us += exchange.added_us;
    }

    fn to_prometheus(&self) -> String {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = passed.clone();
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let name = "baler_proxy_requests_total";
        header_of(
            &mut text,
            name,
            "counter",
            "Requests with a conversation, by upstream, what was done with them, and class of the answer's status.",
        );
        for ((upstream, action, class), count) in &counts.requests {
            let _ = writeln!(
                text,
                "{name}{{upstream=\"{upstream}\",action=\"{action}\",status=\"{class}xx\"}} {count}"
            );
        }
        counter(
            &mut text,
            "baler_proxy_compactions_total",
            "Compactions; of a proxy that only observes, those that it would have made.",
            "",
            &[("", passed.compactions as u64)],
        );
        counter(
            &mut text,
            "baler_proxy_tokens_total",
            "Tokens of all requests as they came and as they went on, as baler counts them; of a proxy that only observes, as they would have.",
            "when",
            &[("came", passed.tokens_came), ("sent", passed.tokens_sent)],
        );
        counter(
            &mut text,
            "baler_proxy_usage_tokens_total",
            "Tokens as providers counted them: of prompts, by what their cache did, and of answers.",
            "kind",
            &[
                ("fresh", passed.usage.fresh),
                ("cached", passed.usage.cached),
                ("written", passed.usage.written),
                ("output", passed.usage.output),
            ],
        );
        let requests = counts.requests.values().sum();
        write_added(&mut text, &counts, requests);
        text
    }
}

fn header_of(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Writes a counter with one label, or with none if that is empty.
fn counter(text: &mut String, name: &str, help: &str, label: &str, counts: &[(&str, u64)]) {
    header_of(text, name, "counter", help);
    for (value, count) in counts {
        let _ = match label {
            "" => writeln!(text, "{name} {count}"),
            label => writeln!(text, "{name}{{{label}=\"{value}\"}} {count}"),
        };
    }
}

fn write_added(text: &mut String, counts: &Counts, requests: u64) {
    let name = "baler_proxy_added_seconds";
    let help = "Time that baler took before a request went on.";
    header_of(text, name, "histogram", help);
    let mut bucket = |bound: &dyn Display, count: u64| {
        let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
    };
    for (count, bound) in counts.buckets.iter().zip(BUCKETS) {
        bucket(&bound, *count);
    }
    bucket(&"+Inf", requests);
    let _ = writeln!(text, "{name}_sum {}", counts.added_us as f64 / 1e6);
    let _ = writeln!(text, "{name}_count {requests}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(status: u16, added_us: u64) -> Exchange {
        let exchange = json!({
            "time": 1, "session": "s", "run": null, "program": "p", "upstream": "anthropic", "format": "anthropic",
            "model": "m", "action": "compacted", "why": null, "shadow": false, "again": false, "messages": [9, 2],
            "tokens": [900, 200], "bytes": [9, 2], "added-us": added_us, "status": status,
            "usage": {"fresh": 1, "cached": 2, "written": 3, "output": 4}, "receipt": null,
        });
        serde_json::from_value(exchange).expect("an exchange")
    }

    #[test]
    fn exchanges_are_counted() {
        let passed = Passed::default();
        let metrics = Metrics::new(&passed);
        for exchange in [
            exchange(200, 3_000),
            exchange(201, 400_000),
            exchange(429, 0),
        ] {
            passed.lock().expect("no panic").add(&exchange);
            metrics.record(&exchange);
        }
        let text = metrics.to_prometheus();
        for line in [
            r#"baler_proxy_requests_total{upstream="anthropic",action="compacted",status="2xx"} 2"#,
            r#"baler_proxy_requests_total{upstream="anthropic",action="compacted",status="4xx"} 1"#,
            "baler_proxy_compactions_total 3",
            r#"baler_proxy_tokens_total{when="came"} 1800"#,
            r#"baler_proxy_tokens_total{when="sent"} 400"#,
            r#"baler_proxy_usage_tokens_total{kind="written"} 9"#,
            r#"baler_proxy_added_seconds_bucket{le="0.001"} 1"#,
            r#"baler_proxy_added_seconds_bucket{le="0.005"} 2"#,
            r#"baler_proxy_added_seconds_bucket{le="+Inf"} 3"#,
            "baler_proxy_added_seconds_sum 0.403",
            "baler_proxy_added_seconds_count 3",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
