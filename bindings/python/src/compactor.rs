//! The compactor as Python programs hold it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baler_host::compactor::{Compactor, CompactorConfig, Step};
use baler_host::{CompactorOptions, Host, Strategy};
use pyo3::prelude::*;
use serde_json::json;

use crate::conversation::NativeConversation;
use crate::errors::{self, Raise as _};
use crate::host::NativeHost;
use crate::options;
use crate::running::{self, Cancel};
use crate::strategy::NativeStrategy;

/// Keeps one conversation within its window over time. Calls from several threads take turns.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeCompactor(Mutex<Compactor>);

#[pymethods]
impl NativeCompactor {
    /// Creates a compactor for a conversation.
    #[staticmethod]
    fn start(
        py: Python<'_>,
        host: &NativeHost,
        conversation: &NativeConversation,
        chain: Vec<Py<NativeStrategy>>,
        options: &str,
        cancel: &Cancel,
    ) -> PyResult<Self> {
        running::run(py, cancel, || {
            let (host, chain, options) = ready(host, &chain, options, cancel)?;
            Compactor::new(host, conversation.0.clone(), chain, options)
                .map(|compactor| Self(Mutex::new(compactor)))
                .map_err(|error| error.raise())
        })
    }

    /// Continues from a text that `save` returned.
    #[staticmethod]
    fn resume(
        py: Python<'_>,
        host: &NativeHost,
        saved: &str,
        chain: Vec<Py<NativeStrategy>>,
        options: &str,
        cancel: &Cancel,
    ) -> PyResult<Self> {
        running::run(py, cancel, || {
            let (host, chain, options) = ready(host, &chain, options, cancel)?;
            Compactor::resume(host, saved, chain, options)
                .map(|compactor| Self(Mutex::new(compactor)))
                .map_err(|error| error.raise())
        })
    }

    /// Reads a user's setting with a preset; returns its strategy, config and options as JSON.
    #[staticmethod]
    fn setting(setting: &str) -> PyResult<String> {
        let read = CompactorConfig::from_json(setting);
        let read = read.map_err(|error| errors::option(baler_host::with_causes(&error)))?;
        let CompactorConfig::On {
            strategy,
            config,
            options,
            ..
        } = read
        else {
            return Err(errors::option("a setting with a preset is on".to_owned()));
        };
        Ok(json!({"strategy": strategy, "config": config, "options": options}).to_string())
    }

    /// Appends messages, each as JSON.
    fn append(&self, py: Python<'_>, messages: Vec<String>) -> PyResult<()> {
        py.detach(|| {
            let messages = messages.iter().map(String::as_str);
            self.lock()
                .append_all(messages)
                .map_err(|error| error.raise())
        })
    }

    /// Notes the tokens that the provider reported for its newest response.
    fn reported(&self, py: Python<'_>, tokens: u32) {
        py.detach(|| self.lock().reported(tokens));
    }

    /// Compacts if a compaction is due; returns JSON.
    fn step(&self, py: Python<'_>, cancel: &Cancel) -> PyResult<String> {
        running::run(py, cancel, || {
            let mut compactor = self.lock();
            let step = cancel.wait(compactor.step())?;
            step.map(|step| as_json(&step))
                .map_err(|error| error.raise())
        })
    }

    /// Compacts after the provider refused the request as too long; returns JSON.
    fn overflowed(&self, py: Python<'_>, cancel: &Cancel) -> PyResult<String> {
        running::run(py, cancel, || {
            let mut compactor = self.lock();
            let step = cancel.wait(compactor.overflowed())?;
            step.map(|step| as_json(&step))
                .map_err(|error| error.raise())
        })
    }

    /// Compacts now; returns JSON.
    fn compact_now(&self, py: Python<'_>, wish: Option<&str>, cancel: &Cancel) -> PyResult<String> {
        running::run(py, cancel, || {
            let mut compactor = self.lock();
            let step = cancel.wait(compactor.compact_now(wish))?;
            step.map(|step| as_json(&step))
                .map_err(|error| error.raise())
        })
    }

    /// The request body to send, as JSON.
    fn document(&self, py: Python<'_>) -> String {
        py.detach(|| self.lock().document().to_owned())
    }

    /// All messages that were ever appended, each as JSON.
    fn history(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.lock().history().map(str::to_owned).collect())
    }

    /// Tokens of the next request.
    fn tokens(&self, py: Python<'_>) -> u32 {
        py.detach(|| self.lock().tokens())
    }

    /// Number of compactions that changed the conversation.
    fn compactions(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().compactions())
    }

    /// Returns all that `resume` needs, as a text.
    fn save(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let saved = self.lock().save();
            saved.map_err(|error| errors::host(baler_host::with_causes(&error)))
        })
    }
}

impl NativeCompactor {
    /// Waits for calls of other threads. Only without the interpreter's lock, which these may need.
    fn lock(&self) -> MutexGuard<'_, Compactor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what a compactor is made of.
fn ready(
    host: &NativeHost,
    chain: &[Py<NativeStrategy>],
    options: &str,
    cancel: &Cancel,
) -> PyResult<(Arc<Host>, Vec<Strategy>, CompactorOptions)> {
    let live = host.live()?;
    let options = options::of_compactor(options, &live.policy)?;
    let chain = cancel.wait(live.chain(chain))??;
    Ok((Arc::clone(&live.host), chain, options))
}

fn as_json(step: &Step) -> String {
    json!({
        "is-compacted": step.is_compacted(),
        "pressure": step.pressure.map(|pressure| format!("{pressure:?}").to_lowercase()),
        "held": step.held,
        "receipts": step.receipts,
    })
    .to_string()
}
