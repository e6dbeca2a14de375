//! Components that keep faulting rest for a while.
//!
//! Only a guest's own faults count, and they are kept by the digest of its component: a new
//! build of it starts afresh. A host that serves many counts fewer of them: see
//! [`CountedFaults`].

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::content_hash::ContentHash;
use crate::fault::{Fault, RemoteProblem};
use crate::limits::{CountedFaults, EngineLimits};
use crate::runner::CallFailure;

#[derive(Debug)]
pub(crate) struct Quarantine {
    faults: usize,
    counted: CountedFaults,
    window: Duration,
    cool_down: Duration,
    records: Mutex<HashMap<ContentHash, Record>>,
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

    /// Counts the result of a call. Only the strategy's own faults count against it, and of these
    /// the ones that this host is to count. `has_started` is that it was there to be asked.
    pub(crate) fn judge(
        &self,
        key: &ContentHash,
        failure: Option<&CallFailure>,
        has_started: bool,
    ) {
        let is_unprovoked = |fault: &Fault| match fault {
            // Many requests at once make connections wait.
            Fault::Remote { problem } => *problem == RemoteProblem::Unreachable,
            // The time of a call may be a share of what a client made of it.
            Fault::Timeout { .. } => false,
            _ => !has_started,
        };
        match failure {
            // The strategy was not asked, so nothing is known of it.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::NoRoom,
            })) => {}
            Some(CallFailure::Fault(fault)) if self.counts(is_unprovoked(fault)) => {
                self.faulted(key, Instant::now());
            }
            // Nobody knows whether it was there.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::ConnectTimeout,
            })) => {}
            // With a fault that does not count it was there, so it does not go on resting.
            Some(CallFailure::Fault(_)) | None => self.succeeded(key),
            Some(CallFailure::Declared(..) | CallFailure::Host(_)) => {}
        }
    }

    /// Whether a component may run now. After the cool-down one call may: the next waits for
    /// what comes of it, or for another cool-down.
    pub(crate) fn admits(&self, key: &ContentHash, now: Instant) -> bool {
        let mut records = self.lock();
        let Some(record) = records.get_mut(key) else {
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
    pub(crate) fn succeeded(&self, key: &ContentHash) {
        self.lock().remove(key);
    }

    /// A call of the component was its fault.
    pub(crate) fn faulted(&self, key: &ContentHash, now: Instant) {
        let mut records = self.lock();
        let record = records.entry(*key).or_default();
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

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ContentHash, Record>> {
        self.records
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: ContentHash = ContentHash::new([1; 32]);
    const OTHER: ContentHash = ContentHash::new([2; 32]);
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
