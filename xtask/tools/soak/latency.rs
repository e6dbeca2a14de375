//! How long calls took.

use std::fmt;
use std::time::Duration;

/// The times of calls, in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies(Vec<u32>);

impl Latencies {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0
            .push(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
        self.0.sort_unstable();
    }

    pub(crate) const fn calls(&self) -> u64 {
        self.0.len() as u64
    }

    /// The quantile of times that were joined.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let at = (self.0.len() as f64 * share) as usize;
        let micros = self.0.get(at).or(self.0.last());
        Duration::from_micros(micros.copied().unwrap_or_default().into())
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
            "{} calls, median {median:.1?}, p99 {p99:.1?}",
            self.calls()
        )
    }
}
