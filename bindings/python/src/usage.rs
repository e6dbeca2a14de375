//! What an answer says of the size of its request.

use std::sync::{Mutex, PoisonError};

use baler_embedding::UsageReader;
use pyo3::prelude::*;

/// Reads the size of a request, as the provider counted it, from the answer that passes.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeUsage(Mutex<UsageReader>);

#[pymethods]
impl NativeUsage {
    /// Begins with an answer. `is_stream`: it is a stream of server-sent events.
    #[new]
    fn new(is_stream: bool) -> Self {
        Self(Mutex::new(UsageReader::new(is_stream)))
    }

    /// Reads the next piece.
    fn see(&self, piece: &[u8]) {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.see(piece);
    }

    /// Returns the tokens of the prompt after the last piece, those from a cache included; `None` if the answer does not
    /// say.
    fn end(&self) -> Option<u64> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.end()
    }
}
