//! The host as Python programs hold it.

use baler_embedding::{Host, Model, Settings};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::callables::Callable;
use crate::conversation::NativeConversation;
use crate::errors::raised;
use crate::result::NativeResult;
use crate::running::{self, Cancel};
use crate::strategy::{NativeStrategy, chain_of};

/// Bytes up to which a conversation is read in the thread that asks: that takes less time than signals wait anyway.
const READ_AT_ONCE: usize = 2 << 20;

/// Reads conversations, loads strategies and runs compactions.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeHost(pub(crate) Host);

#[pymethods]
impl NativeHost {
    /// Creates a host from options by name, as JSON. `model` is a callable or the name of a model.
    #[new]
    fn new(py: Python<'_>, options: &str, model: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let model = model.map(|model| match model.extract::<String>() {
            Ok(name) => Model::Named(name),
            Err(_) => Model::Function(Callable::function(model.unbind())),
        });
        py.detach(|| Settings::read(options, model).and_then(Host::new))
            .map(Self)
            .map_err(raised)
    }

    /// Reads a conversation from bytes, a text, or Python objects.
    #[pyo3(signature = (document, format, used, cancel))]
    fn read(
        &self,
        py: Python<'_>,
        document: &Bound<'_, PyAny>,
        format: Option<String>,
        used: Option<u32>,
        cancel: &Cancel,
    ) -> PyResult<NativeConversation> {
        let document = bytes_of(document)?;
        let is_short = document.len() <= READ_AT_ONCE;
        let host = self.0.clone();
        let work = move |cancel: &baler_embedding::Cancel| {
            host.read(document, format.as_deref(), used, cancel)
        };
        let read = match is_short {
            true => py.detach(|| work(&cancel.0)).map_err(raised),
            false => running::run(py, cancel, work),
        };
        read.map(NativeConversation)
    }

    /// Compacts a conversation with the strategies of `chain`, in order.
    fn compact(
        &self,
        py: Python<'_>,
        conversation: &NativeConversation,
        chain: Vec<Py<NativeStrategy>>,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<NativeResult> {
        let (host, conversation) = (self.0.clone(), conversation.0.clone());
        let chain = chain_of(&chain);
        let compaction = running::run(py, cancel, move |cancel| {
            host.compact(&conversation, &chain, &options, cancel)
        });
        compaction.map(NativeResult::new)
    }

    /// Loads strategies and reads options, to say what is wrong with them.
    fn check(
        &self,
        py: Python<'_>,
        chain: Vec<Py<NativeStrategy>>,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<()> {
        let (host, chain) = (self.0.clone(), chain_of(&chain));
        running::run(py, cancel, move |cancel| {
            host.check(&chain, &options, cancel)
        })
    }

    /// Decides whether to compact now.
    fn should_compact(
        &self,
        py: Python<'_>,
        conversation: &NativeConversation,
        strategy: Option<Py<NativeStrategy>>,
        options: String,
        cancel: &Cancel,
    ) -> PyResult<bool> {
        let (host, conversation) = (self.0.clone(), conversation.0.clone());
        let strategy = strategy.map(|strategy| strategy.get().0.clone());
        running::run(py, cancel, move |cancel| {
            host.should_compact(&conversation, strategy.as_ref(), &options, cancel)
        })
    }

    /// Asks a strategy to describe itself; returns JSON.
    fn introspect(
        &self,
        py: Python<'_>,
        strategy: &NativeStrategy,
        cancel: &Cancel,
    ) -> PyResult<String> {
        let (host, strategy) = (self.0.clone(), strategy.0.clone());
        running::run(py, cancel, move |cancel| {
            Ok(host.introspect(&strategy, cancel)?.to_string())
        })
    }

    /// Returns archived content by its reference.
    fn expand(&self, py: Python<'_>, reference: String, cancel: &Cancel) -> PyResult<String> {
        let host = self.0.clone();
        running::run(py, cancel, move |cancel| host.expand(&reference, cancel))
    }

    /// Restores the conversation before a compaction, by the reference in its receipt.
    fn undo(&self, py: Python<'_>, reference: String, cancel: &Cancel) -> PyResult<String> {
        let host = self.0.clone();
        running::run(py, cancel, move |cancel| host.undo(&reference, cancel))
    }
}

fn bytes_of(document: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = document.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(text) = document.cast::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return Ok(text.as_bytes().to_vec());
    }
    crate::json::to_json(document, "").map(String::into_bytes)
}
