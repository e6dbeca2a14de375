//! The result of a compaction.

use std::sync::Arc;

use baler_embedding::{Compaction, MessageOfResult};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::errors::thrown;

/// The result of a compaction.
#[napi]
#[derive(Debug)]
pub struct NativeResult {
    pub(crate) inner: Arc<Compaction>,
}

/// Where a message of a result comes from.
#[napi(object)]
#[derive(Debug)]
pub struct Placed {
    /// `kept`, `changed` or `inserted`.
    pub kind: String,
    /// Its index among the messages before; none for one that was inserted.
    pub index: Option<u32>,
    /// Its JSON, unless it is kept.
    pub json: Option<String>,
}

#[napi]
impl NativeResult {
    /// Whether the conversation became smaller.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        self.inner.is_compacted()
    }

    /// The result, as JSON.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn document(&self) -> String {
        self.inner.document().to_owned()
    }

    /// The result, as UTF-8.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn document_bytes(&self) -> Buffer {
        self.inner.document().as_bytes().into()
    }

    /// The receipt, as JSON.
    ///
    /// # Errors
    /// It cannot be written, which is a bug.
    #[napi(getter, catch_unwind)]
    pub fn receipt(&self) -> napi::Result<String> {
        self.inner.receipt().map_err(thrown)
    }

    /// The messages of the result, in order.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn messages(&self) -> Vec<Placed> {
        self.inner.messages().into_iter().map(Placed::of).collect()
    }

    /// The outcome of each unit before: `kept`, `rewritten` or `removed`.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn units(&self) -> Vec<&'static str> {
        self.inner.units()
    }
}

impl Placed {
    pub(crate) fn of((kind, index, json): MessageOfResult<'_>) -> Self {
        Self {
            kind: kind.to_owned(),
            index: index.and_then(|index| u32::try_from(index).ok()),
            json: json.map(str::to_owned),
        }
    }
}
