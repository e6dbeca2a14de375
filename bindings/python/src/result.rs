//! The result of a compaction.

use baler_host::Compaction;
use baler_host::receipt::{Origin, UnitOutcome};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// Where a message of a result comes from, with its JSON unless it is unchanged.
type MessageOfResult<'a> = (&'static str, Option<usize>, Option<&'a str>);

/// The result of a compaction.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeResult(pub(crate) Compaction);

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
        serde_json::to_string(self.0.receipt()).map_err(|error| errors::host(error.to_string()))
    }

    /// The messages of the result, in order: `kept` or `changed` with an index among the messages before, or
    /// `inserted`; the last two with their JSON.
    #[getter]
    fn messages(&self) -> Vec<MessageOfResult<'_>> {
        let (conversation, document) = (self.0.conversation(), self.0.document());
        let places = conversation.message_places();
        let messages = self.0.changes().messages.iter().zip(places);
        messages
            .map(|(origin, place)| {
                let text = place.and_then(|place| document.get(place));
                match origin {
                    Origin::Kept(index) => ("kept", Some(*index), None),
                    Origin::Changed(index) => ("changed", Some(*index), text),
                    Origin::Inserted => ("inserted", None, text),
                }
            })
            .collect()
    }

    /// The outcome of each unit before: `kept`, `rewritten` or `removed`.
    #[getter]
    fn units(&self) -> Vec<&'static str> {
        let units = self.0.changes().units.iter();
        units
            .map(|unit| match unit.outcome {
                UnitOutcome::Kept => "kept",
                UnitOutcome::Rewritten => "rewritten",
                UnitOutcome::Removed => "removed",
            })
            .collect()
    }
}
