//! Failures of the host or the machine.

use std::error::Error;

use baler_archive::{ArchiveError, OpenError};

/// The cause of an error, of a type that is not part of the public API.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// What needs the address space, and how to get more of it.
#[cfg(feature = "sandbox")]
const ADDRESS_SPACE: &str = "each memory of a component takes 4 GiB of address space, however little of it is used: allow that (`ulimit -v unlimited`, no `LimitAS=` of a service, a system that overcommits), or name a strategy that is no component";

/// A failure of the host or the machine, not of a strategy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The limit of running and waiting calls is reached.
    #[cfg(feature = "sandbox")]
    #[error(
        "too many strategies run at once: {limit} run and as many wait; call again later, or raise `concurrent_calls`"
    )]
    Overloaded {
        /// The most calls that may run at once.
        limit: usize,
    },
    /// The system provides no random numbers for a key.
    #[error("the system provides no random numbers for a key")]
    Random(#[source] std::io::Error),
    /// The system provides no thread for the clock that interrupts strategies, or for a native strategy that asks a model.
    #[error("the system gives no thread")]
    Thread(#[source] std::io::Error),
    /// The sandbox could not be created or entered.
    #[cfg(feature = "sandbox")]
    #[error("the sandbox failed: {action}")]
    Sandbox {
        /// What was tried.
        action: &'static str,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The machine has no memory or address space left for a call.
    #[cfg(feature = "sandbox")]
    #[error("the sandbox has no memory; {ADDRESS_SPACE}")]
    NoMemory(#[source] Cause),
    /// The host is being dropped.
    #[cfg(feature = "sandbox")]
    #[error("the host is shutting down")]
    Closed,
    /// A question to a remote strategy, or its answer, cannot be written as JSON. The cause is not included,
    /// because its text may quote the conversation.
    #[error("the {what} of a remote strategy cannot be written as JSON")]
    NotWritten {
        /// `question` or `answer`.
        what: &'static str,
    },
    /// A request pins a unit that the conversation does not have.
    #[error("unit {unit} cannot be pinned: the conversation has {units} units, counted from 0")]
    NoSuchUnit {
        /// Index of the pinned unit.
        unit: usize,
        /// Number of units of the conversation.
        units: usize,
    },
    /// A file or folder of the host cannot be used.
    #[error(transparent)]
    Files(#[from] baler_files::FileError),
    /// The archive in the state folder cannot be opened.
    #[error(transparent)]
    NoArchive(OpenError),
    /// Removed content could not be archived, so nothing was removed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl From<OpenError> for HostError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Files(error) => Self::Files(error),
            error => Self::NoArchive(error),
        }
    }
}

/// Returns the message of an error and of all its causes, as one text. That of a [`HostError`] holds no text of a
/// conversation; others may quote the config, the component or the saved state.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
