//! Waits for calls on behalf of a Python thread, which other threads and Ctrl-C do not wait for.

use std::time::Duration;

use baler_embedding::{Call, Error};
use pyo3::prelude::*;

use crate::errors::raised;

/// How often the main thread looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// Ends a call from another thread.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct Cancel(pub(crate) baler_embedding::Cancel);

#[pymethods]
impl Cancel {
    /// Creates a handle for one call. `seconds`: time after which the host's own work ends.
    #[new]
    #[pyo3(signature = (seconds = None))]
    fn new(seconds: Option<f64>) -> PyResult<Self> {
        let cancel = baler_embedding::Cancel::new(seconds).map_err(raised)?;
        Ok(Self(cancel))
    }

    /// Ends the call.
    fn cancel(&self) {
        self.0.cancel();
    }
}

/// Runs `work` without the interpreter's lock. Signals end it: then `cancel` is set, and the signal's
/// exception is raised as soon as the work noticed that.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce(&baler_embedding::Cancel) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let gets_signals = is_main_thread(py)?;
    py.detach(|| {
        let own = cancel.0.clone();
        let call = Call::start(&cancel.0, || {}, move || work(&own)).map_err(raised)?;
        let mut signal = None;
        loop {
            if let Some(outcome) = call.wait(SIGNALS) {
                return signal.map_or_else(|| outcome.map_err(raised), Err);
            }
            if gets_signals
                && signal.is_none()
                && let Err(raised) = Python::attach(|py| py.check_signals())
            {
                cancel.cancel();
                signal = Some(raised);
            }
        }
    })
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}
