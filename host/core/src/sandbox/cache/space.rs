//! The space that compiled code takes on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

/// The compiled code of a state folder.
///
/// Other processes may use it meanwhile: an entry that one of them removes, another compiles again.
#[derive(Debug, Clone)]
pub struct CompiledCode {
    folder: PathBuf,
}

/// Entries of compiled code and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CodeSize {
    /// Number of entries: one for each component and version of the compiler.
    pub entries: u64,
    /// Bytes of all entries together.
    pub bytes: u64,
}

/// An entry on disk.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl CompiledCode {
    /// The compiled code of the state folder `state`, which need not exist.
    #[must_use]
    pub fn in_state(state: &Path) -> Self {
        Self::in_folder(&state.join("compiled"))
    }

    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Returns the folder of the entries.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns how many entries there are, and their size.
    ///
    /// # Errors
    /// The folder cannot be read. A folder that does not exist has no entries.
    pub fn size(&self) -> io::Result<CodeSize> {
        Ok(sum(&self.entries()?))
    }

    /// Removes all entries, and nothing else that is in the folder. Returns what was removed.
    ///
    /// # Errors
    /// The folder cannot be read, or an entry cannot be removed.
    pub fn clear(&self) -> io::Result<CodeSize> {
        let entries = self.entries()?;
        for entry in &entries {
            remove(&entry.path)?;
        }
        Ok(sum(&entries))
    }

    /// Removes entries until all others have at most `limit` bytes: those that were not used for the longest time, and
    /// `newest` last. Entries that cannot be removed are left.
    pub(super) fn trim(&self, limit: u64, newest: &Path) -> io::Result<()> {
        let mut entries = self.entries()?;
        let mut bytes = sum(&entries).bytes;
        entries.sort_by_key(|entry| (entry.path == newest, entry.used));
        for entry in entries {
            if bytes <= limit {
                break;
            }
            match remove(&entry.path) {
                Ok(()) => bytes -= entry.bytes,
                Err(error) => {
                    tracing::warn!(%error, "cannot remove old compiled code");
                }
            }
        }
        Ok(())
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let folder = match fs::read_dir(&self.folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for file in folder {
            let file = file?;
            if !is_entry(&file.file_name().to_string_lossy()) {
                continue;
            }
            match file.metadata() {
                Ok(metadata) if metadata.is_file() => entries.push(Entry {
                    path: file.path(),
                    bytes: metadata.len(),
                    used: metadata.modified()?,
                }),
                Ok(_) => {}
                // Another process removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }
}

/// Whether a file has the name of an entry: the hash of the component and that of the compiler.
fn is_entry(name: &str) -> bool {
    let Some((component, compiler)) = name
        .strip_suffix(".code")
        .and_then(|name| name.split_once('-'))
    else {
        return false;
    };
    let is_hex = |text: &str, digits| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    is_hex(component, 64) && is_hex(compiler, 8)
}

fn sum(entries: &[Entry]) -> CodeSize {
    CodeSize {
        entries: entries.len() as u64,
        bytes: entries.iter().map(|entry| entry.bytes).sum(),
    }
}

/// Removes a file that another process may remove first.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
