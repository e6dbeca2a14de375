//! Failures of the host or the machine.

use super::Cause;

/// What needs the address space, and how to get more of it.
const ADDRESS_SPACE: &str = "each memory of a component takes 4 GiB of address space, however little of it is used: allow that (`ulimit -v unlimited`, no `LimitAS=` of a service, a system that overcommits), or name a strategy that is no component";

/// A failure of the host or the machine, not of a strategy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The limit of running and waiting calls is reached.
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
    /// The system provides no thread for the clock that interrupts strategies.
    #[error("the system gives no thread for the clock of the sandbox")]
    Thread(#[source] std::io::Error),
    /// The sandbox could not be created or entered.
    #[error("the sandbox failed: {action}")]
    Sandbox {
        /// What was tried.
        action: &'static str,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The machine has no memory or address space left for a call.
    #[error("the sandbox has no memory; {ADDRESS_SPACE}")]
    NoMemory(#[source] Cause),
    /// The host is being dropped.
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
    /// A file or folder cannot be read or written.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: std::path::PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Removed content could not be archived, so nothing was removed; or the archive cannot be opened.
    #[error(transparent)]
    Archive(#[from] super::ArchiveError),
    /// A folder or file of the host is open to other users.
    #[error(
        "`{path}` is open to other users, who could forge compiled code and keys in it: {}",
        remedy_of_open(*is_shared)
    )]
    NotPrivate {
        /// The folder or file.
        path: std::path::PathBuf,
        /// Whether other users use it too, such as `/tmp`, so that it cannot be closed to them.
        is_shared: bool,
    },
    /// A folder or file of the host belongs to another user.
    #[error(
        "`{path}` belongs to another user (number {owner}), who could forge compiled code and keys in it: name another folder, or run baler as its owner"
    )]
    NotOwned {
        /// The folder or file.
        path: std::path::PathBuf,
        /// User ID of the owner.
        owner: u32,
    },
}

impl HostError {
    /// Returns the message with all its causes, as one text. It never holds text of a conversation.
    #[must_use]
    pub fn with_causes(&self) -> String {
        super::with_causes(self)
    }
}

/// Returns what to do about a folder or file that is open to other users.
const fn remedy_of_open(is_shared: bool) -> &'static str {
    if is_shared {
        "other users use it too, so name a folder of your own"
    } else {
        "`chmod 700` it, or name another folder"
    }
}
