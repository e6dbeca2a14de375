//! A conversation that was read.

use baler_embedding::Conversation;
use pyo3::prelude::*;

/// A conversation that was read, divided into units and counted.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeConversation(pub(crate) Conversation);

#[pymethods]
impl NativeConversation {
    /// The wire format.
    #[getter]
    fn format(&self) -> &'static str {
        self.0.format()
    }

    /// Tokens of the whole request.
    #[getter]
    fn tokens(&self) -> u32 {
        self.0.tokens()
    }

    /// Tokens of the system prompt, the tools and the like, which no compaction changes.
    #[getter]
    fn overhead(&self) -> u32 {
        self.0.overhead()
    }

    /// The vocabulary that counted the tokens.
    #[getter]
    fn tokenizer(&self) -> String {
        self.0.tokenizer()
    }

    /// Whether the provider has to see the request as it is: it stores the history, or is asked to compact it itself.
    #[getter]
    fn is_the_providers(&self) -> bool {
        self.0.is_the_providers()
    }

    /// Whether a rule of the format is broken so that providers refuse the request.
    #[getter]
    fn is_broken(&self) -> bool {
        self.0.is_broken()
    }

    /// The request body or the list of messages, as JSON.
    #[getter]
    fn document(&self) -> &str {
        self.0.document()
    }

    /// Number of messages.
    #[getter]
    fn message_count(&self) -> usize {
        self.0.message_count()
    }

    /// The units, as JSON.
    #[getter]
    fn units(&self) -> String {
        self.0.units().to_string()
    }

    /// The broken rules and the repairs, as JSON.
    #[getter]
    fn violations(&self) -> String {
        self.0.violations().to_string()
    }

    /// Returns the conversation with its broken rules repaired as far as possible.
    fn repaired(&self, py: Python<'_>) -> Self {
        Self(py.detach(|| self.0.repaired()))
    }
}
