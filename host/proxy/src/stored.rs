//! Views that outlive the proxy. A session that goes on after a restart has to be shown as before: otherwise the provider's
//! cache is lost, and thinking that was made behind what was shown is refused.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use baler_files::staged::begin;
use baler_files::{FileError, private_folder, read_within};
use baler_host::view::View;

use crate::newest;

/// Views that are kept, the newest.
const MOST: usize = 256;

/// The ending of their files.
const ENDING: &str = "json";

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
        let read = |path: PathBuf| {
            let file = fs::File::open(path).ok()?;
            let json = read_within(file, MOST_BYTES).ok()??;
            serde_json::from_slice(&json).ok()
        };
        let files = newest::files(&self.0, ENDING);
        let oldest = files.len().saturating_sub(MOST);
        files.into_iter().skip(oldest).filter_map(read).collect()
    }

    /// Removes a view.
    pub(crate) fn remove(&self, view: &View) {
        // One that stays is refused once more after a restart, and forgotten again.
        let _ = fs::remove_file(self.path(view));
    }

    fn path(&self, view: &View) -> PathBuf {
        self.0.join(format!("{}.{ENDING}", view.prefix()))
    }

    /// Writes a view, whole or not at all, and removes the oldest beyond the limit.
    pub(crate) fn write(&self, view: &View) -> io::Result<()> {
        let mut file = begin(&self.0)?;
        file.write_all(&serde_json::to_vec(view)?)?;
        file.persist(self.path(view))?;
        newest::keep(&self.0, ENDING, MOST);
        Ok(())
    }
}
