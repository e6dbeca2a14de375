//! An archive in a folder. It follows no links inside the folder, reads only regular files, and removes only
//! files that have an archive's names.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use baler_files::{FileError, Links, check_private, private_folder, staged};
use tempfile::NamedTempFile;

use crate::backend::{Found, Item, Listing};
use crate::error::OpenError;
use crate::layout::{FOLDERS, MARK, MARKER, Role, STAGED, STAGED_LETTERS, STAGING};

const NOTHING: &str = "nothing was stored there yet, or the archive is in another place";
const FOREIGN: &str = "the folder has no file `baler-archive` and holds files that no archive wrote; an archive needs a folder of its own";
const NO_FOLDER: &str = "expected `entries`, `undo` and `staging` to be folders, but at least one of them is a link or a file";
const OTHER_MARK: &str =
    "its file `baler-archive` is not of version 1; use the version of baler that wrote it";

#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: Arc<Path>,
}

/// What a folder holds.
enum FolderState {
    /// An archive, with its marker file.
    Marked,
    /// No marker file, and only names of an archive: an archive of an earlier version of baler, or one that
    /// is being created.
    Unmarked,
    Empty,
}

impl Folder {
    /// Opens the archive, and creates it if the folder is missing or empty. Removes unfinished files that
    /// nobody is writing any more, because they hold texts of conversations.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        foreign_first(path, private_folder(path))?;
        let found = folder_state(path)?;
        // Private even if other users may read the archive's folder itself.
        for inner in FOLDERS {
            private_folder(&path.join(inner))?;
        }
        let folder = Self::at(path)?;
        if !matches!(found, FolderState::Marked) {
            folder
                .write(MARKER, MARK.as_bytes())
                .map_err(|source| FileError::Io {
                    action: "make the archive",
                    path: path.to_owned(),
                    source,
                })?;
        }
        // Opening does not depend on this; `clear` reports what cannot be removed.
        let _ = folder.clear_abandoned();
        Ok(folder)
    }

    /// Opens an existing archive. Creates and removes nothing.
    pub(crate) fn existing(path: &Path) -> Result<Self, OpenError> {
        if !path.is_dir() {
            return Err(refused(path, NOTHING));
        }
        foreign_first(path, check_private(path))?;
        if matches!(folder_state(path)?, FolderState::Empty) {
            return Err(refused(path, NOTHING));
        }
        for inner in FOLDERS.map(|inner| path.join(inner)) {
            if inner.exists() {
                check_private(&inner)?;
            }
        }
        Self::at(path)
    }

    /// Resolves the path, so that it stays valid if the program changes its working folder.
    fn at(path: &Path) -> Result<Self, OpenError> {
        let path = fs::canonicalize(path).map_err(|source| failed(path, source))?;
        Ok(Self { path: path.into() })
    }

    /// Reads a file of up to `most` bytes.
    pub(crate) fn read(&self, path: &str, most: usize) -> io::Result<Option<Found>> {
        read(&self.path, path, most)
    }

    /// Writes a file atomically, and so that it survives a crash of the machine.
    pub(crate) fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut staged = self.staged()?;
        // Not through `NamedTempFile` itself, because its errors name the temporary file.
        staged.as_file_mut().write_all(content)?;
        staged.as_file().sync_all()?;
        let place = self.path.join(path);
        // Keeps the lock until the file has its final name.
        let _written = staged.persist(&place).map_err(|error| error.error)?;
        match place.parent() {
            Some(folder) => baler_files::sync_folder(folder),
            None => Ok(()),
        }
    }

    /// Creates an empty file that stays locked while it is written, which distinguishes it from the file of a
    /// killed run.
    fn staged(&self) -> io::Result<NamedTempFile> {
        staged::begin_named(&self.path.join(STAGING), STAGED, STAGED_LETTERS)
    }

    /// Lists all files of the archive.
    pub(crate) fn list(&self) -> io::Result<Listing> {
        let mut all = Listing::default();
        for inner in FOLDERS {
            all.items.extend(list(&self.path, inner)?.items);
        }
        Ok(all)
    }

    /// Returns those of these unfinished files that nobody is writing any more.
    pub(crate) fn abandoned(&self, items: Vec<Item>) -> io::Result<Vec<Item>> {
        let mut abandoned = Vec::new();
        for item in items {
            if self.claim(&item.path)?.is_some() {
                abandoned.push(item);
            }
        }
        Ok(abandoned)
    }

    /// Removes files, except those that were rewritten since they were listed or are still being written.
    pub(crate) fn remove(&self, items: &[Item]) -> io::Result<()> {
        for item in items {
            match item.role {
                Role::Stored(_) => self.remove_as_listed(item)?,
                Role::Unfinished => {
                    let claimed = self.claim(&item.path)?;
                    if claimed.is_some() {
                        remove_if_there(&self.path.join(&item.path))?;
                    }
                    // Unlocks the file only after its removal.
                    drop(claimed);
                }
            }
        }
        Ok(())
    }

    /// Removes a file, unless it was rewritten since it was listed. The file is moved aside first. If another
    /// process writes it at that moment, the new file is either in its place already, or is the one that was
    /// moved, and then `finish_removal` puts it back.
    fn remove_as_listed(&self, item: &Item) -> io::Result<()> {
        let place = self.path.join(&item.path);
        if !is_as_listed(&place, item) {
            return Ok(());
        }
        let aside = self.path.join(aside(&item.path));
        match fs::rename(&place, &aside) {
            // Another process clears the archive too.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            moved => moved?,
        }
        finish_removal(&place, &aside, item)
    }

    fn clear_abandoned(&self) -> io::Result<()> {
        self.remove(&list(&self.path, STAGING)?.items)
    }

    /// Locks an unfinished file whose writer has ended. Returns `None` if its writer still runs, or if the
    /// file is gone.
    fn claim(&self, path: &str) -> io::Result<Option<File>> {
        let Some(file) = open_regular(&self.path, path)? else {
            return Ok(None);
        };
        staged::claim(file, path.starts_with(STAGING))
    }
}

/// Removes the file that was moved aside, or puts it back if it was rewritten since it was listed.
fn finish_removal(place: &Path, aside: &Path, item: &Item) -> io::Result<()> {
    if !is_as_listed(aside, item) {
        match fs::hard_link(aside, place) {
            // Another process wrote the file again; or it clears the archive too, and the file was old.
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            // Not every file system has hard links.
            Err(_) => fs::rename(aside, place)?,
            Ok(()) => {}
        }
        if let Some(folder) = place.parent() {
            baler_files::sync_folder(folder)?;
        }
    }
    remove_if_there(aside)
}

fn is_as_listed(place: &Path, item: &Item) -> bool {
    fs::symlink_metadata(place)
        .is_ok_and(|now| now.is_file() && now.modified().is_ok_and(|now| now == item.written))
}

/// Returns where a file is moved before its removal. Unlike a file in `staging` it is not locked: other
/// processes remove a file of such a name if it is old, and leave it if it was just written.
fn aside(path: &str) -> String {
    // A random number, so that names do not collide.
    let number = RandomState::new().build_hasher().finish() % 1_000_000_000;
    format!("{path}#{number}")
}

fn remove_if_there(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        // Another process clears the archive too.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Prefers the error that a folder is no archive to the error that it is open to other users: to close a
/// foreign folder to them, as the latter advises, would be wrong.
fn foreign_first(path: &Path, checked: Result<(), FileError>) -> Result<(), OpenError> {
    match checked {
        Err(error @ FileError::NotPrivate { .. }) => {
            folder_state(path)?;
            Err(error.into())
        }
        checked => Ok(checked?),
    }
}

/// Checks that a folder is an archive or can become one.
fn folder_state(path: &Path) -> Result<FolderState, OpenError> {
    for inner in FOLDERS {
        match fs::symlink_metadata(path.join(inner)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(path, error)),
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(refused(path, NO_FOLDER)),
        }
    }
    match read(path, MARKER, MARK.len()).map_err(|error| failed(path, error))? {
        Some(found) if found.content.as_deref() == Some(MARK.as_bytes()) => {
            return Ok(FolderState::Marked);
        }
        Some(_) => return Err(refused(path, OTHER_MARK)),
        None => {}
    }
    let mut state = FolderState::Empty;
    for entry in fs::read_dir(path).map_err(|error| failed(path, error))? {
        let name = entry.map_err(|error| failed(path, error))?.file_name();
        state = FolderState::Unmarked;
        // Another process creates the archive at the same time.
        if name.to_str() == Some(MARKER) {
            continue;
        }
        let mut inner = FOLDERS.into_iter();
        let inner = inner.find(|inner| name.to_str() == Some(*inner));
        let inner = inner.ok_or_else(|| refused(path, FOREIGN))?;
        let listing = list(path, inner).map_err(|error| failed(path, error))?;
        if listing.has_foreign {
            return Err(refused(path, FOREIGN));
        }
    }
    Ok(state)
}

/// Lists one of an archive's folders.
fn list(root: &Path, inner: &str) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let entries = match fs::read_dir(root.join(inner)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(listing),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // For a link, this is the metadata of the link itself.
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        let name = entry.file_name();
        let path = name.to_str().map(|name| format!("{inner}/{name}"));
        let own = path.and_then(|path| Some((Role::of(&path)?, path)));
        match own.filter(|_| metadata.is_file()) {
            None => listing.has_foreign = true,
            Some((role, path)) => listing.items.push(Item {
                role,
                path,
                bytes: metadata.len(),
                written: metadata.modified()?,
            }),
        }
    }
    Ok(listing)
}

fn read(root: &Path, path: &str, most: usize) -> io::Result<Option<Found>> {
    let Some(file) = open_regular(root, path)? else {
        return Ok(None);
    };
    Ok(Some(Found {
        written: file.metadata()?.modified()?,
        content: baler_files::read_within(file, most)?,
    }))
}

fn open_regular(root: &Path, path: &str) -> io::Result<Option<File>> {
    baler_files::open_regular(&root.join(path), Links::Refused, path)
}

fn failed(path: &Path, source: io::Error) -> OpenError {
    OpenError::Files(FileError::Io {
        action: "open the archive",
        path: path.to_owned(),
        source,
    })
}

fn refused(path: &Path, what: &'static str) -> OpenError {
    OpenError::NotAnArchive {
        place: path.display().to_string(),
        what,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    const PATH: &str = "entries/0123456789abcdef0123.json";

    /// An archive's folder with one old entry, and the entry as it is listed.
    fn with_an_old_entry() -> (tempfile::TempDir, Folder, Item) {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(place.path()).expect("an archive");
        let item = old_entry(&folder);
        (place, folder, item)
    }

    fn old_entry(folder: &Folder) -> Item {
        folder.write(PATH, b"[1]").expect("is written");
        let file = File::options().append(true).open(folder.path.join(PATH));
        let then = SystemTime::now() - Duration::from_secs(100_000);
        file.expect("opens").set_modified(then).expect("is set");
        let listing = folder.list().expect("lists");
        let mut items = listing.items.into_iter();
        items.find(|item| item.path == PATH).expect("is there")
    }

    fn is_there(folder: &Folder) -> bool {
        let found = folder.read(PATH, 3).expect("reads");
        found.is_some_and(|found| found.content.as_deref() == Some(b"[1]"))
    }

    #[test]
    fn finish_removal_puts_back_a_file_that_was_rewritten() {
        let (_place, folder, item) = with_an_old_entry();
        let place = folder.path.join(PATH);
        let aside = folder.path.join(aside(PATH));
        // Another process wrote it between the check and the move.
        folder.write(PATH, b"[1]").expect("is written");
        fs::rename(&place, &aside).expect("is moved");
        finish_removal(&place, &aside, &item).expect("goes back");
        assert!(is_there(&folder) && !aside.exists());
        // And again after the move.
        fs::rename(&place, &aside).expect("is moved");
        folder.write(PATH, b"[1]").expect("is written");
        finish_removal(&place, &aside, &item).expect("stays");
        assert!(is_there(&folder) && !aside.exists());

        let item = old_entry(&folder);
        folder.remove(&[item]).expect("is removed");
        let listing = folder.list().expect("lists");
        assert!(listing.items.is_empty(), "{:?}", listing.items);
    }

    #[test]
    fn a_file_that_was_moved_aside_counts_as_unfinished() {
        for _ in 0..100 {
            assert_eq!(Role::of(&aside(PATH)), Some(Role::Unfinished));
        }
    }

    #[test]
    fn a_file_that_is_written_during_its_removal_survives() {
        let (_place, folder, mut item) = with_an_old_entry();
        for _ in 0..200 {
            std::thread::scope(|scope| {
                scope.spawn(|| folder.write(PATH, b"[1]").expect("is written"));
                scope.spawn(|| {
                    let items = std::slice::from_ref(&item);
                    folder.remove(items).expect("clears");
                });
            });
            assert!(is_there(&folder));
            item = old_entry(&folder);
        }
    }
}
