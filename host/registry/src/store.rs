//! What was pulled, on this machine: content by its hash, so that it runs without a network.

use std::path::{Path, PathBuf};

use baler_files::{FileError, Links, private_folder, staged};

use crate::file::{self, Readers};
use crate::lock::Entry;
use crate::resolve::{Pulled, ResolveError, check_bundles};
use crate::wanted::{Unsigned, Wanted};
use crate::{Contents, Digest, Limits, Manifest};

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

/// A folder of content, which only its owner can change: components and manifests by their hash, and the signatures
/// that verified the manifests.
#[derive(Debug, Clone)]
pub struct Store {
    blobs: PathBuf,
    signatures: PathBuf,
}

impl Store {
    /// Opens the store in `folder`, and makes it if there is none. Removes what killed runs left unfinished.
    ///
    /// # Errors
    /// The folder cannot be made, or others can write to it.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        private_folder(folder)?;
        let store = Self {
            blobs: folder.join("blobs").join("sha256"),
            signatures: folder.join("signatures"),
        };
        for folder in [&store.blobs, &store.signatures] {
            private_folder(folder)?;
            staged::clear(folder, false);
        }
        Ok(store)
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
        // Also where there is such a file: it may have changed.
        write(&self.path(digest), content)?;
        Ok(digest)
    }

    /// Returns content of at most `limit` bytes, after a check of its hash; `None` if it is not stored.
    ///
    /// # Errors
    /// It cannot be read, or has changed.
    pub fn get(&self, digest: Digest, limit: usize) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(digest);
        let Some(content) = read(&path, limit)? else {
            return Ok(None);
        };
        match Digest::of(&content) {
            found if found == digest => Ok(Some(content)),
            found => Err(StoreError::Changed {
                path,
                expected: digest,
                found,
            }),
        }
    }

    /// Stores what was pulled, so that [`load`](Self::load) finds it without a network.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, pulled: &Pulled) -> Result<(), StoreError> {
        self.put(&pulled.wasm)?;
        let manifest = self.put(pulled.manifest.bytes())?;
        match &pulled.signed {
            Some(signed) => write(&self.signature(manifest, signed.key), &signed.bundle),
            None => Ok(()),
        }
    }

    /// Returns the component of a locked strategy; `None` if it, or what proves whose it is, is not stored. All of it is
    /// checked again: whoever changes a lock file cannot pass off the strategy of one publisher as that of another.
    ///
    /// # Errors
    /// The lock file no longer fits what is wanted, or what is stored has changed or is signed otherwise.
    pub fn load(
        &self,
        entry: &Entry,
        wanted: &Wanted,
        unsigned: Unsigned,
        limits: &Limits,
    ) -> Result<Option<Vec<u8>>, ResolveError> {
        entry.check(wanted, unsigned)?;
        let Some(manifest) = self.get(entry.manifest, limits.manifest)? else {
            return Ok(None);
        };
        let manifest = Manifest::new(manifest);
        entry.check_contents(&Contents::read(&manifest, limits)?)?;
        if let (Some(publisher), Some(key)) = (&wanted.publisher, entry.key) {
            let path = self.signature(entry.manifest, key);
            let Some(bundle) = read(&path, limits.bundle)? else {
                return Ok(None);
            };
            check_bundles([bundle], &manifest, publisher)?;
        }
        Ok(self.get(entry.digest, limits.component)?)
    }

    fn signature(&self, manifest: Digest, key: Digest) -> PathBuf {
        let (manifest, key) = (manifest.hex(), key.hex());
        self.signatures.join(format!("{manifest}-{key}.json"))
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    Ok(file::write(path, content, Readers::Owner)?)
}

fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, StoreError> {
    file::read(path, limit, Links::Refused, || StoreError::TooLarge {
        path: path.to_owned(),
        limit,
    })
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
