//! Errors of archives.

use std::error::Error;
use std::io;

/// An archive, or a reference into it, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// It is no reference.
    #[error(
        "`{reference}` is no reference; receipts and placeholders name them, with 20 hex digits each"
    )]
    NoReference {
        /// What was given, cut short.
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
    /// Something else is stored under the reference than what it is the digest of, or than what an
    /// archive stores.
    #[error(
        "what is stored under `{reference}` in `{place}` is damaged; have it back from a copy of the archive"
    )]
    Damaged {
        /// The reference.
        reference: String,
        /// The archive.
        place: String,
    },
    /// What is stored to undo a compaction is whole, and larger than what is read.
    #[error(
        "{what} under `{reference}` in `{place}` has {bytes} bytes, and at most {most} are read; baler stores no larger one, so have the document back from where it came from"
    )]
    TooLarge {
        /// What it is: the record of a compaction, or its texts around the messages.
        what: &'static str,
        /// The reference.
        reference: String,
        /// The archive.
        place: String,
        /// Its bytes.
        bytes: usize,
        /// The most that are read.
        most: usize,
    },
    /// Another version of baler wrote how a compaction is undone.
    #[error(
        "`{reference}` has version {found}, and this baler reads version 1; take the baler that wrote it"
    )]
    Version {
        /// The reference.
        reference: String,
        /// Its version.
        found: u32,
    },
    /// The store refused, failed, or did not answer in time.
    #[error("cannot {action} the archive `{place}`: {what}")]
    Store {
        /// What was tried.
        action: &'static str,
        /// The archive.
        place: String,
        /// Why not, in the words of the store.
        what: String,
    },
    /// This process or machine has no descriptor or memory left to reach the archive with. Once
    /// it has less to do, there is some again.
    #[error(
        "cannot {action} the archive `{place}`: {what}; try again later, raise the limit of open files (`ulimit -n`), or do less at once"
    )]
    NoRoom {
        /// What was tried.
        action: &'static str,
        /// The archive.
        place: String,
        /// What the system said.
        what: String,
    },
    /// There is no archive in a folder, and none can be made there.
    #[error("there is no archive in `{place}`: {what}")]
    NotAnArchive {
        /// The folder.
        place: String,
        /// What was found instead.
        what: &'static str,
    },
    /// Something else than an archive's lies among its objects, so nothing is cleared.
    #[error(
        "`{place}` holds objects below `entries/` or `undo/` that no archive wrote, so nothing is cleared there; name the archive's own prefix, or move them away"
    )]
    Foreign {
        /// The store.
        place: String,
    },
    /// There can be no archive at such a place.
    #[error("`{url}` is no place for an archive: {what}")]
    NoPlace {
        /// What was given.
        url: String,
        /// Why not, and what can be given.
        what: String,
    },
}

/// The most characters of what a store says. Servers answer with whole pages.
const WORDS: usize = 400;

impl ArchiveError {
    pub(crate) fn no_reference(given: &str) -> Self {
        Self::NoReference {
            reference: given.chars().take(40).collect(),
        }
    }

    /// The innermost cause says what happened; what is around it names paths and addresses again.
    pub(crate) fn store(
        action: &'static str,
        place: &str,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> Self {
        let mut innermost: &(dyn Error + 'static) = error;
        while let Some(inner) = innermost.source() {
            innermost = inner;
        }
        let what = crate::bounded::bounded(&innermost.to_string(), WORDS);
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

/// Whether an error says that this process or machine lacks something. A disk that is full is none.
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
    fn what_this_process_lacks_is_told_apart_from_what_the_store_refuses() {
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
