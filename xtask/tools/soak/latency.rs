//! How long calls took.

use std::fmt;
use std::time::Duration;

/// The times of calls, in buckets that each are a fiftieth wider than the one before.
#[derive(Debug, Clone)]
pub(crate) struct Latencies {
    buckets: Vec<u64>,
    calls: u64,
}

/// The ratio of the ends of neighbouring buckets.
const RATIO: f64 = 1.02;

impl Default for Latencies {
    fn default() -> Self {
        Self {
            buckets: vec![0; 1_200],
            calls: 0,
        }
    }
}

impl Latencies {
    pub(crate) fn add(&mut self, time: Duration) {
        let micros = (time.as_secs_f64() * 1e6).max(1.0);
        let bucket = (micros.ln() / RATIO.ln()) as usize;
        let last = self.buckets.len() - 1;
        self.buckets[bucket.min(last)] += 1;
        self.calls += 1;
    }

    pub(crate) fn join(&mut self, other: Self) {
        for (bucket, more) in self.buckets.iter_mut().zip(other.buckets) {
            *bucket += more;
        }
        self.calls += other.calls;
    }

    pub(crate) const fn calls(&self) -> u64 {
        self.calls
    }

    fn quantile(&self, share: f64) -> Duration {
        let wanted = (self.calls as f64 * share).ceil() as u64;
        let mut seen = 0;
        let found = self.buckets.iter().position(|calls| {
            seen += calls;
            seen >= wanted
        });
        let end = RATIO.powi(found.unwrap_or_default() as i32 + 1);
        Duration::from_secs_f64(end / 1e6)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.quantile(0.99)
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, p99) = (self.quantile(0.5), self.p99());
        write!(
            f,
            "{} calls, median {median:.0?}, p99 {p99:.0?}",
            self.calls
        )
    }
}
