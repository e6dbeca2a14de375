//! What left a conversation, stored before the result is handed over (invariant I6).

mod error;
mod entry;
mod place;
#[cfg(feature = "cloud")]
mod cloud;
mod undo;
mod left;
mod shown;
mod clearing;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt as _, stream};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};

pub use clearing::Contents;
pub(crate) use entry::reference;
pub use error::ArchiveError;
pub(crate) use left::Stored;

use crate::fault::HostError;
use crate::state;
use entry::{is_reference, reference_of};

/// Entries that are read or written at once.
const AT_ONCE: usize = 16;

/// An entry that is older than this is written again when it is named again. So no entry is
/// older by more than this than the newest record that names it, and what is old can be cleared
/// by age alone, whoever writes meanwhile.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Units of conversations, each under the digest of its messages, so that none is stored twice;
/// single messages, as they were before a repair; and for each compaction what it is undone by.
///
/// A clone is the same archive. Many may use one place at once, in one process or several: what
/// is under a reference is the same, whoever writes it, and appears whole or not at all.
#[derive(Clone)]
pub struct Archive {
    store: Arc<dyn ObjectStore>,
    prefix: Key,
    place: Arc<str>,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Archive").field(&self.place).finish()
    }
}

/// What is stored under a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A JSON list: the messages of a unit, or texts that stand around messages.
    Entry,
    /// How a compaction is undone.
    Undo,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Entry, Self::Undo];

    const fn folder(self) -> &'static str {
        match self {
            Self::Entry => "entries",
            Self::Undo => "undo",
        }
    }
}

impl Archive {
    /// The archive in `folder`, which is made where it is not there.
    ///
    /// # Errors
    /// The folder cannot be made, or others can write into it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, HostError> {
        let folder = folder.as_ref();
        state::private_folder(folder)?;
        // Nobody else reads what stands in them, even where others may look into `folder`.
        for kind in Kind::ALL {
            state::private_folder(&folder.join(kind.folder()))?;
        }
        let place = folder.display().to_string();
        let store = LocalFileSystem::new_with_prefix(folder)
            .map_err(|error| ArchiveError::store("open", &place, &error))?
            .with_fsync(true);
        Ok(Self::on(Arc::new(store), "", place))
    }

    /// An archive that lasts as long as it and its clones.
    #[must_use]
    pub fn in_memory() -> Self {
        let store = object_store::memory::InMemory::new();
        Self::on(Arc::new(store), "", "memory:")
    }

    /// An archive on any store, below `prefix`. Errors call it `place`.
    pub fn on(store: Arc<dyn ObjectStore>, prefix: &str, place: impl Into<Arc<str>>) -> Self {
        Self {
            store,
            prefix: Key::from(prefix),
            place: place.into(),
        }
    }

    /// Where it is, for people.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The messages that are stored under this reference, as a JSON list.
    ///
    /// # Errors
    /// It is no reference, nothing is stored under it, or the archive cannot be read.
    pub async fn get(&self, reference: &str) -> Result<String, ArchiveError> {
        self.read(Kind::Entry, reference).await
    }

    async fn read(&self, kind: Kind, reference: &str) -> Result<String, ArchiveError> {
        if !is_reference(reference) {
            return Err(ArchiveError::no_reference(reference));
        }
        let reference = &reference.to_ascii_lowercase();
        match self.look_up(kind, reference).await? {
            None => Err(ArchiveError::Missing {
                reference: reference.clone(),
                place: self.place.to_string(),
            }),
            Some(found) if reference_of(&found.content) != *reference => {
                Err(self.damaged(reference))
            }
            Some(found) => String::from_utf8(found.content).map_err(|_| self.damaged(reference)),
        }
    }

    fn damaged(&self, reference: &str) -> ArchiveError {
        ArchiveError::Damaged {
            reference: reference.to_owned(),
            place: self.place.to_string(),
        }
    }

    async fn look_up(&self, kind: Kind, reference: &str) -> Result<Option<Found>, ArchiveError> {
        let failed = |error| ArchiveError::store("read", &self.place, &error);
        match self.store.get(&self.key(kind, reference)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
            Ok(found) => {
                let written = SystemTime::from(found.meta.last_modified);
                let content = found.bytes().await.map_err(failed)?.to_vec();
                Ok(Some(Found { written, content }))
            }
        }
    }

    /// Stores contents under their references. What is there, whole and not old, is not written.
    ///
    /// After a failure nothing more is begun; but what was begun is waited for, since a folder
    /// writes on threads that nobody can stop, and would leave halves behind.
    async fn put_all(
        &self,
        kind: Kind,
        contents: BTreeMap<String, String>,
    ) -> Result<(), ArchiveError> {
        let has_failed = &AtomicBool::new(false);
        let contents = contents.into_iter().map(|(reference, content)| {
            let archive = self.clone();
            async move {
                if has_failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let put = archive.put(kind, &reference, content).await;
                has_failed.fetch_or(put.is_err(), Ordering::Relaxed);
                put
            }
        });
        let put: Vec<Result<(), ArchiveError>> = stream::iter(contents)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        put.into_iter().collect()
    }

    async fn put(&self, kind: Kind, reference: &str, content: String) -> Result<(), ArchiveError> {
        // Half written by a crash of the machine, or damaged: it is written again.
        let is_there = self
            .look_up(kind, reference)
            .await?
            .is_some_and(|found| found.content == content.as_bytes() && age(found.written) < FRESH);
        if is_there {
            return Ok(());
        }
        self.store
            .put(&self.key(kind, reference), content.into())
            .await
            .map(drop)
            .map_err(|error| ArchiveError::store("write to", &self.place, &error))
    }

    fn key(&self, kind: Kind, reference: &str) -> Key {
        self.folder(kind).join(format!("{reference}.json"))
    }

    fn folder(&self, kind: Kind) -> Key {
        self.prefix.clone().join(kind.folder())
    }
}

struct Found {
    written: SystemTime,
    content: Vec<u8>,
}

fn age(written: SystemTime) -> Duration {
    // Where the clocks differ, it may be from the future.
    written.elapsed().unwrap_or_default()
}
