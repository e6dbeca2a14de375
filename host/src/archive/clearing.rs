//! How much there is, and clearing what is old.

use std::time::Duration;

use super::backend::{Backend, Item};
use super::layout::Role;
use super::{Archive, FRESH, Kind, STORING, age};
use crate::error::ArchiveError;

/// How much older than a record an entry is that is cleared with it: it may have been fresh when the record
/// was begun.
const GRACE: Duration = FRESH.saturating_add(STORING);

/// How much there is, or was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Contents {
    /// Units, single messages, and texts around them.
    pub entries: u64,
    /// Compactions that can be undone.
    pub compactions: u64,
    /// Files that runs are writing, or left when they were killed. They hold texts of
    /// conversations.
    pub unfinished: u64,
    /// Bytes of all of it.
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
    /// All that is there of the archive's. Other files that lie among it are passed over.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub async fn contents(&self) -> Result<Contents, ArchiveError> {
        let listing = self.backend.list().await;
        let listing = listing.map_err(|problem| self.failed("list", &*problem))?;
        Ok(Contents::of(&listing.items))
    }

    /// What [`Archive::clear`] would clear.
    ///
    /// # Errors
    /// The archive cannot be read; or a store holds other objects where the archive's should be.
    pub async fn old(&self, than: Duration) -> Result<Contents, ArchiveError> {
        Ok(Contents::of(self.find_old(than).await?.iter().flatten()))
    }

    /// Clears the records of compactions older than this, and what nobody named since a day and an
    /// hour before. So what is younger can still be undone. What others store meanwhile stays, also what
    /// lay there unnamed for so long and is written again in the moment when it is cleared. (Of a
    /// store, unless it removes something after it did not answer in time, or this is ended just
    /// then, or clears what is younger than an hour.) Clears also what killed runs left unfinished, of any age.
    ///
    /// Removes nothing but files that have an archive's names and lie where it puts them.
    ///
    /// # Errors
    /// The archive cannot be read or written; what was cleared until then is gone. Or a store
    /// holds other objects where the archive's should be; then nothing was cleared.
    pub async fn clear(&self, than: Duration) -> Result<Contents, ArchiveError> {
        let old = self.find_old(than).await?;
        let contents = Contents::of(old.iter().flatten());
        for items in old {
            let removed = self.backend.remove(items).await;
            removed.map_err(|problem| self.failed("clear", &*problem))?;
        }
        Ok(contents)
    }

    /// What can be cleared, in the order in which it has to go. Records first: where it ends half
    /// way, none is left that names what is gone.
    async fn find_old(&self, than: Duration) -> Result<[Vec<Item>; 3], ArchiveError> {
        let listing = self.backend.list().await;
        let listing = listing.map_err(|problem| self.failed("list", &*problem))?;
        // A folder is marked; of a store nothing but its names tells that it is an archive.
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
