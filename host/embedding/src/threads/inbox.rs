//! Questions for languages that take no calls from foreign threads.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::function::{Function, Question};

/// Holds questions until the binding fetches them, from any thread.
#[derive(Clone)]
pub struct Inbox(Arc<Shared>);

struct Shared {
    questions: Mutex<VecDeque<(u64, Question)>>,
    arrived: Condvar,
    /// Tells an event loop that there is something to fetch.
    wake: Box<dyn Fn() + Send + Sync>,
}

/// A function whose questions go to an inbox, under its number.
#[derive(Debug)]
struct Numbered {
    number: u64,
    inbox: Inbox,
}

impl Inbox {
    /// Creates an inbox. `wake` is called, on any thread, after a question arrived.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            questions: Mutex::default(),
            arrived: Condvar::new(),
            wake: Box::new(wake),
        }))
    }

    /// Returns a function whose questions arrive here, each with this number.
    #[must_use]
    pub fn function(&self, number: u64) -> Arc<dyn Function> {
        Arc::new(Numbered {
            number,
            inbox: self.clone(),
        })
    }

    /// Fetches the oldest question, with the number of its function; waits at most for `time`.
    #[must_use]
    pub fn next(&self, time: Duration) -> Option<(u64, Question)> {
        let none = |questions: &mut VecDeque<_>| questions.is_empty();
        let waited = self
            .0
            .arrived
            .wait_timeout_while(self.questions(), time, none);
        waited.unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }

    /// Whether no question waits to be fetched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.questions().is_empty()
    }

    fn questions(&self) -> MutexGuard<'_, VecDeque<(u64, Question)>> {
        self.0
            .questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Function for Numbered {
    fn ask(&self, question: Question) {
        self.inbox.questions().push_back((self.number, question));
        self.inbox.0.arrived.notify_one();
        (self.inbox.0.wake)();
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}
