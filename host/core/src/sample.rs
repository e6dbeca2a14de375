//! Conversations for tests.

use crate::request::{Policy, Request};

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

/// A policy that protects no words of the user beside the first message and the newest one, for tests of what strategies and
/// plans do with the others.
pub(crate) fn policy() -> Policy {
    Policy::default().with_user_percent(0)
}

/// The default request with [`policy`].
pub(crate) fn request() -> Request {
    Request::default().with_policy(policy())
}
