//! Errors of introspection.

use crate::error::HostError;
use crate::fault::Fault;

/// Error of a strategy's description of itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntrospectError {
    /// The strategy with this name is native, so it has no description and no config.
    #[error("`{0}` is native: it has no description and accepts no config")]
    Native(String),
    /// The strategy faulted.
    #[error("the strategy failed to describe itself: {0}")]
    Fault(Fault),
    /// The strategy reported a failure, with this message of its own (at most 500 bytes).
    #[error("the strategy reports: {0}")]
    Declared(String),
    /// The host or the machine failed.
    #[error(transparent)]
    Host(HostError),
}

impl IntrospectError {
    /// Returns the message without free text of the strategy: see [`super::ConfigError::without_free_text`].
    #[must_use]
    pub fn without_free_text(&self) -> String {
        match self {
            Self::Declared(_) => "the strategy reports a failure".to_owned(),
            error => error.to_string(),
        }
    }
}
