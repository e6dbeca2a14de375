//! Views that outlive the proxy. A session that goes on after a restart has to be shown as before: otherwise the provider's
//! cache is lost, and thinking that was made behind what was shown is refused.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use baler_files::staged::begin;
use baler_files::{FileError, private_folder, read_within};
use baler_host::view::View;

/// Views that are kept, the newest.
const MOST: usize = 256;

/// The most bytes of a view.
const MOST_BYTES: usize = 64 << 20;

/// A folder of views, a file each, named after the hash of what it covers.
#[derive(Debug)]
pub(crate) struct Stored(PathBuf);

impl Stored {
    /// Opens a folder, which is made if it does not exist.
    ///
    /// # Errors
    /// It cannot be made, or others can read or write it.
    pub(crate) fn open(folder: &Path) -> Result<Self, FileError> {
        private_folder(folder)?;
        Ok(Self(folder.to_owned()))
    }

    /// Reads the views, the oldest first. What is none is left out.
    pub(crate) fn read(&self) -> Vec<View> {
        let mut found = files(&self.0, "json");
        found.drain(..found.len().saturating_sub(MOST));
        let read = |(_, path): (SystemTime, PathBuf)| {
            let file = fs::File::open(path).ok()?;
            let json = read_within(file, MOST_BYTES).ok()??;
            serde_json::from_slice(&json).ok()
        };
        found.into_iter().filter_map(read).collect()
    }

    /// Removes a view.
    pub(crate) fn remove(&self, view: &View) {
        // One that stays is refused once more after a restart, and forgotten again.
        let _ = fs::remove_file(self.path(view));
    }

    fn path(&self, view: &View) -> PathBuf {
        self.0.join(format!("{}.json", view.prefix()))
    }

    /// Writes a view, whole or not at all, and removes the oldest beyond the limit.
    pub(crate) fn write(&self, view: &View) -> io::Result<()> {
        let mut file = begin(&self.0)?;
        file.write_all(&serde_json::to_vec(view)?)?;
        file.persist(self.path(view))?;
        let found = files(&self.0, "json");
        for (_, path) in &found[..found.len().saturating_sub(MOST)] {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

/// Returns the files of a folder with this ending and the times of their last change, the oldest first.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|end| end == ending))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    files
}
