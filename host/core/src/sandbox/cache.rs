//! Cache of compiled code on disk.
//!
//! Compiled code is native code: whoever can write an entry can run code in the host. So only its owner may
//! write to the folder, and an entry is used only if it carries a keyed hash of its code and of the component
//! that it was compiled from.

mod space;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use baler_conversation::marks::SecretKey;
use baler_files::{Links, private_folder, staged};

use crate::content_hash::ContentHash;
use crate::error::HostError;

pub use space::{CodeSize, CompiledCode};

/// Compiled code of an entry that was checked. It is not copied out of the entry: it may have 40 MB.
#[derive(Debug)]
pub(super) struct Code(Vec<u8>);

impl Code {
    /// Returns the code.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0[MAGIC.len() + 32..]
    }
}

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
    /// Maximum bytes of all entries together.
    limit: u64,
}

/// An entry that was used longer ago than this gets a new time of use. More often would only write.
const USE: Duration = Duration::from_secs(600);

impl CodeCache {
    pub(super) fn open(
        folder: &Path,
        key: SecretKey,
        engine: String,
        limit: u64,
    ) -> Result<Self, HostError> {
        private_folder(folder)?;
        staged::clear(folder, true);
        Ok(Self {
            folder: folder.to_owned(),
            key,
            engine,
            limit,
        })
    }

    /// Returns the compiled code of the component with this hash. An entry that is missing, unreadable or
    /// corrupt is `None`, so the component is compiled again.
    pub(super) fn get(&self, component: &ContentHash) -> Option<Code> {
        let file = baler_files::open_regular(&self.path(component), Links::Followed, "").ok()??;
        mark_used(&file);
        let entry = baler_files::read_within(file, MAX_ENTRY_BYTES).ok()??;
        let is_sealed = entry
            .strip_prefix(MAGIC)
            .and_then(|sealed| sealed.split_at_checked(32))
            .is_some_and(|(seal, code)| *seal == self.seal(component, code));
        if !is_sealed {
            tracing::warn!(%component, "the cache entry with compiled code is corrupt; compiling the component again");
            return None;
        }
        Some(Code(entry))
    }

    /// Stores compiled code, completely or not at all. A failure, such as a full disk, is logged and is no
    /// error: the cache only saves time. Old entries make room for the new one.
    pub(super) fn put(&self, component: &ContentHash, code: &[u8]) {
        let bytes = (MAGIC.len() + 32 + code.len()) as u64;
        if bytes > self.limit {
            tracing::warn!(%component, bytes, limit = self.limit, "compiled code is larger than its cache may be; each load compiles the component");
            return;
        }
        let written = staged::begin(&self.folder).and_then(|mut file| {
            file.write_all(MAGIC)?;
            file.write_all(&self.seal(component, code))?;
            file.write_all(code)?;
            let path = self.path(component);
            file.persist(&path).map_err(|error| error.error)?;
            CompiledCode::in_folder(&self.folder).trim(self.limit, &path)
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

/// Notes that an entry is in use. Only its place among those that are removed first depends on it, so a failure is
/// none.
fn mark_used(file: &File) {
    let mark = || -> io::Result<()> {
        let now = SystemTime::now();
        let is_old = now
            .duration_since(file.metadata()?.modified()?)
            .is_ok_and(|age| age > USE);
        if is_old {
            file.set_modified(now)?;
        }
        Ok(())
    };
    let _ = mark();
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn open(folder: &Path) -> CodeCache {
        open_limited(folder, 1 << 20)
    }

    fn open_limited(folder: &Path, limit: u64) -> CodeCache {
        let key = SecretKey::new([1; 32]);
        CodeCache::open(folder, key, "engine".to_owned(), limit).expect("opens")
    }

    fn component(number: u8) -> ContentHash {
        ContentHash::new([number; 32])
    }

    /// Makes an entry look as if it was last used `hours` hours ago.
    fn used_before(cache: &CodeCache, number: u8, hours: u64) {
        let file = File::options()
            .append(true)
            .open(cache.path(&component(number)));
        let time = SystemTime::now() - Duration::from_secs(hours * 3_600);
        file.expect("an entry").set_modified(time).expect("a time");
    }

    #[test]
    fn put_removes_what_was_not_used_longest_once_the_limit_is_reached() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = open_limited(folder.path(), 3_500);
        for number in 1..=3 {
            cache.put(&component(number), &[number; 1_000]);
            used_before(&cache, number, 10 - u64::from(number));
        }
        // The oldest is used again.
        assert!(cache.get(&component(1)).is_some());
        std::fs::write(folder.path().join("notes.code"), [0; 9_000]).expect("writes");
        cache.put(&component(4), &[4; 1_000]);
        let is_there = |number| cache.get(&component(number)).is_some();
        assert_eq!([1, 2, 3, 4].map(is_there), [true, false, true, true]);
        assert!(
            folder.path().join("notes.code").exists(),
            "only entries are removed"
        );
    }

    #[test]
    fn put_leaves_out_an_entry_that_is_larger_than_the_limit_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = open_limited(folder.path(), 3_500);
        cache.put(&component(1), &[1; 1_000]);
        cache.put(&component(2), &[2; 4_000]);
        assert!(cache.get(&component(1)).is_some());
        assert!(cache.get(&component(2)).is_none());
    }

    #[test]
    fn many_processes_share_the_limit_and_lose_nothing_but_entries() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = open_limited(folder.path(), 5_000);
                    for round in 0..100_u8 {
                        let number = round % 9;
                        let code = [number; 1_000];
                        if let Some(found) = cache.get(&component(number)) {
                            assert_eq!(found.bytes(), code);
                        } else {
                            cache.put(&component(number), &code);
                        }
                    }
                });
            }
        });
        let code = CompiledCode::in_folder(folder.path());
        let size = code.size().expect("reads");
        assert!(size.entries > 0 && size.bytes <= 5_000, "{size:?}");
        assert_eq!(code.clear().expect("clears"), size);
        assert_eq!(code.size().expect("reads"), CodeSize::default());
    }

    #[test]
    fn a_state_folder_that_does_not_exist_has_no_compiled_code() {
        let folder = tempfile::tempdir().expect("a folder");
        let code = CompiledCode::in_state(&folder.path().join("nowhere"));
        assert_eq!(code.size().expect("none"), CodeSize::default());
        assert_eq!(code.clear().expect("none"), CodeSize::default());
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
        assert!(found.is_none());
        cache.put(&digest, b"code");
        let code = cache.get(&digest).expect("it was put");
        assert_eq!(code.bytes(), b"code");
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
