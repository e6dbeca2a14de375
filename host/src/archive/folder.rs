//! An archive in a folder. No link in it is followed, nothing but regular files is read, and
//! nothing but the archive's own names is removed.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::backend::{Found, Item, Listing, MOST_BYTES, SMALL_BYTES, too_large};
use super::layout::{FOLDERS, MARK, MARKER, Role, STAGED, STAGED_LETTERS, STAGING};
use crate::error::{ArchiveError, HostError};
use crate::files::{self, Links};
use crate::staged;
use crate::state;

const NOTHING: &str = "nothing was stored there yet, or the archive is somewhere else";
const FOREIGN: &str = "the folder has no file `baler-archive` and holds files that no archive wrote; an archive needs a folder of its own";
const NO_FOLDER: &str = "`entries`, `undo` and `staging` have to be folders, and at least one of them is a link or a file";
const OTHER_MARK: &str =
    "its file `baler-archive` is not of version 1; take the baler that wrote it";

#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: Arc<Path>,
}

/// What a folder looks like.
enum Standing {
    /// An archive made it its own.
    Marked,
    /// There is no marker, and there are no names but an archive's: one of an earlier baler, or
    /// one that is being made.
    Unmarked,
    Empty,
}

impl Folder {
    /// Makes the archive where the folder is not there or empty. Removes unfinished files that
    /// nobody writes any more: they hold texts of conversations.
    pub(super) fn open(path: &Path) -> Result<Self, HostError> {
        foreign_first(path, state::private_folder(path))?;
        let standing = standing(path)?;
        // Nobody else reads what stands in them, even where others may look into the folder.
        for inner in FOLDERS {
            state::private_folder(&path.join(inner))?;
        }
        let folder = Self::at(path)?;
        if !matches!(standing, Standing::Marked) {
            folder
                .write(MARKER, MARK.as_bytes())
                .map_err(|source| HostError::Io {
                    action: "make the archive",
                    path: path.to_owned(),
                    source,
                })?;
        }
        // Not what it was opened for; `clear` tells what cannot be removed.
        let _ = folder.clear_abandoned();
        Ok(folder)
    }

    /// The archive that is there. Creates and removes nothing.
    pub(super) fn existing(path: &Path) -> Result<Self, HostError> {
        if !path.is_dir() {
            return Err(refused(path, NOTHING));
        }
        foreign_first(path, state::check_private(path))?;
        if matches!(standing(path)?, Standing::Empty) {
            return Err(refused(path, NOTHING));
        }
        for inner in FOLDERS.map(|inner| path.join(inner)) {
            if inner.exists() {
                state::check_private(&inner)?;
            }
        }
        Self::at(path)
    }

    /// The same folder, wherever the program goes.
    fn at(path: &Path) -> Result<Self, HostError> {
        let path = fs::canonicalize(path).map_err(|source| failed(path, source))?;
        Ok(Self { path: path.into() })
    }

    pub(super) fn read(&self, path: &str) -> io::Result<Option<Found>> {
        read(&self.path, path)
    }

    /// `None` also where it is not small.
    pub(super) fn read_small(&self, path: &str) -> io::Result<Option<Found>> {
        let Some(file) = open_regular(&self.path, path)? else {
            return Ok(None);
        };
        let written = file.metadata()?.modified()?;
        let content = files::read_within(file, SMALL_BYTES)?;
        Ok(content.map(|content| Found { written, content }))
    }

    /// Puts a file in its place, whole or not at all, and so that it outlasts a crash of the
    /// machine.
    pub(super) fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut staged = self.staged()?;
        // Not by `NamedTempFile` itself, whose errors name the temporary file.
        staged.as_file_mut().write_all(content)?;
        staged.as_file().sync_all()?;
        let place = self.path.join(path);
        // The lock is held until the file has its place.
        let _written = staged.persist(&place).map_err(|error| error.error)?;
        match place.parent() {
            Some(folder) => files::sync_folder(folder),
            None => Ok(()),
        }
    }

    /// An empty file that is locked as long as it is written, so that it can be told from what a
    /// killed run left.
    fn staged(&self) -> io::Result<NamedTempFile> {
        staged::begin(&self.path.join(STAGING), "", STAGED, STAGED_LETTERS)
    }

    /// All that is the archive's.
    pub(super) fn list(&self) -> io::Result<Listing> {
        let mut all = Listing::default();
        for inner in FOLDERS {
            all.items.extend(list(&self.path, inner)?.items);
        }
        Ok(all)
    }

    /// Those of these unfinished files that nobody writes any more.
    pub(super) fn abandoned(&self, items: Vec<Item>) -> io::Result<Vec<Item>> {
        let mut abandoned = Vec::new();
        for item in items {
            if self.claim(&item.path)?.is_some() {
                abandoned.push(item);
            }
        }
        Ok(abandoned)
    }

    /// Removes files; not those that were written again since they were listed, or are still
    /// being written.
    pub(super) fn remove(&self, items: &[Item]) -> io::Result<()> {
        for item in items {
            match item.role {
                Role::Stored(_) => self.remove_as_listed(item)?,
                Role::Unfinished => {
                    let claimed = self.claim(&item.path)?;
                    if claimed.is_some() {
                        remove_if_there(&self.path.join(&item.path))?;
                    }
                    // Unlocked not before it is gone.
                    drop(claimed);
                }
            }
        }
        Ok(())
    }

    /// Removes a file that was not written again since it was listed. It is moved aside first: who
    /// writes it at this very moment has his in its place, or it is the one that was moved.
    fn remove_as_listed(&self, item: &Item) -> io::Result<()> {
        let place = self.path.join(&item.path);
        if !is_as_listed(&place, item) {
            return Ok(());
        }
        let aside = self.path.join(aside(&item.path));
        match fs::rename(&place, &aside) {
            // Somebody else clears too.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            moved => moved?,
        }
        settle(&place, &aside, item)
    }

    fn clear_abandoned(&self) -> io::Result<()> {
        self.remove(&list(&self.path, STAGING)?.items)
    }

    /// An unfinished file whose writer is gone, locked; `None` if it has one, or is gone itself.
    fn claim(&self, path: &str) -> io::Result<Option<File>> {
        let Some(file) = open_regular(&self.path, path)? else {
            return Ok(None);
        };
        staged::claim(file, path.starts_with(STAGING))
    }
}

/// Removes what was moved aside; what is not as it was listed goes back to its place.
fn settle(place: &Path, aside: &Path, item: &Item) -> io::Result<()> {
    if !is_as_listed(aside, item) {
        match fs::hard_link(aside, place) {
            // Somebody wrote it once more; or clears too, and then it was an old one.
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            // Not every file system has hard links.
            Err(_) => fs::rename(aside, place)?,
            Ok(()) => {}
        }
        if let Some(folder) = place.parent() {
            files::sync_folder(folder)?;
        }
    }
    remove_if_there(aside)
}

fn is_as_listed(place: &Path, item: &Item) -> bool {
    fs::symlink_metadata(place)
        .is_ok_and(|now| now.is_file() && now.modified().is_ok_and(|now| now == item.written))
}

/// Where a file is moved that is removed. Unlike one in `staging` it is locked by nobody, and has a name
/// of which others go by the age: they remove an old one, and leave one that was just written.
fn aside(path: &str) -> String {
    // Different ones each time, by chance.
    let number = RandomState::new().build_hasher().finish() % 1_000_000_000;
    format!("{path}#{number}")
}

fn remove_if_there(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        // Somebody else clears too.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Of a folder that is open to others, and is no archive's: that. To close it to them, as the other
/// error advises, would be wrong.
fn foreign_first(path: &Path, checked: Result<(), HostError>) -> Result<(), HostError> {
    match checked {
        Err(error @ HostError::NotPrivate { .. }) => Err(standing(path).err().unwrap_or(error)),
        checked => checked,
    }
}

/// Whether a folder is an archive, or can become one.
fn standing(path: &Path) -> Result<Standing, HostError> {
    for inner in FOLDERS {
        match fs::symlink_metadata(path.join(inner)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(path, error)),
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(refused(path, NO_FOLDER)),
        }
    }
    match read(path, MARKER).map_err(|error| failed(path, error))? {
        Some(found) if found.content == MARK.as_bytes() => return Ok(Standing::Marked),
        Some(_) => return Err(refused(path, OTHER_MARK)),
        None => {}
    }
    let mut standing = Standing::Empty;
    for entry in fs::read_dir(path).map_err(|error| failed(path, error))? {
        let name = entry.map_err(|error| failed(path, error))?.file_name();
        standing = Standing::Unmarked;
        // Somebody else makes the archive at the same time.
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
    Ok(standing)
}

/// What lies in one of an archive's folders.
fn list(root: &Path, inner: &str) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let entries = match fs::read_dir(root.join(inner)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(listing),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // Of a link it is the link's own.
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

fn read(root: &Path, path: &str) -> io::Result<Option<Found>> {
    let Some(file) = open_regular(root, path)? else {
        return Ok(None);
    };
    let written = file.metadata()?.modified()?;
    match files::read_within(file, MOST_BYTES)? {
        Some(content) => Ok(Some(Found { written, content })),
        None => Err(io::Error::other(too_large(path))),
    }
}

fn open_regular(root: &Path, path: &str) -> io::Result<Option<File>> {
    files::open_regular(&root.join(path), Links::Refused, path)
}

fn failed(path: &Path, source: io::Error) -> HostError {
    HostError::Io {
        action: "open the archive",
        path: path.to_owned(),
        source,
    }
}

fn refused(path: &Path, what: &'static str) -> HostError {
    HostError::Archive(ArchiveError::NotAnArchive {
        place: path.display().to_string(),
        what,
    })
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
        let found = folder.read(PATH).expect("reads");
        found.is_some_and(|found| found.content == b"[1]")
    }

    #[test]
    fn what_was_moved_aside_goes_back_where_it_is_not_what_was_listed() {
        let (_place, folder, item) = with_an_old_entry();
        let place = folder.path.join(PATH);
        let aside = folder.path.join(aside(PATH));
        // Somebody wrote it between the look and the move.
        folder.write(PATH, b"[1]").expect("is written");
        fs::rename(&place, &aside).expect("is moved");
        settle(&place, &aside, &item).expect("goes back");
        assert!(is_there(&folder) && !aside.exists());
        // And once more behind the move.
        fs::rename(&place, &aside).expect("is moved");
        folder.write(PATH, b"[1]").expect("is written");
        settle(&place, &aside, &item).expect("stays");
        assert!(is_there(&folder) && !aside.exists());

        let item = old_entry(&folder);
        folder.remove(&[item]).expect("is removed");
        let listing = folder.list().expect("lists");
        assert!(listing.items.is_empty(), "{:?}", listing.items);
    }

    #[test]
    fn what_a_killed_run_moved_aside_is_known_by_its_name() {
        for _ in 0..100 {
            assert_eq!(Role::of(&aside(PATH)), Some(Role::Unfinished));
        }
    }

    #[test]
    fn what_is_written_while_it_is_removed_is_there_afterwards() {
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
