//! Compiled code on disk.
//!
//! Compiled code is native code: whoever can put an entry here runs code in the host. So the
//! folder must belong to its owner alone, and an entry counts only if it carries a keyed digest
//! of itself and of what it was made from.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Digest;
use crate::fault::HostError;
use crate::marks::SecretKey;
use crate::state;

/// Entries begin so; the number changes with their form.
const MAGIC: &[u8] = b"baler compiled 1\n";

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
        Ok(Self {
            folder: folder.to_owned(),
            key,
            engine,
        })
    }

    /// The compiled code of the component, if it is there and whole. Anything wrong with it is
    /// a miss: the component gets compiled again.
    pub(super) fn get(&self, digest: &Digest) -> Option<Vec<u8>> {
        let entry = fs::read(self.path(digest)).ok()?;
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
    pub(super) fn put(&self, digest: &Digest, code: &[u8]) {
        let written = tempfile::NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            file.write_all(MAGIC)?;
            file.write_all(&self.seal(digest, code))?;
            file.write_all(code)?;
            file.persist(self.path(digest)).map_err(|error| error.error)
        });
        if let Err(error) = written {
            tracing::warn!(%error, "compiled code could not be stored");
        }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let engine = self.key.digest(&[self.engine.as_bytes()]);
        let engine: String = engine[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.folder.join(format!("{}-{engine}.code", digest.hex()))
    }

    fn seal(&self, digest: &Digest, code: &[u8]) -> [u8; 32] {
        self.key.digest(&[
            b"compiled code",
            digest.bytes(),
            self.engine.as_bytes(),
            code,
        ])
    }
}
