//! Components that keep faulting rest for a while.
//!
//! Only a guest's own faults count, and they are kept by the digest of its component: a new
//! build of it starts afresh. A host that serves many counts fewer of them: see
//! [`CountedFaults`].

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::limits::{CountedFaults, EngineLimits};
use crate::sandbox::Digest;

#[derive(Debug)]
pub(crate) struct Quarantine {
    faults: usize,
    counted: CountedFaults,
    window: Duration,
    cool_down: Duration,
    records: Mutex<HashMap<Digest, Record>>,
}

#[derive(Debug, Default)]
struct Record {
    /// When it faulted, oldest first.
    faults: VecDeque<Instant>,
    /// When it may be tried again.
    until: Option<Instant>,
}

impl Quarantine {
    pub(crate) fn new(limits: &EngineLimits) -> Self {
        Self {
            faults: limits.faults.max(1) as usize,
            counted: limits.counted_faults,
            window: limits.fault_window,
            cool_down: limits.cool_down,
            records: Mutex::default(),
        }
    }

    /// Whether a fault counts. `is_unprovoked` is that nothing which was asked can have caused it.
    pub(crate) fn counts(&self, is_unprovoked: bool) -> bool {
        match self.counted {
            CountedFaults::All => true,
            CountedFaults::Unprovoked => is_unprovoked,
        }
    }

    /// Whether a component may run now. After the cool-down one call may: the next waits for
    /// what comes of it, or for another cool-down.
    pub(crate) fn admits(&self, digest: &Digest, now: Instant) -> bool {
        let mut records = self.lock();
        let Some(record) = records.get_mut(digest) else {
            return true;
        };
        match record.until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                record.until = Some(now + self.cool_down);
                true
            }
        }
    }

    /// A call of the component was good.
    pub(crate) fn succeeded(&self, digest: &Digest) {
        self.lock().remove(digest);
    }

    /// A call of the component was its fault.
    pub(crate) fn faulted(&self, digest: &Digest, now: Instant) {
        let mut records = self.lock();
        let record = records.entry(*digest).or_default();
        record.faults.push_back(now);
        while record
            .faults
            .front()
            .is_some_and(|fault| now.duration_since(*fault) > self.window)
        {
            record.faults.pop_front();
        }
        if record.until.is_some() || record.faults.len() >= self.faults {
            record.until = Some(now + self.cool_down);
        }
    }

    /// Ends the quarantine of all components.
    pub(crate) fn lift(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Record>> {
        self.records
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: Digest = Digest::new([1; 32]);
    const OTHER: Digest = Digest::new([2; 32]);
    const SECOND: Duration = Duration::from_secs(1);

    fn quarantine() -> Quarantine {
        Quarantine::new(&EngineLimits::default())
    }

    #[test]
    fn the_third_fault_in_the_window_sends_a_component_to_rest_and_no_other() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for _ in 0..2 {
            quarantine.faulted(&GUEST, now);
            assert!(quarantine.admits(&GUEST, now));
        }
        quarantine.faulted(&GUEST, now);
        assert!(!quarantine.admits(&GUEST, now));
        assert!(quarantine.admits(&OTHER, now));
    }

    #[test]
    fn after_the_cool_down_one_call_is_tried() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for _ in 0..3 {
            quarantine.faulted(&GUEST, now);
        }
        let later = now + 61 * SECOND;
        assert!(quarantine.admits(&GUEST, later));
        assert!(
            !quarantine.admits(&GUEST, later),
            "the first one is still out"
        );
        quarantine.faulted(&GUEST, later);
        assert!(!quarantine.admits(&GUEST, later + 59 * SECOND));
        assert!(quarantine.admits(&GUEST, later + 61 * SECOND));
        quarantine.succeeded(&GUEST);
        assert!(quarantine.admits(&GUEST, later + 61 * SECOND));
        assert!(quarantine.admits(&GUEST, later + 61 * SECOND));
    }

    #[test]
    fn faults_that_are_far_apart_do_not_add_up() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for hour in 0..10 {
            quarantine.faulted(&GUEST, now + hour * 3600 * SECOND);
        }
        assert!(quarantine.admits(&GUEST, now + 10 * 3600 * SECOND));
    }
}
