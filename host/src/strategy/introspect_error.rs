//! Why a strategy could not be asked to describe itself.

use crate::error::HostError;
use crate::fault::Fault;

/// A strategy could not be asked who it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntrospectError {
    /// It is one of the host's own and has nothing to tell.
    #[error("`{0}` is the host's own and takes no config")]
    Native(String),
    /// It faulted.
    #[error("the strategy cannot say who it is: {0}")]
    Fault(Fault),
    /// It reported a failure, in its own words.
    #[error("the strategy reports: {0}")]
    Declared(String),
    /// The host failed.
    #[error(transparent)]
    Host(HostError),
}

impl IntrospectError {
    /// What happened, without the strategy's own words: see [`super::ConfigError::without_free_text`].
    #[must_use]
    pub fn without_free_text(&self) -> String {
        match self {
            Self::Declared(_) => "the strategy reports a failure".to_owned(),
            error => error.to_string(),
        }
    }
}
