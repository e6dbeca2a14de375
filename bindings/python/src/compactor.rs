//! The compactor as Python programs hold it.

use baler_embedding::{Compactor, read_setting};
use pyo3::prelude::*;

use crate::conversation::NativeConversation;
use crate::errors::raised;
use crate::host::NativeHost;
use crate::running::{self, Cancel};
use crate::strategy::{NativeStrategy, chain_of};

/// Keeps one conversation within its window over time. Calls from several threads take turns, without the
/// interpreter's lock, which the one whose turn it is may need.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeCompactor(Compactor);

#[pymethods]
impl NativeCompactor {
    /// Creates a compactor for a conversation.
    #[staticmethod]
    fn start(
        py: Python<'_>,
        host: &NativeHost,
        conversation: &NativeConversation,
        chain: Vec<Py<NativeStrategy>>,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<Self> {
        let (host, conversation) = (host.0.clone(), conversation.0.clone());
        let chain = chain_of(&chain);
        let made = running::run(py, cancel, move |cancel| {
            Compactor::start(&host, &conversation, &chain, &options, cancel)
        });
        made.map(Self)
    }

    /// Continues from a text that `save` returned.
    #[staticmethod]
    fn resume(
        py: Python<'_>,
        host: &NativeHost,
        saved: String,
        chain: Vec<Py<NativeStrategy>>,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<Self> {
        let (host, chain) = (host.0.clone(), chain_of(&chain));
        let made = running::run(py, cancel, move |cancel| {
            Compactor::resume(&host, &saved, &chain, &options, cancel)
        });
        made.map(Self)
    }

    /// Reads a user's setting with a preset; returns its strategy, config and options as JSON.
    #[staticmethod]
    fn setting(setting: &str) -> PyResult<String> {
        let read = read_setting(setting).map_err(raised)?;
        Ok(read.to_string())
    }

    /// Appends messages, each as JSON.
    fn append(&self, py: Python<'_>, messages: Vec<String>) -> PyResult<()> {
        py.detach(|| self.0.append(&messages)).map_err(raised)
    }

    /// Notes the tokens that the provider reported for its newest response.
    fn reported(&self, py: Python<'_>, tokens: u32) {
        py.detach(|| self.0.reported(tokens));
    }

    /// Compacts if a compaction is due; returns JSON.
    fn step(&self, py: Python<'_>, cancel: &Cancel) -> PyResult<String> {
        let compactor = self.0.clone();
        running::run(py, cancel, move |cancel| {
            Ok(compactor.step(cancel)?.to_string())
        })
    }

    /// Compacts after the provider refused the request as too long; returns JSON.
    fn overflowed(&self, py: Python<'_>, cancel: &Cancel) -> PyResult<String> {
        let compactor = self.0.clone();
        running::run(py, cancel, move |cancel| {
            Ok(compactor.overflowed(cancel)?.to_string())
        })
    }

    /// Compacts now; returns JSON.
    fn compact_now(
        &self,
        py: Python<'_>,
        wish: Option<String>,
        cancel: &Cancel,
    ) -> PyResult<String> {
        let compactor = self.0.clone();
        running::run(py, cancel, move |cancel| {
            Ok(compactor.compact_now(wish.as_deref(), cancel)?.to_string())
        })
    }

    /// The request body to send, as JSON.
    fn document(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.document())
    }

    /// All messages that were ever appended, each as JSON.
    fn history(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.0.history())
    }

    /// Tokens of the next request.
    fn tokens(&self, py: Python<'_>) -> u32 {
        py.detach(|| self.0.tokens())
    }

    /// Number of compactions that changed the conversation.
    fn compactions(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.compactions())
    }

    /// Returns all that `resume` needs, as a text.
    fn save(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.save()).map_err(raised)
    }
}
