//! Counts what an archive holds, and clears old content.

use std::time::Duration;

use crate::archive::{Archive, FRESH, Kind, STORING, age};
use crate::backend::{Backend, Item};
use crate::error::ArchiveError;
use crate::layout::Role;

/// How much older than an undo record an entry must be to be cleared: the entry was not rewritten if it was
/// younger than [`FRESH`] when the compaction began.
const GRACE: Duration = FRESH.saturating_add(STORING);

/// How much an archive holds, or how much was cleared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Contents {
    /// Number of entries: units, single messages, and the texts around them.
    pub entries: u64,
    /// Number of compactions that can be undone.
    pub compactions: u64,
    /// Number of files that are being written, or that a killed run left behind. They hold texts of
    /// conversations.
    pub unfinished: u64,
    /// Bytes of all these together.
    pub bytes: u64,
}

impl Contents {
    fn of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Self {
        let mut contents = Self::default();
        for item in items {
            match item.role {
                Role::Stored(Kind::Entry) => contents.entries += 1,
                Role::Stored(Kind::Undo) => contents.compactions += 1,
                Role::Unfinished => contents.unfinished += 1,
            }
            contents.bytes += item.bytes;
        }
        contents
    }
}

impl Archive {
    /// Counts what the archive holds. Other files in its folder are ignored.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be read.
    pub async fn contents(&self) -> Result<Contents, ArchiveError> {
        let listing = self.backend.list().await;
        let listing = listing.map_err(|problem| self.failed("list", &*problem))?;
        Ok(Contents::of(&listing.items))
    }

    /// Counts what [`Archive::clear`] would clear.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be read, or if a store holds other objects among the archive's.
    pub async fn old(&self, than: Duration) -> Result<Contents, ArchiveError> {
        Ok(Contents::of(self.find_old(than).await?.iter().flatten()))
    }

    /// Clears the undo records of compactions that are older than `than`, and entries that were not stored
    /// again since a day and an hour before that. Younger compactions can still be undone. Also clears the
    /// unfinished files of killed runs, whatever their age. Returns how much was cleared.
    ///
    /// Other processes may store content at the same time: it is kept, even if it is an old entry that is
    /// rewritten at the moment of its removal. (In an object store this does not hold if the store performs a
    /// removal after its request timed out, if this process is killed at that moment, or if `than` is less
    /// than an hour.)
    ///
    /// Removes only files that have an archive's names, in the archive's own folders.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be read or written; what was cleared until then is gone. Also
    /// returns an error if a store holds other objects among the archive's; then nothing was cleared.
    pub async fn clear(&self, than: Duration) -> Result<Contents, ArchiveError> {
        let old = self.find_old(than).await?;
        let contents = Contents::of(old.iter().flatten());
        for items in old {
            let removed = self.backend.remove(items).await;
            removed.map_err(|problem| self.failed("clear", &*problem))?;
        }
        Ok(contents)
    }

    /// Finds what can be cleared, in the order of removal. Records come first: if clearing is interrupted, no
    /// record names an entry that is gone.
    async fn find_old(&self, than: Duration) -> Result<[Vec<Item>; 3], ArchiveError> {
        let listing = self.backend.list().await;
        let listing = listing.map_err(|problem| self.failed("list", &*problem))?;
        // A folder has a marker file. A store is known to be an archive only by the names in it.
        if listing.has_foreign && matches!(self.backend, Backend::Objects(_)) {
            return Err(ArchiveError::Foreign {
                place: self.place.to_string(),
            });
        }
        let (mut records, mut entries, mut unfinished) = (Vec::new(), Vec::new(), Vec::new());
        for item in listing.items {
            let (than, old) = match item.role {
                Role::Stored(Kind::Undo) => (than, &mut records),
                Role::Stored(Kind::Entry) => (than.saturating_add(GRACE), &mut entries),
                Role::Unfinished => (Duration::ZERO, &mut unfinished),
            };
            if age(item.written) >= than {
                old.push(item);
            }
        }
        let abandoned = self.backend.abandoned(unfinished).await;
        let abandoned = abandoned.map_err(|problem| self.failed("read", &*problem))?;
        Ok([records, entries, abandoned])
    }
}
