//! Windows as Python programs hold them, with the views that they remember.

use std::sync::Arc;

use baler_embedding::{MessageOfResult, Shown, Window};
use pyo3::prelude::*;

use crate::conversation::NativeConversation;
use crate::errors::raised;
use crate::host::NativeHost;
use crate::result::NativeResult;
use crate::running::{self, Cancel};
use crate::strategy::{NativeStrategy, chain_of};

/// Keeps what is shown of histories within a number of tokens.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeWindow(Window);

#[pymethods]
impl NativeWindow {
    /// Creates a window from its options and those of a compaction, as JSON.
    #[new]
    fn new(
        py: Python<'_>,
        host: &NativeHost,
        chain: Vec<Py<NativeStrategy>>,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<Self> {
        let (host, chain) = (host.0.clone(), chain_of(&chain));
        running::run(py, cancel, move |cancel| {
            Window::new(host, chain, &options, cancel)
        })
        .map(Self)
    }

    /// The options of its compactions, as JSON.
    #[getter]
    fn goal(&self) -> &str {
        self.0.goal()
    }

    /// Returns what to show of a history now. `less`: the provider refused what was shown before as too long. `view`: one
    /// that was stored as JSON; what cannot be read is ignored.
    fn show(
        &self,
        py: Python<'_>,
        history: &NativeConversation,
        less: bool,
        view: Option<String>,
        cancel: &Cancel,
    ) -> PyResult<NativeShown> {
        let (window, history) = (self.0.clone(), history.0.clone());
        let shown = running::run(py, cancel, move |cancel| {
            window.show(&history, less, view.as_deref(), cancel)
        });
        shown.map(NativeShown)
    }
}

/// What is shown of a history.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeShown(Shown);

#[pymethods]
impl NativeShown {
    /// The request to send.
    #[getter]
    fn conversation(&self) -> NativeConversation {
        NativeConversation(self.0.conversation().clone())
    }

    /// Notes the size of the request as its provider counted it: all tokens of the prompt. What cannot be is ignored.
    fn note_count(&self, tokens: i64) {
        self.0.note_count(u64::try_from(tokens).unwrap_or_default());
    }

    /// The compaction that was made now; `None` if none was due.
    #[getter]
    fn compaction(&self) -> Option<NativeResult> {
        self.0.compaction().map(Arc::clone).map(NativeResult)
    }

    /// Whether less than the whole history is shown.
    #[getter]
    fn has_view(&self) -> bool {
        self.0.has_view()
    }

    /// The view by which the history is shown, as JSON; `None` if all of it is shown.
    #[getter]
    fn view(&self) -> PyResult<Option<String>> {
        self.0.view().map_err(raised)
    }

    /// Number of messages that the history had when the view was made; 0 without one.
    #[getter]
    fn made_at(&self) -> usize {
        self.0.made_at()
    }

    /// The messages that are shown, in order: `kept` or `changed` with an index in the history, or `inserted`; the last two
    /// with their JSON.
    #[getter]
    fn messages(&self) -> Vec<MessageOfResult<'_>> {
        self.0.messages()
    }
}
