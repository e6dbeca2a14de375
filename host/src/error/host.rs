//! Failures of the host or the machine.

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
    /// The sandbox could not be made or entered.
    #[error("the sandbox failed: {what}")]
    Sandbox {
        /// What happened.
        what: String,
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

/// What to do about a folder or file that is open to others.
const fn remedy_of_open(is_shared: bool) -> &'static str {
    if is_shared {
        "others use it too, so name a folder of your own"
    } else {
        "`chmod 700` it, or name another folder"
    }
}
