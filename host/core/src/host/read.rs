//! Reading documents with the format, the tokenizer and the key of a host.

use std::sync::Arc;

use baler_conversation::{Conversation, ReadError, ReadOptions};

use crate::host::Host;

impl Host {
    /// Reads a document: a request body, its list of messages, or a session log of a program of
    /// [`LogKind`](baler_conversation::session_logs::LogKind), which becomes the body of its next request.
    ///
    /// # Errors
    /// The document is no conversation in a known format. A conversation that breaks a rule of its format is
    /// no error: see [`Conversation::violations`].
    pub fn read(&self, document: impl Into<Arc<str>>) -> Result<Conversation, ReadError> {
        self.reader.read(document)
    }

    /// Reads a document from bytes, as [`Host::read`].
    ///
    /// # Errors
    /// As [`Host::read`], or the bytes are not UTF-8.
    pub fn read_bytes(&self, document: Vec<u8>) -> Result<Conversation, ReadError> {
        self.reader.read_bytes(document)
    }

    /// Reads a document from bytes with these options.
    ///
    /// # Errors
    /// As [`Host::read_bytes`].
    pub fn read_with(
        &self,
        document: Vec<u8>,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        self.reader.read_with(document, options)
    }
}
