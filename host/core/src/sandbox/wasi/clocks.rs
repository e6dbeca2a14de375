//! Clocks that show no time, and waits that take none.
//!
//! The clocks of `wasmtime-wasi` can be replaced, but its waits use real time, which a component could measure by them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::HostWallClock;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi_io::poll::{DynPollable, Pollable, subscribe};

/// The nanoseconds by which each look at a clock advances it.
const STEP: u64 = 1_000;

/// What the wall clock shows first: 1 January 2020, 00:00 UTC. A program may compute with dates, so it is not 0.
const START: Duration = Duration::from_secs(1_577_836_800);

/// The time of a call, in nanoseconds: each look advances it by a step, and each wait to its end.
#[derive(Debug, Clone, Default)]
pub(super) struct Time(Arc<AtomicU64>);

impl Time {
    /// Counts a look. Returns nanoseconds, never 0: the runtime of Go does not start then.
    fn look(&self) -> u64 {
        let before = self.0.fetch_add(STEP, Ordering::Relaxed);
        before.saturating_add(STEP)
    }

    fn advance_to(&self, end: u64) {
        // Looks must not wrap around.
        self.0.fetch_max(end.min(u64::MAX / 2), Ordering::Relaxed);
    }
}

impl HostWallClock for Time {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(STEP)
    }

    fn now(&self) -> Duration {
        START.saturating_add(Duration::from_nanos(self.look()))
    }
}

/// What `wasi:clocks/monotonic-clock` works on.
pub(super) struct Clock<'a> {
    pub(super) time: &'a Time,
    pub(super) table: &'a mut ResourceTable,
}

/// The type by which a linker knows [`Clock`].
pub(super) struct Monotonic;

impl HasData for Monotonic {
    type Data<'a> = Clock<'a>;
}

impl monotonic_clock::Host for Clock<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.time.look())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(STEP)
    }

    fn subscribe_instant(&mut self, end: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let wait = self.table.push(Wait {
            time: self.time.clone(),
            end,
        })?;
        subscribe(self.table, wait)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let end = self.time.look().saturating_add(duration);
        self.subscribe_instant(end)
    }
}

/// A wait, which is over at once and advances the time to its end.
struct Wait {
    time: Time,
    end: u64,
}

#[async_trait::async_trait]
impl Pollable for Wait {
    async fn ready(&mut self) {
        self.time.advance_to(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_start_at_a_fixed_moment_and_advance_by_looks_alone() {
        for _ in 0..2 {
            let time = Time::default();
            let mut table = ResourceTable::new();
            let mut clock = Clock {
                time: &time,
                table: &mut table,
            };
            let mut now = || monotonic_clock::Host::now(&mut clock).expect("a time");
            assert_eq!(now(), 1_000);
            std::thread::sleep(Duration::from_millis(2));
            assert_eq!(time.now(), START + Duration::from_micros(2));
            assert_eq!(now(), 3_000);
        }
    }

    #[tokio::test]
    async fn a_wait_is_over_at_once_and_the_clocks_are_at_its_end() {
        let time = Time::default();
        let hour = 3_600_000_000_000;
        let mut wait = Wait {
            time: time.clone(),
            end: hour,
        };
        wait.ready().await;
        assert_eq!(time.look(), hour + 1_000);
        let mut earlier = Wait {
            time: time.clone(),
            end: 5,
        };
        earlier.ready().await;
        assert_eq!(time.look(), hour + 2_000);
        let mut endless = Wait {
            time: time.clone(),
            end: u64::MAX,
        };
        endless.ready().await;
        let (one, other) = (time.look(), time.look());
        assert!(one < other, "the time goes on");
    }
}
