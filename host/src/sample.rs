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

/// Creates a pipe without a writer.
#[cfg(unix)]
#[allow(clippy::expect_used, reason = "helpers of tests are tests")]
pub(crate) fn make_pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("it runs").success());
}
