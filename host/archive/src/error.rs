//! Why an archive, or something in it, cannot be used.

use std::error::Error;
use std::io;

use baler_files::FileError;

/// Why an archive, or a reference into it, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The given text is not a reference.
    #[error(
        "expected a reference of 20 hex digits, found `{reference}`; receipts and placeholders name references"
    )]
    NoReference {
        /// The given text: at most its first 40 characters.
        reference: String,
    },
    /// Nothing is stored under the reference.
    #[error(
        "nothing is stored under `{reference}` in `{place}`; it may be in another archive, or was cleared from this one"
    )]
    Missing {
        /// The reference.
        reference: String,
        /// The archive.
        place: String,
    },
    /// The content under the reference has another content hash, or is not what an archive stores.
    #[error(
        "the content of `{reference}` in the archive `{place}` is damaged; restore it from a copy of the archive"
    )]
    Damaged {
        /// The reference.
        reference: String,
        /// The archive.
        place: String,
    },
    /// The record of a compaction, or its texts, are undamaged but too large.
    #[error(
        "{what} under `{reference}` in `{place}` has {bytes} bytes, expected at most {most}; baler did not write it, so restore the document from another source"
    )]
    TooLarge {
        /// What is too large: the record of a compaction, or the text around the messages.
        what: &'static str,
        /// The reference.
        reference: String,
        /// The archive.
        place: String,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// Another version of baler wrote the record of a compaction.
    #[error(
        "expected version 1 of the record `{reference}`, found version {found}; use the version of baler that wrote it"
    )]
    Version {
        /// The reference.
        reference: String,
        /// The version of the record.
        found: u32,
    },
    /// The store refused, failed, or did not answer in time.
    #[error("cannot {action} the archive `{place}`: {what}")]
    Store {
        /// What was tried.
        action: &'static str,
        /// The archive.
        place: String,
        /// The reason, in the words of the store.
        what: String,
    },
    /// This process or machine has no file descriptor or memory left to access the archive. This may be
    /// different once the load is lower.
    #[error(
        "cannot {action} the archive `{place}`: {what}; try again later, raise the limit of open files (`ulimit -n`), or do less at once"
    )]
    NoRoom {
        /// What was tried.
        action: &'static str,
        /// The archive.
        place: String,
        /// The system's error message.
        what: String,
    },
    /// Objects of another program are among the archive's objects, so nothing is cleared.
    #[error(
        "`{place}` holds objects below `entries/` or `undo/` that no archive wrote, so nothing was cleared there; use the prefix of the archive alone, or move these objects away"
    )]
    Foreign {
        /// The store.
        place: String,
    },
}

/// Why an archive cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no archive in a folder, and none can be created there.
    #[error("there is no archive in `{place}`: {what}")]
    NotAnArchive {
        /// The folder.
        place: String,
        /// What was found instead.
        what: &'static str,
    },
    /// The given URL is not that of an archive.
    #[error("`{url}` is no place for an archive: {what}")]
    NoPlace {
        /// The given URL, without secrets.
        url: String,
        /// What was expected.
        what: String,
    },
    /// A folder of the archive cannot be used.
    #[error(transparent)]
    Files(#[from] FileError),
}

/// The most characters of a store's error message, since some servers send whole pages.
const WORDS: usize = 400;

impl ArchiveError {
    pub(crate) fn no_reference(given: &str) -> Self {
        Self::NoReference {
            reference: given.chars().take(40).collect(),
        }
    }

    /// Converts the error of a store. It takes the message of the innermost cause, which says what happened;
    /// the outer errors only repeat paths and addresses.
    pub(crate) fn store(
        action: &'static str,
        place: &str,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> Self {
        let mut innermost: &(dyn Error + 'static) = error;
        while let Some(inner) = innermost.source() {
            innermost = inner;
        }
        let what = innermost.to_string();
        let what = what
            .chars()
            .filter(|c| !c.is_control())
            .take(WORDS)
            .collect();
        let place = place.to_owned();
        let is_out_of_room = innermost.downcast_ref().is_some_and(is_out_of_room);
        if is_out_of_room {
            Self::NoRoom {
                action,
                place,
                what,
            }
        } else {
            Self::Store {
                action,
                place,
                what,
            }
        }
    }
}

/// Whether an error says that this process or machine lacks descriptors or memory. A full disk does not
/// count.
fn is_out_of_room(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        matches!(
            Errno::from_io_error(error),
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS)
        )
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::OutOfMemory
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn missing_descriptors_and_memory_are_not_errors_of_the_store() {
        for (errno, is_own) in [
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::NOMEM, true),
            (Errno::NOSPC, false),
            (Errno::ACCESS, false),
        ] {
            let error = io::Error::from_raw_os_error(errno.raw_os_error());
            let told = ArchiveError::store("write to", "here", &error);
            let is_no_room = matches!(told, ArchiveError::NoRoom { .. });
            assert_eq!(is_no_room, is_own, "{told}");
        }
    }
}
