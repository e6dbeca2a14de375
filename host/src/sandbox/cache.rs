//! Cache of compiled code on disk.
//!
//! Compiled code is native code: whoever can write an entry can run code in the host. So only its owner may
//! write to the folder, and an entry is used only if it carries a keyed hash of its code and of the component
//! that it was compiled from.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use baler_conversation::marks::SecretKey;
use baler_files::{Links, private_folder, staged};

use crate::content_hash::ContentHash;
use crate::error::HostError;

/// First bytes of every entry. The number changes with the format of entries.
const MAGIC: &[u8] = b"baler compiled 1\n";

/// Maximum bytes of an entry. Compiled code is a few times as large as its component, which has at most 32
/// MiB by default.
const MAX_ENTRY_BYTES: usize = 1 << 30;

#[derive(Debug)]
pub(super) struct CodeCache {
    folder: PathBuf,
    key: SecretKey,
    /// Version of baler and of the compiler, settings of the compiler, and the machine.
    engine: String,
}

impl CodeCache {
    pub(super) fn open(folder: &Path, key: SecretKey, engine: String) -> Result<Self, HostError> {
        private_folder(folder)?;
        staged::clear(folder, true);
        Ok(Self {
            folder: folder.to_owned(),
            key,
            engine,
        })
    }

    /// Returns the compiled code of the component with this hash. An entry that is missing, unreadable or
    /// corrupt is `None`, so the component is compiled again.
    pub(super) fn get(&self, component: &ContentHash) -> Option<Vec<u8>> {
        let file = baler_files::open_regular(&self.path(component), Links::Followed, "").ok()??;
        let entry = baler_files::read_within(file, MAX_ENTRY_BYTES).ok()??;
        let code = entry
            .strip_prefix(MAGIC)
            .and_then(|sealed| sealed.split_at_checked(32))
            .filter(|(seal, code)| **seal == self.seal(component, code))
            .map(|(_, code)| code.to_vec());
        if code.is_none() {
            tracing::warn!(%component, "the cache entry with compiled code is corrupt; compiling the component again");
        }
        code
    }

    /// Stores compiled code, completely or not at all. A failure, such as a full disk, is logged and is no
    /// error: the cache only saves time.
    pub(super) fn put(&self, component: &ContentHash, code: &[u8]) {
        let written = staged::begin_in_state(&self.folder).and_then(|mut file| {
            file.write_all(MAGIC)?;
            file.write_all(&self.seal(component, code))?;
            file.write_all(code)?;
            file.persist(self.path(component))
                .map_err(|error| error.error)
        });
        if let Err(error) = written {
            tracing::warn!(%error, "cannot store compiled code");
        }
    }

    fn path(&self, component: &ContentHash) -> PathBuf {
        let engine = self.key.digest(&[self.engine.as_bytes()]);
        let engine: String = engine[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.folder
            .join(format!("{}-{engine}.code", component.hex()))
    }

    fn seal(&self, component: &ContentHash, code: &[u8]) -> [u8; 32] {
        self.key.digest(&[
            b"compiled code",
            component.as_bytes(),
            self.engine.as_bytes(),
            code,
        ])
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn open(folder: &Path) -> CodeCache {
        CodeCache::open(folder, SecretKey::new([1; 32]), "engine".to_owned()).expect("opens")
    }

    #[test]
    fn get_ignores_a_pipe_and_put_replaces_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let digest = ContentHash::new([2; 32]);
        crate::sample::make_pipe(&open(folder.path()).path(&digest));
        let (sender, receiver) = mpsc::channel();
        let cache = open(folder.path());
        std::thread::spawn(move || sender.send((cache.get(&digest), cache)));
        let answer = receiver.recv_timeout(Duration::from_secs(60));
        let (found, cache) = answer.expect("get does not wait for a writer");
        assert_eq!(found, None);
        cache.put(&digest, b"code");
        assert_eq!(cache.get(&digest).as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn open_removes_unfinished_files_of_killed_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join(".baler-staged-aZ09aZ09aZ09aZ09");
        std::fs::write(&left, "half").expect("writes");
        open(folder.path());
        assert!(!left.exists());
    }
}
