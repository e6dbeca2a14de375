//! Compiled code on disk.
//!
//! Compiled code is native code: whoever can put an entry here runs code in the host. So the
//! folder must belong to its owner alone, and an entry counts only if it carries a keyed digest
//! of itself and of what it was made from.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use baler_conversation::marks::SecretKey;

use crate::content_hash::ContentHash;
use crate::error::HostError;
use crate::files::{self, Links};
use crate::staged;
use crate::state;

/// Entries begin so; the number changes with their form.
const MAGIC: &[u8] = b"baler compiled 1\n";

/// The most bytes of an entry. Compiled code is a few times as large as its component, which has
/// 32 MiB at most by default.
const MOST_BYTES: usize = 1 << 30;

#[derive(Debug)]
pub(super) struct CodeCache {
    folder: PathBuf,
    key: SecretKey,
    /// Version of baler and of the compiler, its settings, and the machine.
    engine: String,
}

impl CodeCache {
    pub(super) fn open(folder: &Path, key: SecretKey, engine: String) -> Result<Self, HostError> {
        state::private_folder(folder)?;
        staged::clear(folder, true);
        Ok(Self {
            folder: folder.to_owned(),
            key,
            engine,
        })
    }

    /// The compiled code of the component, if it is there and whole. Anything wrong with it is
    /// a miss: the component gets compiled again.
    pub(super) fn get(&self, digest: &ContentHash) -> Option<Vec<u8>> {
        let file = files::open_regular(&self.path(digest), Links::Followed, "").ok()??;
        let entry = files::read_within(file, MOST_BYTES).ok()??;
        let code = entry
            .strip_prefix(MAGIC)
            .and_then(|sealed| sealed.split_at_checked(32))
            .filter(|(seal, code)| **seal == self.seal(digest, code))
            .map(|(_, code)| code.to_vec());
        if code.is_none() {
            tracing::warn!(component = %digest, "a corrupt entry of the cache of compiled code is compiled again");
        }
        code
    }

    /// Stores compiled code, whole or not at all. The cache is a convenience: a full disk is
    /// told to the log and is no error.
    pub(super) fn put(&self, digest: &ContentHash, code: &[u8]) {
        let written = staged::begin_in_state(&self.folder).and_then(|mut file| {
            file.write_all(MAGIC)?;
            file.write_all(&self.seal(digest, code))?;
            file.write_all(code)?;
            file.persist(self.path(digest)).map_err(|error| error.error)
        });
        if let Err(error) = written {
            tracing::warn!(%error, "compiled code could not be stored");
        }
    }

    fn path(&self, digest: &ContentHash) -> PathBuf {
        let engine = self.key.digest(&[self.engine.as_bytes()]);
        let engine: String = engine[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.folder.join(format!("{}-{engine}.code", digest.hex()))
    }

    fn seal(&self, digest: &ContentHash, code: &[u8]) -> [u8; 32] {
        self.key.digest(&[
            b"compiled code",
            digest.as_bytes(),
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
    fn a_pipe_in_place_of_an_entry_is_a_miss_and_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let digest = ContentHash::new([2; 32]);
        files::make_pipe(&open(folder.path()).path(&digest));
        let (told, answer) = mpsc::channel();
        let cache = open(folder.path());
        std::thread::spawn(move || told.send((cache.get(&digest), cache)));
        let answer = answer.recv_timeout(Duration::from_secs(60));
        let (found, cache) = answer.expect("it does not wait");
        assert_eq!(found, None);
        cache.put(&digest, b"code");
        assert_eq!(cache.get(&digest).as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join(".baler-staged-aZ09aZ09aZ09aZ09");
        std::fs::write(&left, "half").expect("writes");
        open(folder.path());
        assert!(!left.exists());
    }
}
