//! Why a file or folder cannot be used.

use std::io;
use std::path::PathBuf;

/// Why a file or folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file or folder cannot be read or written.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A folder or file is open to other users.
    #[error(
        "`{path}` is open to other users, who could forge what baler keeps in it: {}",
        remedy_of_open(*is_shared)
    )]
    NotPrivate {
        /// The folder or file.
        path: PathBuf,
        /// Whether other users use it too, such as `/tmp`, so that it cannot be closed to them.
        is_shared: bool,
    },
    /// A folder or file belongs to another user.
    #[error(
        "`{path}` belongs to another user (number {owner}), who could forge what baler keeps in it: name another folder, or run baler as its owner"
    )]
    NotOwned {
        /// The folder or file.
        path: PathBuf,
        /// User ID of the owner.
        owner: u32,
    },
}

/// Returns what to do about a folder or file that is open to other users.
const fn remedy_of_open(is_shared: bool) -> &'static str {
    if is_shared {
        "other users use it too, so name a folder of your own"
    } else {
        "`chmod 700` it, or name another folder"
    }
}
