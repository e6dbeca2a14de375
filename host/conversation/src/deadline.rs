//! When the host's own work has to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When reading, repairing or compacting has to end: at a moment, or as soon as somebody says so.
///
/// A strategy has limits of its own. This is for the host's own work on a conversation, which can be
/// large: it looks at its deadline again and again, and ends early with an error, or leaves the
/// conversation as it was. A clone is the same deadline.
///
/// ```
/// use std::time::Duration;
/// use baler_conversation::Deadline;
///
/// let deadline = Deadline::after(Duration::from_secs(5));
/// assert!(!deadline.is_over());
/// deadline.clone().stop();
/// assert!(deadline.is_over());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    at: Option<Instant>,
    stopped: Arc<AtomicBool>,
}

/// The longest time that is kept: a clock cannot tell every moment that a [`Duration`] can.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Deadline {
    /// Returns the moment after `time` from now, which counts as a year at most.
    #[must_use]
    pub fn moment_after(time: Duration) -> Instant {
        Instant::now() + time.min(LONGEST)
    }

    /// A deadline that is only over once somebody stops it.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// A deadline at a moment.
    #[must_use]
    pub fn at(moment: Instant) -> Self {
        Self {
            at: Some(moment),
            stopped: Arc::default(),
        }
    }

    /// A deadline after some time from now, of at most a year.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self {
            at: Some(Self::moment_after(time)),
            stopped: Arc::default(),
        }
    }

    /// Ends the work now. It notices within some milliseconds.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether work has to end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// The time that is left; `None` if there is none.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        if self.stopped.load(Ordering::Relaxed) {
            return Some(Duration::ZERO);
        }
        self.at
            .map(|at| at.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_what_a_clock_can_tell_is_a_year() {
        let deadline = Deadline::after(Duration::MAX);
        assert!(!deadline.is_over());
        assert!(deadline.remaining().is_some_and(|left| left <= LONGEST));
    }
}
