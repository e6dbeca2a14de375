//! Reading by a host: its format, its tokenizers, its key.

use std::sync::Arc;

use baler_conversation::{Conversation, ReadError, ReadOptions};

use crate::host::Host;

impl Host {
    /// Reads a document: a request body, its list of messages, or the log of a session of
    /// Claude Code, Codex, pi or gemini-cli, which becomes the request body that its next
    /// request would have.
    ///
    /// # Errors
    /// It is no conversation in a known format. One that breaks a rule of its format is read
    /// all the same: see [`Conversation::violations`].
    pub fn read(&self, document: impl Into<Arc<str>>) -> Result<Conversation, ReadError> {
        self.reader.read(document)
    }

    /// Reads a document that may not even be text.
    ///
    /// # Errors
    /// As [`Host::read`], or it is not UTF-8.
    pub fn read_bytes(&self, document: Vec<u8>) -> Result<Conversation, ReadError> {
        self.reader.read_bytes(document)
    }

    /// Reads a document as `options` say.
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
