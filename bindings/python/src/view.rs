//! Windows as Python programs hold them, with the views that they remember.

use std::sync::Arc;

use baler_host::Strategy;
use baler_host::view::{Entry, Shown, View, Views, Window};
use pyo3::prelude::*;

use crate::conversation::NativeConversation;
use crate::errors::{self, Raise as _};
use crate::host::NativeHost;
use crate::options;
use crate::per_process::PerProcess;
use crate::result::NativeResult;
use crate::running::{self, Cancel};
use crate::strategy::NativeStrategy;

/// Where a message that is shown comes from, with its JSON unless it is shown as it is.
type MessageShown<'a> = (&'static str, Option<usize>, Option<&'a str>);

/// Keeps what is shown of histories within a number of tokens.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeWindow {
    host: Py<NativeHost>,
    chain: Vec<Py<NativeStrategy>>,
    at: u32,
    budget: u32,
    options: String,
    known: PerProcess<Known>,
}

/// What a window knows in this process.
#[derive(Debug)]
struct Known {
    chain: Arc<[Strategy]>,
    views: Views,
}

#[pymethods]
impl NativeWindow {
    /// Creates a window: histories of `at` tokens and more are compacted to `budget` tokens. `options`: those of a
    /// compaction, as JSON.
    #[new]
    fn new(
        py: Python<'_>,
        host: Py<NativeHost>,
        chain: Vec<Py<NativeStrategy>>,
        at: u32,
        budget: u32,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<Self> {
        let window = Self {
            host,
            chain,
            at,
            budget,
            options,
            known: PerProcess::new(),
        };
        // Its errors belong here, not to the first call.
        running::run(py, cancel, || window.ready(cancel).map(drop))?;
        Ok(window)
    }

    /// Returns what to show of a history now. `less`: the provider refused what was shown before as too long. `view`: one
    /// that was stored as JSON; what cannot be read is ignored.
    fn show(
        &self,
        py: Python<'_>,
        history: &NativeConversation,
        less: bool,
        view: Option<&str>,
        cancel: &Cancel,
    ) -> PyResult<NativeShown> {
        let shown = running::run(py, cancel, || {
            let (window, known) = self.ready(cancel)?;
            if let Some(view) = view.and_then(|view| serde_json::from_str(view).ok()) {
                known.views.remember(view);
            }
            let work = async {
                match less {
                    true => window.show_less(&history.0, &known.views).await,
                    false => window.show(&history.0, &known.views).await,
                }
            };
            cancel.wait(work)?.map_err(|error| error.raise())
        })?;
        let Shown {
            conversation,
            view,
            compaction,
            ..
        } = shown;
        Ok(NativeShown {
            conversation,
            view,
            compaction: compaction
                .map(|compaction| Py::new(py, NativeResult(compaction)))
                .transpose()?,
            messages: history.0.message_count(),
        })
    }
}

impl NativeWindow {
    /// Returns the window for a call, and what it knows.
    fn ready(&self, cancel: &Cancel) -> PyResult<(Window, &Known)> {
        let live = self.host.get().live()?;
        let request = options::request(&self.options, &live.policy, cancel.deadline())?;
        let known = self.known.get_or_make(|| {
            let chain = cancel.wait(live.chain(&self.chain))??.into();
            let views = Views::default();
            PyResult::Ok(Known { chain, views })
        })?;
        let chain = Arc::clone(&known.chain);
        let window = Window::new(Arc::clone(&live.host), chain, self.at, self.budget)
            .map_err(|error| errors::option(format!("`budget`: {error}")))?;
        Ok((window.with_request(request), known))
    }
}

/// What is shown of a history.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeShown {
    conversation: baler_host::Conversation,
    view: Option<Arc<View>>,
    compaction: Option<Py<NativeResult>>,
    /// Messages of the history.
    messages: usize,
}

#[pymethods]
impl NativeShown {
    /// The request to send.
    #[getter]
    fn conversation(&self) -> NativeConversation {
        NativeConversation(self.conversation.clone())
    }

    /// The compaction that was made now; `None` if none was due.
    #[getter]
    fn compaction(&self, py: Python<'_>) -> Option<Py<NativeResult>> {
        self.compaction.as_ref().map(|result| result.clone_ref(py))
    }

    /// The view by which the history is shown, as JSON; `None` if all of it is shown.
    #[getter]
    fn view(&self) -> PyResult<Option<String>> {
        let json = self.view.as_deref().map(serde_json::to_string);
        json.transpose()
            .map_err(|error| errors::host(error.to_string()))
    }

    /// Number of messages that the history had when the view was made; 0 without one.
    #[getter]
    fn made_at(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.made_at())
    }

    /// The messages that are shown, in order: `kept` or `changed` with an index in the history, or `inserted`; the last two
    /// with their JSON.
    #[getter]
    fn messages(&self) -> Vec<MessageShown<'_>> {
        let view = self.view.as_deref();
        let entries = view.map(View::entries).unwrap_or_default();
        let covered = view.map_or(0, View::covered);
        let of_view = entries.iter().map(|entry| match entry {
            Entry::Kept(index) => ("kept", Some(*index), None),
            Entry::Changed { message, json } => ("changed", Some(*message), Some(json.as_str())),
            Entry::Inserted { json } => ("inserted", None, Some(json.as_str())),
        });
        let rest = (covered..self.messages).map(|index| ("kept", Some(index), None));
        of_view.chain(rest).collect()
    }
}
