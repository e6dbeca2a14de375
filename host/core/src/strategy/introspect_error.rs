//! Errors of introspection.

use crate::error::{HostError, with_causes};
use crate::fault::Fault;

/// Error of a strategy's description of itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntrospectError {
    /// The strategy is native, so it has no description and no config.
    #[error("`{strategy}` is native: it has no description and accepts no config")]
    Native {
        /// Name of the strategy.
        strategy: String,
    },
    /// The strategy faulted.
    #[error("the strategy failed to describe itself")]
    Fault(#[source] Fault),
    /// The strategy reported a failure.
    #[error("the strategy reports: {free_text}")]
    Declared {
        /// Free-text message of the strategy, at most 500 bytes. It may quote anything that the strategy ever
        /// saw.
        free_text: String,
    },
    /// The host or the machine failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl IntrospectError {
    /// Returns the message without free text of the strategy, and without the causes of a host error: see
    /// [`super::ConfigError::without_free_text`].
    #[must_use]
    pub fn without_free_text(&self) -> String {
        match self {
            Self::Declared { .. } => "the strategy reports a failure".to_owned(),
            Self::Host(error) => error.to_string(),
            error => with_causes(error),
        }
    }
}
