//! The archive.

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

use crate::backend::{Backend, Found, MAX_ENTRY_BYTES, SMALL_BYTES};
use crate::error::{ArchiveError, OpenError};
use crate::folder::Folder;
use crate::layout::path_of;
use crate::objects::Objects;
use crate::reference::{is_reference, reference_of};
use crate::slots::Slots;

/// The most entries that one call reads or writes at once; all calls together have the limit of `slots.rs`.
pub(crate) const CONCURRENCY: usize = 16;

/// An entry that is older than this is rewritten when it is stored again. So no entry is older when a record
/// that names it is begun, and old entries can be cleared by their age alone, while others write.
pub(crate) const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// A compaction takes less than this from its first check of an entry until its record is written. Nobody
/// clears younger entries while others store.
pub(crate) const STORING: Duration = Duration::from_secs(60 * 60);

/// Store of removed content: units of conversations, single messages as they were before a repair, and an
/// undo record for each compaction.
///
/// The key of an entry, its reference, is the beginning of the SHA-256 of its content, so no entry is stored
/// twice. Writes are atomic. Several processes may use one archive at once. Clones share the archive.
#[derive(Clone)]
pub struct Archive {
    pub(crate) backend: Backend,
    pub(crate) slots: Slots,
    pub(crate) place: Arc<str>,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Archive").field(&self.place).finish()
    }
}

/// The kind of content under a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A JSON list: the messages of a unit, or the texts around messages.
    Entry,
    /// An undo record of a compaction.
    Undo,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Entry, Self::Undo];

    pub(crate) const fn folder(self) -> &'static str {
        match self {
            Self::Entry => "entries",
            Self::Undo => "undo",
        }
    }

    /// The age from which content is rewritten when it is stored again. A record is always rewritten: its age
    /// is that of the last compaction of the document, not of the first.
    pub(crate) const fn fresh(self) -> Duration {
        match self {
            Self::Entry => FRESH,
            Self::Undo => Duration::ZERO,
        }
    }
}

impl Archive {
    /// Returns whether a path is a file of an archive, or would be one if it were written. Other files in the
    /// folder of an archive are not.
    #[must_use]
    pub fn owns(file: &Path) -> bool {
        file.ancestors().any(|path| {
            path.file_name().is_some_and(crate::layout::is_own)
                && path
                    .parent()
                    .is_some_and(|folder| folder.join(crate::layout::MARKER).is_file())
        })
    }

    /// The most file descriptors that an archive in a folder and its clones use at once. Further reads and
    /// writes wait.
    pub const DESCRIPTORS: usize = crate::slots::DESCRIPTORS;

    /// Opens the archive in `folder`, and creates it if the folder is missing or empty. Removes unfinished
    /// files of killed runs.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created, if other users have access to it, or if it holds
    /// other files and is no archive.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        Ok(Self::in_folder(Folder::open(folder)?, folder))
    }

    /// Opens an existing archive in `folder`, to read or clear it. Creates nothing.
    ///
    /// # Errors
    /// Returns an error if there is no archive, if it cannot be read, or if other users have access to it.
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        Ok(Self::in_folder(Folder::existing(folder)?, folder))
    }

    fn in_folder(backend: Folder, folder: &Path) -> Self {
        Self {
            backend: Backend::Folder(backend),
            slots: Slots::new(),
            place: folder.display().to_string().into(),
        }
    }

    /// Creates an archive in memory, which exists as long as its last clone.
    #[must_use]
    pub fn in_memory() -> Self {
        let store = object_store::memory::InMemory::new();
        Self::on(Arc::new(store), "", "memory:")
    }

    /// Creates an archive in any store, below `prefix`. `place` is its name in errors.
    pub fn on(store: Arc<dyn ObjectStore>, prefix: &str, place: impl Into<Arc<str>>) -> Self {
        Self {
            backend: Backend::Objects(Objects {
                store,
                prefix: Key::from(prefix),
            }),
            slots: Slots::new(),
            place: place.into(),
        }
    }

    /// Returns where the archive is, for people: a folder, or a URL without secrets.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Retrieves the messages that are stored under this reference, as the text of a JSON list.
    ///
    /// # Errors
    /// Returns an error if `reference` is not a reference, if nothing or something damaged is stored under
    /// it, or if the archive cannot be read.
    pub async fn get(&self, reference: &str) -> Result<String, ArchiveError> {
        let messages = self.read(Kind::Entry, reference).await?;
        if is_list(&messages) {
            Ok(messages)
        } else {
            Err(self.damaged(reference))
        }
    }

    /// Like [`Archive::get`], but only for small and undamaged entries. Returns `None` for all others;
    /// [`Archive::get`] reads them, or reports what is wrong.
    pub(crate) async fn get_small(&self, reference: &str) -> Result<Option<String>, ArchiveError> {
        if !is_reference(reference) {
            return Ok(None);
        }
        let reference = reference.to_ascii_lowercase();
        let found = self.look_up(Kind::Entry, &reference, SMALL_BYTES).await?;
        let content = found.and_then(|found| found.content);
        let content = content.filter(|content| reference_of(content) == reference);
        let messages = content.and_then(|content| String::from_utf8(content).ok());
        Ok(messages.filter(|messages| is_list(messages)))
    }

    pub(crate) async fn read(&self, kind: Kind, reference: &str) -> Result<String, ArchiveError> {
        if !is_reference(reference) {
            return Err(ArchiveError::no_reference(reference));
        }
        let reference = &reference.to_ascii_lowercase();
        let found = self.look_up(kind, reference, MAX_ENTRY_BYTES).await?;
        let found = found.ok_or_else(|| ArchiveError::Missing {
            reference: reference.clone(),
            place: self.place.to_string(),
        })?;
        let too_large = || self.too_large("read", &path_of(kind, reference));
        let content = found.content.ok_or_else(too_large)?;
        if reference_of(&content) != *reference {
            return Err(self.damaged(reference));
        }
        String::from_utf8(content).map_err(|_| self.damaged(reference))
    }

    pub(crate) fn damaged(&self, reference: &str) -> ArchiveError {
        ArchiveError::Damaged {
            reference: reference.to_owned(),
            place: self.place.to_string(),
        }
    }

    /// The error for content above [`MAX_ENTRY_BYTES`], which is neither read nor written.
    fn too_large(&self, action: &'static str, path: &str) -> ArchiveError {
        ArchiveError::Store {
            action,
            place: self.place.to_string(),
            what: format!(
                "`{path}` has more than {MAX_ENTRY_BYTES} bytes, the most that one entry of an archive may have"
            ),
        }
    }

    async fn look_up(
        &self,
        kind: Kind,
        reference: &str,
        most: usize,
    ) -> Result<Option<Found>, ArchiveError> {
        let (backend, path) = (self.backend.clone(), path_of(kind, reference));
        let found = self
            .slots
            .run(move |slot| async move { backend.read(path, most, slot).await })
            .await;
        found.map_err(|problem| self.failed("read", &*problem))
    }

    pub(crate) fn failed(
        &self,
        action: &'static str,
        problem: &(dyn std::error::Error + Send + Sync + 'static),
    ) -> ArchiveError {
        ArchiveError::store(action, &self.place, problem)
    }

    /// Stores contents under their references. Undamaged content that is younger than `fresh` is not
    /// rewritten.
    ///
    /// Starts no further write after a failure, but waits for those that were started: a folder writes on
    /// threads that cannot be stopped, and would leave unfinished files behind.
    ///
    /// Returns what [`Archive::look_again`] has to check.
    pub(crate) async fn put_all(
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
            .buffer_unordered(CONCURRENCY)
            .collect()
            .await;
        put.into_iter().filter_map(Result::transpose).collect()
    }

    /// Checks again the old content that was rewritten, and writes it again if it is gone: another process
    /// that clears the store may have checked its age before it was rewritten, and removed it afterwards.
    pub(crate) async fn look_again(
        &self,
        renewed: [(Kind, BTreeMap<String, String>); 2],
    ) -> Result<(), ArchiveError> {
        if renewed.iter().all(|(_, contents)| contents.is_empty()) {
            return Ok(());
        }
        let settled = self.backend.wait_for_removals().await;
        settled.map_err(|problem| self.failed("write to", &*problem))?;
        for (kind, contents) in renewed {
            // Content of either kind that was just written is young enough.
            self.put_all(kind, FRESH, contents).await?;
        }
        Ok(())
    }

    /// Stores one content. Returns it if it was rewritten and [`Archive::look_again`] has to check it.
    pub(crate) async fn put(
        &self,
        kind: Kind,
        fresh: Duration,
        reference: &str,
        content: String,
    ) -> Result<Option<String>, ArchiveError> {
        let path = path_of(kind, reference);
        // Content that can be stored but not read again would be lost.
        if content.len() > MAX_ENTRY_BYTES {
            return Err(self.too_large("write to", &path));
        }
        // Damaged content, such as after a crash of the machine, is rewritten.
        let found = self.look_up(kind, reference, MAX_ENTRY_BYTES).await?;
        let is_known = found.is_some();
        let whole = found.filter(|found| found.content.as_deref() == Some(content.as_bytes()));
        let whole = whole.map(|found| age(found.written));
        if whole.is_some_and(|age| age < fresh) {
            return Ok(None);
        }
        // Nobody clears younger content.
        let is_young = whole.is_some_and(|age| age < STORING);
        let may_be_missed = is_known && !is_young && self.backend.removals_may_race();
        let renewed = may_be_missed.then(|| content.clone());
        let backend = self.backend.clone();
        let written = self
            .slots
            .run(move |slot| async move { backend.write(path, content, slot).await })
            .await;
        written.map_err(|problem| self.failed("write to", &*problem))?;
        Ok(renewed)
    }
}

/// Whether a text is exactly one JSON list. The text is embedded in other JSON, where it must not become more
/// than one value.
pub(crate) fn is_list(text: &str) -> bool {
    serde_json::from_str::<Vec<IgnoredAny>>(text).is_ok()
}

pub(crate) fn age(written: SystemTime) -> Duration {
    // If clocks differ, the time may be in the future.
    written.elapsed().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn get_returns_only_json_lists_even_if_the_content_hash_is_right() {
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
    async fn get_small_returns_small_entries_of_a_folder_and_of_a_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let in_folder = Archive::open(folder.path()).expect("an archive");
        let in_memory = Archive::in_memory();
        // With the two brackets and quotes: the most bytes of a small entry, and one more.
        for more in [0, 1] {
            let text = "x".repeat(crate::backend::SMALL_BYTES - 4 + more);
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
    async fn archive_rejects_content_that_is_too_large_to_read_again() {
        let archive = Archive::in_memory();
        let content = "x".repeat(MAX_ENTRY_BYTES + 1);
        let put = archive.put(Kind::Entry, FRESH, "0123456789abcdef0123", content);
        let error = put.await.expect_err("it is too large");
        assert!(error.to_string().contains("268435456 bytes"), "{error}");
        assert_eq!(archive.contents().await, Ok(crate::Contents::default()));
    }
}
