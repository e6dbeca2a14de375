//! The lists that the user trusts, each with the content that it had then. They are kept in the state folder.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use baler_files::{
    FileError, Links, check_owned, check_private, open_regular, private_folder, read_within, staged,
};

use super::{Project, Trust};
use crate::content_hash::ContentHash;

/// Maximum bytes of a kept hash.
const HASH_BYTES: usize = 100;

/// The lists that the user trusts: a file for each in the folder `trusted` of a state folder. Its name is the hash of the
/// list's path, and it holds the hash of the list's content. So a list that was changed or moved is not trusted any more.
///
/// ```
/// use baler_host::project::{Project, Trust, TrustedLists};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?; let file = folder.path().join("baler.toml"); let state = folder.path().join("state");
/// std::fs::write(&file, "[policy.plans]\nremove-media = true")?;
/// let trusted = TrustedLists::in_state(&state);
/// let trust = |trusted| -> Result<_, Box<dyn std::error::Error>> {
///     let found = Project::find(folder.path(), Some(trusted))?;
///     Ok(found.project.ok_or("a list is there")?.trust())
/// };
/// assert_eq!(trust(&trusted)?, Trust::Untrusted);
/// trusted.add(&Project::read(&file)?)?;
/// assert_eq!(trust(&trusted)?, Trust::Trusted);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct TrustedLists {
    state: PathBuf,
    folder: PathBuf,
}

impl TrustedLists {
    /// Names the trusted lists of a state folder. Nothing is read or created yet.
    #[must_use]
    pub fn in_state(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
            folder: state.join("trusted"),
        }
    }

    /// Trusts a list as it was read.
    ///
    /// # Errors
    /// The state folder cannot be written, or other users own it or may write to it.
    pub fn add(&self, list: &Project) -> Result<(), FileError> {
        private_folder(&self.state)?;
        private_folder(&self.folder)?;
        staged::clear(&self.folder, true);
        let path = self.place(list.file());
        let failed = |source| FileError::Io {
            action: "write",
            path: path.clone(),
            source,
        };
        let mut file = staged::begin(&self.folder).map_err(failed)?;
        file.write_all(format!("{}\n", list.content_hash()).as_bytes())
            .map_err(failed)?;
        file.persist(&path)
            .map(drop)
            .map_err(|error| failed(error.error))
    }

    /// Ends the trust in a list. Returns whether it was trusted, with any content.
    ///
    /// # Errors
    /// The state folder cannot be written.
    pub fn remove(&self, list: &Path) -> Result<bool, FileError> {
        let path = self.place(list);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(FileError::Io {
                action: "remove",
                path,
                source,
            }),
        }
    }

    /// Returns whether this file is trusted with this content. What cannot be read, or could be written by others, gives
    /// no trust.
    pub(super) fn trust(&self, list: &Path, content: &ContentHash) -> Trust {
        match self.kept(list) {
            Some(kept) if kept.trim_end() == content.to_string() => Trust::Trusted,
            _ => Trust::Untrusted,
        }
    }

    fn kept(&self, list: &Path) -> Option<String> {
        check_private(&self.state).ok()?;
        check_private(&self.folder).ok()?;
        let path = self.place(list);
        let shown = path.display().to_string();
        let file = open_regular(&path, Links::Refused, &shown).ok()??;
        check_owned(&path, &file.metadata().ok()?).ok()?;
        let kept = read_within(file, HASH_BYTES).ok()??;
        String::from_utf8(kept).ok()
    }

    /// `list` is a path without links, as [`Project::file`] returns it.
    fn place(&self, list: &Path) -> PathBuf {
        let hash = ContentHash::of(list.as_os_str().as_encoded_bytes());
        self.folder.join(hash.hex())
    }
}
