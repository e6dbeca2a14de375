//! What left a conversation, stored before the result is handed over (invariant I6).

mod layout;
mod backend;
mod folder;
mod objects;
mod place;
pub(crate) mod retrieve;
mod room;
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
use object_store::ObjectStore;
use object_store::path::Path as Key;
use serde::de::IgnoredAny;

pub use crate::error::ArchiveError;
pub use clearing::Contents;
pub use retrieve::Retrieve;

/// The stores that [`Archive::on`] takes.
pub use object_store;

pub(crate) use left::Stored;

use crate::error::HostError;
use crate::reference::{is_reference, reference_of};
use backend::{Backend, Found, MOST_BYTES};
use folder::Folder;
use layout::path_of;
use objects::Objects;
use room::Room;

/// Entries that one caller reads or writes at once, as far as all callers together leave room.
const AT_ONCE: usize = 16;

/// An entry that is older than this is written again when it is named again. So when a record is
/// begun, no entry that it names is older, and what is old can be cleared by age alone, whoever
/// writes meanwhile.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// A compaction takes less than this from its first look at an entry until its record is written.
/// What is younger nobody clears while others store.
const STORING: Duration = Duration::from_secs(60 * 60);

/// Units of conversations, each under the digest of its messages, so that none is stored twice;
/// single messages, as they were before a repair; and for each compaction what it is undone by.
///
/// A clone is the same archive. Many may use one place at once, in one process or several: what
/// is under a reference is the same, whoever writes it, and appears whole or not at all.
#[derive(Clone)]
pub struct Archive {
    backend: Backend,
    room: Room,
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

    /// What is older than this is written again when it is stored again. A record always is: its
    /// age is that of the last compaction of the document, not of the first.
    const fn fresh(self) -> Duration {
        match self {
            Self::Entry => FRESH,
            Self::Undo => Duration::ZERO,
        }
    }
}

impl Archive {
    /// Whether a file is an archive's own, or would be taken for one. Other files in the folder of an
    /// archive are not.
    #[must_use]
    pub fn owns(file: &Path) -> bool {
        file.ancestors().any(|path| {
            path.file_name().is_some_and(layout::is_own)
                && path
                    .parent()
                    .is_some_and(|folder| folder.join(layout::MARKER).is_file())
        })
    }

    /// Descriptors that an archive in a folder and its clones take at most while they store and
    /// read, however many do so at once. Who has more to do waits.
    pub const DESCRIPTORS: usize = room::DESCRIPTORS;

    /// The archive in `folder`, which is made where the folder is not there or empty. Unfinished
    /// files that killed runs left in it are removed.
    ///
    /// # Errors
    /// The folder cannot be made, others can write into it, or it holds other files and is no
    /// archive.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, HostError> {
        let folder = folder.as_ref();
        Ok(Self::in_folder(Folder::open(folder)?, folder))
    }

    /// The archive in `folder`, to be read or cleared: nothing is created.
    ///
    /// # Errors
    /// There is no archive, it cannot be read, or others can write into it.
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, HostError> {
        let folder = folder.as_ref();
        Ok(Self::in_folder(Folder::existing(folder)?, folder))
    }

    fn in_folder(backend: Folder, folder: &Path) -> Self {
        Self {
            backend: Backend::Folder(backend),
            room: Room::new(),
            place: folder.display().to_string().into(),
        }
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
            backend: Backend::Objects(Objects {
                store,
                prefix: Key::from(prefix),
            }),
            room: Room::new(),
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
    /// It is no reference, nothing is stored under it, something else is than a JSON list, or the
    /// archive cannot be read.
    pub async fn get(&self, reference: &str) -> Result<String, ArchiveError> {
        let messages = self.read(Kind::Entry, reference).await?;
        if is_list(&messages) {
            Ok(messages)
        } else {
            Err(self.damaged(reference))
        }
    }

    /// The same, if it is small and whole. Of all else it is `None`; [`Archive::get`] reads that,
    /// or tells what is wrong with it.
    async fn get_small(&self, reference: &str) -> Result<Option<String>, ArchiveError> {
        if !is_reference(reference) {
            return Ok(None);
        }
        let reference = reference.to_ascii_lowercase();
        let path = path_of(Kind::Entry, &reference);
        let backend = self.backend.clone();
        let found = self
            .room
            .take(move |place| async move { backend.read_small(&path, place).await })
            .await;
        let found = found.map_err(|problem| self.failed("read", &*problem))?;
        let content = found.map(|found| found.content);
        let content = content.filter(|content| reference_of(content) == reference);
        let messages = content.and_then(|content| String::from_utf8(content).ok());
        Ok(messages.filter(|messages| is_list(messages)))
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
        let (backend, path) = (self.backend.clone(), path_of(kind, reference));
        let found = self
            .room
            .take(move |place| async move { backend.read(&path, place).await })
            .await;
        found.map_err(|problem| self.failed("read", &*problem))
    }

    fn failed(
        &self,
        action: &'static str,
        problem: &(dyn std::error::Error + Send + Sync + 'static),
    ) -> ArchiveError {
        ArchiveError::store(action, &self.place, problem)
    }

    /// Stores contents under their references. What is there, whole and younger than `fresh`, is not
    /// written.
    ///
    /// After a failure nothing more is begun; but what was begun is waited for, since a folder
    /// writes on threads that nobody can stop, and would leave halves behind.
    ///
    /// Gives back what [`Archive::look_again`] has to look at.
    async fn put_all(
        &self,
        kind: Kind,
        fresh: Duration,
        contents: BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, ArchiveError> {
        let has_failed = &AtomicBool::new(false);
        let contents = contents.into_iter().map(|(reference, content)| {
            let archive = self.clone();
            async move {
                if has_failed.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let put = archive.put(kind, fresh, &reference, content).await;
                has_failed.fetch_or(put.is_err(), Ordering::Relaxed);
                put.map(|renewed| renewed.map(|content| (reference, content)))
            }
        });
        let put: Vec<Result<Option<(String, String)>, ArchiveError>> = stream::iter(contents)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        put.into_iter().filter_map(Result::transpose).collect()
    }

    /// Looks once more at what was there before and was written again, and writes what is gone. Who
    /// clears a store may have seen it when it was old, and removed it after it was written.
    async fn look_again(
        &self,
        renewed: [(Kind, BTreeMap<String, String>); 2],
    ) -> Result<(), ArchiveError> {
        if renewed.iter().all(|(_, contents)| contents.is_empty()) {
            return Ok(());
        }
        let settled = self.backend.settle().await;
        settled.map_err(|problem| self.failed("write to", &*problem))?;
        for (kind, contents) in renewed {
            // Of any kind what was just written is fresh.
            self.put_all(kind, FRESH, contents).await?;
        }
        Ok(())
    }

    /// Gives the content back where it was written again and has to be looked at once more.
    async fn put(
        &self,
        kind: Kind,
        fresh: Duration,
        reference: &str,
        content: String,
    ) -> Result<Option<String>, ArchiveError> {
        let path = path_of(kind, reference);
        // What could be stored but not read again would be lost.
        if content.len() > MOST_BYTES {
            return Err(ArchiveError::Store {
                action: "write to",
                place: self.place.to_string(),
                what: backend::too_large(&path),
            });
        }
        // Half written by a crash of the machine, or damaged: it is written again.
        let found = self.look_up(kind, reference).await?;
        let is_known = found.is_some();
        let whole = found.filter(|found| found.content == content.as_bytes());
        let whole = whole.map(|found| age(found.written));
        if whole.is_some_and(|age| age < fresh) {
            return Ok(None);
        }
        // What is younger than that nobody clears just now.
        let is_young = whole.is_some_and(|age| age < STORING);
        let may_be_missed = is_known && !is_young && self.backend.may_miss();
        let renewed = may_be_missed.then(|| content.clone());
        let backend = self.backend.clone();
        let written = self
            .room
            .take(move |place| async move { backend.write(&path, content, place).await })
            .await;
        written.map_err(|problem| self.failed("write to", &*problem))?;
        Ok(renewed)
    }
}

/// Whether a text is one JSON list. It is quoted in other JSON, of which it must not be able to
/// become more than a value.
fn is_list(text: &str) -> bool {
    serde_json::from_str::<Vec<IgnoredAny>>(text).is_ok()
}

fn age(written: SystemTime) -> Duration {
    // Where the clocks differ, it may be from the future.
    written.elapsed().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn get_gives_nothing_but_a_json_list_whatever_the_digest_says() {
        let archive = Archive::in_memory();
        for (content, is_good) in [
            ("[]", true),
            (r#" [{"role":"user"}, 1] "#, true),
            (r#"1,"3f2a90c41be07d5512aa":[]"#, false),
            (r#"[],"3f2a90c41be07d5512aa":[]"#, false),
            ("{}", false),
            ("[1", false),
            ("", false),
        ] {
            let reference = reference_of(content.as_bytes());
            let put = archive.put(Kind::Entry, FRESH, &reference, content.to_owned());
            put.await.expect("is stored");
            let wanted = if is_good {
                Ok(content.to_owned())
            } else {
                Err(archive.damaged(&reference))
            };
            assert_eq!(archive.get(&reference).await, wanted);
            let small = archive.get_small(&reference).await.expect("reads");
            assert_eq!(small, wanted.ok());
        }
    }

    #[tokio::test]
    async fn get_small_gives_what_is_small_in_a_folder_and_in_a_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let in_folder = Archive::open(folder.path()).expect("an archive");
        let in_memory = Archive::in_memory();
        // With the two brackets and quotes as many bytes as are small, and one more.
        for more in [0, 1] {
            let text = "x".repeat(backend::SMALL_BYTES - 4 + more);
            let content = format!("[\"{text}\"]");
            let reference = reference_of(content.as_bytes());
            for archive in [&in_folder, &in_memory] {
                let put = archive.put(Kind::Entry, FRESH, &reference, content.clone());
                put.await.expect("is stored");
                let small = archive.get_small(&reference).await.expect("reads");
                assert_eq!(small.is_some(), more == 0);
                assert!(archive.get(&reference).await == Ok(content.clone()));
            }
        }
    }

    #[tokio::test]
    async fn archive_stores_nothing_that_is_too_large_to_be_read_again() {
        let archive = Archive::in_memory();
        let content = "x".repeat(MOST_BYTES + 1);
        let put = archive.put(Kind::Entry, FRESH, "0123456789abcdef0123", content);
        let error = put.await.expect_err("it is too large");
        assert!(error.to_string().contains("268435456 bytes"), "{error}");
        assert_eq!(archive.contents().await, Ok(Contents::default()));
    }
}
