//! Calls: work in a thread of its own, which others wait for and can cancel.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use baler_host::conversation::Deadline;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::per_process::PerProcess;
use crate::error::Error;

/// Drives timers, child processes and connections. The work itself runs in the threads of the calls.
static RUNTIME: PerProcess<Runtime> = PerProcess::new();

/// Bytes of a call's stack: native strategies, readers and the compiler run on it.
const STACK: usize = 2 << 20;

/// Ends a call from another thread.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Ends>);

#[derive(Debug)]
struct Ends {
    deadline: Deadline,
    stopped: Notify,
}

impl Cancel {
    /// Creates a handle for one call. `seconds`: time after which the host's own work ends.
    ///
    /// # Errors
    /// The number is negative, no number, or too large.
    pub fn new(seconds: Option<f64>) -> Result<Self, Error> {
        let deadline = match seconds {
            None => Deadline::never(),
            Some(seconds) => {
                Deadline::after(Duration::try_from_secs_f64(seconds).map_err(|_| {
                    let expected = "expected a positive number of seconds, found";
                    Error::option("timeout", format!("{expected} {seconds}"))
                })?)
            }
        };
        Ok(Self(Arc::new(Ends {
            deadline,
            stopped: Notify::new(),
        })))
    }

    /// Ends the call.
    pub fn cancel(&self) {
        self.0.deadline.stop();
        // Notifies a call that waits, or the next one to wait.
        self.0.stopped.notify_one();
    }

    pub(crate) fn deadline(&self) -> &Deadline {
        &self.0.deadline
    }

    /// Waits for `future` in this thread, unless the call is cancelled.
    pub(crate) fn wait<T, F>(&self, future: F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let runtime = RUNTIME.get_or_make(|| {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                // Files are written by these. More of them would only wait for the disk.
                .max_blocking_threads(8)
                .thread_keep_alive(Duration::from_secs(1))
                .thread_name("baler")
                .enable_all()
                .build()
                .map_err(|error| Error::host(format!("no thread for the runtime: {error}")))
        })?;
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.0.stopped.notified() => Err(Error::cancelled()),
                output = future => output,
            }
        })
    }
}

/// Work that runs. It goes on if the handle is dropped; cancel it to end it.
#[derive(Debug)]
pub struct Call<T> {
    shared: Arc<Shared<T>>,
    cancel: Cancel,
}

#[derive(Debug)]
struct Shared<T> {
    outcome: Mutex<Option<Result<T, Error>>>,
    ended: Condvar,
}

impl<T: Send + 'static> Call<T> {
    /// Starts `work`, which ends soon after `cancel` is cancelled. `told` is called in the thread of the call when it has
    /// ended.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn start(
        cancel: &Cancel,
        told: impl FnOnce() + Send + 'static,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            outcome: Mutex::new(None),
            ended: Condvar::new(),
        });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("baler-call".to_owned())
            .stack_size(STACK);
        let run = move || {
            let outcome = caught(work);
            *own.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            own.ended.notify_all();
            told();
        };
        thread.spawn(run).map_err(|error| {
            Error::host(format!("the system gives no thread for a call: {error}"))
        })?;
        let cancel = cancel.clone();
        Ok(Self { shared, cancel })
    }

    /// Waits for the outcome, at most for `time`; `None` if the call still runs, or its outcome was taken before.
    pub fn wait(&self, time: Duration) -> Option<Result<T, Error>> {
        self.outcome_within(time).take()
    }

    /// Waits until the call has ended, at most for `time`; returns whether it has.
    pub fn wait_until_ended(&self, time: Duration) -> bool {
        self.outcome_within(time).is_some()
    }

    fn outcome_within(&self, time: Duration) -> MutexGuard<'_, Option<Result<T, Error>>> {
        let outcome = self
            .shared
            .outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let runs = |outcome: &mut Option<_>| outcome.is_none();
        let waited = self.shared.ended.wait_timeout_while(outcome, time, runs);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Ends the call.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// Runs `work`. A panic is an error like others: it must not end a process that is not ours.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let told = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::host(format!(
            "baler has a bug, please report it: {}",
            told.unwrap_or_else(|| "it panicked".to_owned())
        )))
    })
}
