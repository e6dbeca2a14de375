//! The result of a compaction.

use std::sync::Arc;

use baler_embedding::{Compaction, MessageOfResult};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raised;

/// The result of a compaction.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeResult(pub(crate) Arc<Compaction>);

impl NativeResult {
    pub(crate) fn new(compaction: Compaction) -> Self {
        Self(Arc::new(compaction))
    }
}

#[pymethods]
impl NativeResult {
    /// Whether the conversation became smaller.
    #[getter]
    fn is_compacted(&self) -> bool {
        self.0.is_compacted()
    }

    /// The result, as JSON.
    #[getter]
    fn document(&self) -> &str {
        self.0.document()
    }

    /// The result, as UTF-8.
    #[getter]
    fn document_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.document().as_bytes())
    }

    /// The receipt, as JSON.
    #[getter]
    fn receipt(&self) -> PyResult<String> {
        self.0.receipt().map_err(raised)
    }

    /// The messages of the result, in order: `kept` or `changed` with an index among the messages before, or
    /// `inserted`; the last two with their JSON.
    #[getter]
    fn messages(&self) -> Vec<MessageOfResult<'_>> {
        self.0.messages()
    }

    /// The outcome of each unit before: `kept`, `rewritten` or `removed`.
    #[getter]
    fn units(&self) -> Vec<&'static str> {
        self.0.units()
    }
}
