//! What was pulled, on this machine: content by its hash, so that it runs without a network.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use baler_files::{
    FileError, Links, open_regular, private_folder, read_within, staged, sync_folder,
};

use crate::Digest;

/// Why content cannot be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Content has changed.
    #[error("expected `{}` to be {expected}, found {found}: remove it, and pull again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The hash of what was stored.
        expected: Digest,
        /// The hash of what is there.
        found: Digest,
    },
    /// Content is longer than anything that is stored.
    #[error("expected at most {limit} bytes in `{}`, found more: remove it, and pull again", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
}

/// A folder of content, which only its owner can change.
#[derive(Debug, Clone)]
pub struct Store {
    blobs: PathBuf,
}

impl Store {
    /// Opens the store in `folder`, and makes it if there is none. Removes what killed runs left unfinished.
    ///
    /// # Errors
    /// The folder cannot be made, or others can write to it.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        private_folder(folder)?;
        let blobs = folder.join("blobs").join("sha256");
        private_folder(&blobs)?;
        staged::clear(&blobs, false);
        Ok(Self { blobs })
    }

    /// Returns where content is, or would be.
    #[must_use]
    pub fn path(&self, digest: Digest) -> PathBuf {
        self.blobs.join(digest.hex())
    }

    /// Stores content, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&self, content: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(content);
        let path = self.path(digest);
        let failed = |source| FileError::Io {
            action: "write",
            path: path.clone(),
            source,
        };
        // Also where there is such a file: it may have changed.
        let mut file = staged::begin(&self.blobs).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        // Not every file system can sync a folder. The content of the file is synced in any case.
        let _ = sync_folder(&self.blobs);
        Ok(digest)
    }

    /// Returns content of at most `limit` bytes, after a check of its hash; `None` if it is not stored.
    ///
    /// # Errors
    /// It cannot be read, or has changed.
    pub fn get(&self, digest: Digest, limit: usize) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(digest);
        let failed = |source| FileError::Io {
            action: "read",
            path: path.clone(),
            source,
        };
        let shown = path.display().to_string();
        let file = open_regular(&path, Links::Refused, &shown).map_err(failed)?;
        let Some(file) = file else { return Ok(None) };
        let content = read_within(file, limit).map_err(failed)?;
        let content = content.ok_or_else(|| StoreError::TooLarge {
            path: path.clone(),
            limit,
        })?;
        match Digest::of(&content) {
            found if found == digest => Ok(Some(content)),
            found => Err(StoreError::Changed {
                path,
                expected: digest,
                found,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn content_is_returned_as_it_was_stored_and_changes_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("store");
        let store = Store::open(&folder).unwrap();
        let digest = store.put(b"content").unwrap();
        assert_eq!(digest, Digest::of(b"content"));
        let path = folder.join("blobs/sha256").join(digest.hex());
        assert_eq!(fs::read(&path).unwrap(), b"content");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(store.get(digest, 7).unwrap().unwrap(), b"content");
        assert!(store.get(Digest::of(b"other"), 7).unwrap().is_none());
        let error = store.get(digest, 6).unwrap_err();
        assert!(
            matches!(error, StoreError::TooLarge { limit: 6, .. }),
            "{error}"
        );
        fs::write(&path, b"changed").unwrap();
        let error = store.get(digest, 7).unwrap_err().to_string();
        for part in [digest, Digest::of(b"changed")] {
            assert!(error.contains(&part.to_string()), "{error}");
        }
        // Pulling again repairs it.
        store.put(b"content").unwrap();
        assert_eq!(store.get(digest, 7).unwrap().unwrap(), b"content");
    }

    #[cfg(unix)]
    #[test]
    fn a_store_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Store::open(folder.path()).unwrap_err();
        assert!(
            matches!(error, StoreError::File(FileError::NotPrivate { .. })),
            "{error}"
        );
    }
}
