//! Conversations for tests.

use baler_conversation::{Conversation, Format, ReadError, Reader, SecretKey};

/// Reads a document with a fixed key.
pub(crate) fn conversation(
    document: &str,
    format: Option<Format>,
) -> Result<Conversation, ReadError> {
    Reader::new(SecretKey::new([1; 32]))
        .with_format(format)
        .read(document)
}
