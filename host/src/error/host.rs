//! Failures of the host or the machine.

use super::Cause;

/// What takes the address space, and how to get more of it.
const ADDRESS_SPACE: &str = "each memory of a component takes 4 GiB of address space, however little of it is used: allow that (`ulimit -v unlimited`, no `LimitAS=` of a service, a system that overcommits), or name a strategy that is no component";

/// The host or the machine failed; no strategy is to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// As many calls run and wait as the host takes.
    #[error(
        "too many strategies run at once: {limit} run and as many wait; call again later, or raise `concurrent_calls`"
    )]
    Overloaded {
        /// How many may run at once.
        limit: usize,
    },
    /// The system has no random numbers for a key.
    #[error("the system gives no random numbers for a key")]
    Random(#[source] std::io::Error),
    /// The system gives no thread, without which nothing would interrupt a strategy.
    #[error("the system gives no thread for the clock of the sandbox")]
    Thread(#[source] std::io::Error),
    /// The sandbox could not be made or entered.
    #[error("the sandbox failed: {action}")]
    Sandbox {
        /// What was tried.
        action: &'static str,
        /// Why not.
        #[source]
        source: Cause,
    },
    /// The machine has no memory or address space for a call.
    #[error("the sandbox has no memory; {ADDRESS_SPACE}")]
    NoMemory(#[source] Cause),
    /// The host is being dropped.
    #[error("the host is shutting down")]
    Closed,
    /// A question to a remote strategy, or an answer, cannot be written as JSON. The text of the
    /// cause may quote the conversation, so it is left out.
    #[error("the {what} of a remote strategy cannot be written as JSON")]
    NotWritten {
        /// `question` or `answer`.
        what: &'static str,
    },
    /// A request pins a unit that the conversation does not have.
    #[error("unit {unit} cannot be pinned: the conversation has {units}, counted from 0")]
    NoSuchUnit {
        /// Which.
        unit: usize,
        /// How many there are.
        units: usize,
    },
    /// Something could not be stored or read.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: std::path::PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// What leaves could not be stored, so nothing has left; or there can be no such archive.
    #[error(transparent)]
    Archive(#[from] super::ArchiveError),
    /// A folder of the host's is not private.
    #[error(
        "`{path}` is open to other users; compiled code and keys in it could be forged: {}",
        remedy_of_open(*is_shared)
    )]
    NotPrivate {
        /// The folder or file.
        path: std::path::PathBuf,
        /// Others use it too, as `/tmp`, so it cannot be closed to them.
        is_shared: bool,
    },
    /// A folder of the host's is another user's.
    #[error(
        "`{path}` belongs to another user (number {owner}), who could forge compiled code and keys in it: name another folder, or run baler as its owner"
    )]
    NotOwned {
        /// The folder or file.
        path: std::path::PathBuf,
        /// Whose it is.
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

/// What to do about a folder or file that is open to others.
const fn remedy_of_open(is_shared: bool) -> &'static str {
    if is_shared {
        "others use it too, so name a folder of your own"
    } else {
        "`chmod 700` it, or name another folder"
    }
}
