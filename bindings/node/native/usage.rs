//! What an answer says of the size of its request.

use baler_embedding::UsageReader;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

/// Reads the size of a request, as the provider counted it, from the answer that passes.
#[napi]
#[derive(Debug)]
pub struct NativeUsage {
    inner: UsageReader,
}

#[napi]
impl NativeUsage {
    /// Begins with an answer. `is_stream`: it is a stream of server-sent events.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new(is_stream: bool) -> Self {
        let inner = UsageReader::new(is_stream);
        Self { inner }
    }

    /// Reads the next piece.
    #[napi(catch_unwind)]
    pub fn see(&mut self, piece: Uint8Array) {
        self.inner.see(&piece);
    }

    /// Returns the tokens of the prompt after the last piece, those from a cache included; nothing if the answer does not say.
    #[napi(catch_unwind)]
    pub fn end(&mut self) -> Option<i64> {
        i64::try_from(self.inner.end()?).ok()
    }
}
