//! Clocks that show no time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// The nanoseconds by which each look at a clock advances it.
const STEP: u64 = 1_000;

/// What the wall clock shows first: 1 January 2020, 00:00 UTC. A program may compute with dates, so it is not 0.
const START: Duration = Duration::from_secs(1_577_836_800);

/// The looks at all clocks of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps(Arc<AtomicU64>);

/// A clock that counts looks.
#[derive(Debug)]
pub(super) struct StepsFrom(Steps);

impl StepsFrom {
    pub(super) fn new(steps: &Steps) -> Self {
        Self(steps.clone())
    }

    /// Counts a look. Returns nanoseconds, never 0: the runtime of Go does not start then.
    fn next(&self) -> u64 {
        let before = self.0.0.fetch_add(STEP, Ordering::Relaxed);
        before.saturating_add(STEP)
    }
}

impl HostWallClock for StepsFrom {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(STEP)
    }

    fn now(&self) -> Duration {
        START.saturating_add(Duration::from_nanos(self.next()))
    }
}

impl HostMonotonicClock for StepsFrom {
    fn resolution(&self) -> u64 {
        STEP
    }

    fn now(&self) -> u64 {
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_start_at_a_fixed_moment_and_advance_by_looks_alone() {
        for _ in 0..2 {
            let steps = Steps::default();
            let (wall, monotonic) = (StepsFrom::new(&steps), StepsFrom::new(&steps));
            assert_eq!(HostMonotonicClock::now(&monotonic), 1_000);
            std::thread::sleep(Duration::from_millis(2));
            assert_eq!(HostWallClock::now(&wall), START + Duration::from_micros(2));
            assert_eq!(HostMonotonicClock::now(&monotonic), 3_000);
        }
    }
}
