//! Quarantine: a strategy that keeps faulting is not run for a while.
//!
//! Only a strategy's own faults count. They are counted by a content hash, that of the component or of the
//! remote's address, so a new build of a component starts without faults. A host that serves several clients
//! counts fewer faults: see [`CountedFaults`].

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
    /// Times of its faults, oldest first.
    faults: VecDeque<Instant>,
    /// End of its quarantine; `None` if it is not in quarantine.
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

    /// Returns whether a fault counts. `is_unprovoked` says that no conversation and no request can have
    /// caused it.
    pub(crate) fn counts(&self, is_unprovoked: bool) -> bool {
        match self.counted {
            CountedFaults::All => true,
            CountedFaults::Unprovoked => is_unprovoked,
        }
    }

    /// Records the result of a call. Only the strategy's own faults count, as far as this host counts them.
    /// `has_started` says that the strategy could be asked.
    pub(crate) fn record_call(
        &self,
        key: &ContentHash,
        failure: Option<&CallFailure>,
        has_started: bool,
    ) {
        let is_unprovoked = |fault: &Fault| match fault {
            // A slow connection does not count: many simultaneous requests slow down connections.
            Fault::Remote { problem } => *problem == RemoteProblem::Unreachable,
            // A client's deadline can shorten the time of a call.
            Fault::Timeout { .. } => false,
            _ => !has_started,
        };
        match failure {
            // The strategy was not asked, so nothing is known about it.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::NoRoom,
            })) => {}
            Some(CallFailure::Fault(fault)) if self.counts(is_unprovoked(fault)) => {
                self.faulted(key, Instant::now());
            }
            // It is unknown whether the server can be reached.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::ConnectTimeout,
            })) => {}
            // A fault that does not count still shows that the strategy could be asked.
            Some(CallFailure::Fault(_)) | None => self.succeeded(key),
            Some(CallFailure::Declared(..) | CallFailure::Host(_)) => {}
        }
    }

    /// Returns whether a strategy may run now. After the cool-down it admits one call; further calls wait for
    /// the result of that call, or for another cool-down.
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

    /// Records a successful call, which ends the quarantine.
    pub(crate) fn succeeded(&self, key: &ContentHash) {
        self.lock().remove(key);
    }

    /// Records a fault.
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

    /// Ends the quarantine of all strategies.
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
    fn third_fault_in_the_window_quarantines_only_that_component() {
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
    fn cool_down_admits_one_call_until_its_result_is_known() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for _ in 0..3 {
            quarantine.faulted(&GUEST, now);
        }
        let later = now + 61 * SECOND;
        assert!(quarantine.admits(&GUEST, later));
        assert!(
            !quarantine.admits(&GUEST, later),
            "the first call has no result yet"
        );
        quarantine.faulted(&GUEST, later);
        assert!(!quarantine.admits(&GUEST, later + 59 * SECOND));
        assert!(quarantine.admits(&GUEST, later + 61 * SECOND));
        quarantine.succeeded(&GUEST);
        assert!(quarantine.admits(&GUEST, later + 61 * SECOND));
        assert!(quarantine.admits(&GUEST, later + 61 * SECOND));
    }

    #[test]
    fn faults_outside_the_window_do_not_add_up() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for hour in 0..10 {
            quarantine.faulted(&GUEST, now + hour * 3600 * SECOND);
        }
        assert!(quarantine.admits(&GUEST, now + 10 * 3600 * SECOND));
    }
}
