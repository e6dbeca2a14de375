//! Runs the host's work on behalf of a Python thread, which other threads and Ctrl-C do not wait for.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use baler_host::conversation::Deadline;
use pyo3::prelude::*;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::errors;
use crate::per_process::PerProcess;

/// How often the main thread looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// Drives timers, child processes and connections. The work itself runs in the threads that ask for it.
static RUNTIME: PerProcess<Runtime> = PerProcess::new();

/// Ends a call from another thread.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct Cancel {
    deadline: Deadline,
    stopped: Notify,
}

#[pymethods]
impl Cancel {
    /// Creates a handle for one call. `seconds`: time after which the host's own work ends.
    #[new]
    #[pyo3(signature = (seconds = None))]
    fn new(seconds: Option<f64>) -> PyResult<Self> {
        let deadline = match seconds {
            None => Deadline::never(),
            Some(seconds) => {
                Deadline::after(Duration::try_from_secs_f64(seconds).map_err(|_| {
                    errors::option(format!(
                        "`timeout`: expected a positive number of seconds, found {seconds}"
                    ))
                })?)
            }
        };
        Ok(Self {
            deadline,
            stopped: Notify::new(),
        })
    }

    /// Ends the call.
    fn cancel(&self) {
        self.deadline.stop();
        // Notifies a call that waits, or the next one to wait.
        self.stopped.notify_one();
    }
}

impl Cancel {
    pub(crate) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Waits for `future` in this thread, unless the call is cancelled.
    pub(crate) fn wait<F: Future>(&self, future: F) -> PyResult<F::Output> {
        let runtime = RUNTIME.get_or_make(|| {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                // Files are written by these. More of them would only wait for the disk.
                .max_blocking_threads(8)
                .thread_keep_alive(Duration::from_secs(1))
                .thread_name("baler")
                .enable_all()
                .build()
                .map_err(|error| errors::host(format!("no thread for the runtime: {error}")))
        })?;
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.stopped.notified() => Err(errors::cancelled()),
                output = future => Ok(output),
            }
        })
    }
}

/// Runs `work` without the interpreter's lock. Signals end it: then `cancel` is set, and the signal's
/// exception is raised as soon as the work noticed that.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        // Only the main thread gets signals.
        return py.detach(work);
    }
    py.detach(|| {
        thread::scope(|scope| {
            let (ends, ended) = mpsc::channel::<()>();
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                let result = work();
                drop(ends);
                result
            });
            let worker = worker.map_err(|error| {
                errors::host(format!("the system gives no thread for a call: {error}"))
            })?;
            let mut signal = None;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(SIGNALS) {
                if signal.is_none()
                    && let Err(raised) = Python::attach(|py| py.check_signals())
                {
                    cancel.cancel();
                    signal = Some(raised);
                }
            }
            let result = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match signal {
                Some(raised) => Err(raised),
                None => result,
            }
        })
    })
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}
