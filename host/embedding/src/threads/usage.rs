//! What an answer says of the size of its request.

use baler_models::clients;

/// Reads the size of a request, as the provider counted it, from the answer that passes: whole, or a stream of server-sent
/// events, of any provider.
#[derive(Debug)]
pub struct UsageReader(clients::UsageReader);

impl UsageReader {
    /// Creates a reader of one answer. `is_stream`: it is a stream of events.
    #[must_use]
    pub const fn new(is_stream: bool) -> Self {
        Self(clients::UsageReader::new(is_stream))
    }

    /// Reads the next piece.
    pub fn see(&mut self, piece: &[u8]) {
        self.0.see(piece);
    }

    /// Returns the tokens of the prompt after the last piece, those from a cache included; `None` if the answer does not say.
    pub fn end(&mut self) -> Option<u64> {
        self.0.end();
        self.0.prompt()
    }
}
