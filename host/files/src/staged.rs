//! Unfinished files: those being written, and those that killed runs left behind. The writer holds a lock on
//! its file, which the system releases however the run ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::regular::{self, Links};

/// Age from which an unfinished file that its writer could not lock counts as abandoned. Writing one takes
/// seconds.
const STALE: Duration = Duration::from_secs(60 * 60);

/// Maximum number of tries to create a file, which another process may remove before it is locked.
const TRIES: usize = 16;

/// Permissions for the owner alone.
const PRIVATE: u32 = 0o600;
/// Permissions of any new file, of which the user's umask takes some.
const PUBLIC: u32 = 0o666;

/// Names of unfinished files: the prefix, and the number of random letters and digits after it.
const CURRENT: (&str, usize) = (".baler-staged-", 16);
/// Names of unfinished files of earlier versions of baler, which did not lock them.
const EARLIER: (&str, usize) = (".tmp", 6);

/// Creates an empty file in `folder` that only its owner can read, and locks it. Its name is `letters` random letters
/// and digits, and `suffix`.
///
/// # Errors
/// The file cannot be created.
pub fn begin_named(folder: &Path, suffix: &str, letters: usize) -> io::Result<NamedTempFile> {
    create(folder, ("", letters), suffix, PRIVATE)
}

fn create(
    folder: &Path,
    (prefix, letters): (&str, usize),
    suffix: &str,
    mode: u32,
) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let staged = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(suffix)
            .rand_bytes(letters)
            // The errors of `tempfile_in` would name the temporary file.
            .make_in(folder, |path| regular::create_new(path, mode))?;
        match staged.as_file().try_lock() {
            // `clear` holds the lock while it removes a file, so a file that exists now stays.
            Ok(()) if fs::symlink_metadata(staged.path()).is_ok() => return Ok(staged),
            // Another process took it for abandoned before it was locked.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // This file system has no locks, so `claim` goes by age.
            Err(TryLockError::Error(_)) => return Ok(staged),
        }
    }
    Err(io::Error::other(
        "files are removed or locked in its folder as soon as they are made",
    ))
}

/// Creates an empty file in `folder` that only its owner can read, and locks it. [`clear`] recognizes its name.
///
/// # Errors
/// The file cannot be created.
pub fn begin(folder: &Path) -> io::Result<NamedTempFile> {
    create(folder, CURRENT, "", PRIVATE)
}

/// Like [`begin`], with the permissions of any new file of the user.
///
/// # Errors
/// The file cannot be created.
pub fn begin_public(folder: &Path) -> io::Result<NamedTempFile> {
    create(folder, CURRENT, "", PUBLIC)
}

/// Locks an abandoned file and returns it; `None` if it is still being written. If its writer may not have
/// locked it, its age decides.
///
/// # Errors
/// The age of the file is unknown.
pub fn claim(file: File, is_locked_by_its_writer: bool) -> io::Result<Option<File>> {
    let is_abandoned = match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        Ok(()) if is_locked_by_its_writer => true,
        // The file system has no locks, or the file is of a version that did not lock.
        Ok(()) | Err(TryLockError::Error(_)) => {
            let written = file.metadata()?.modified()?;
            // If the clocks differ, the time may be in the future.
            written.elapsed().unwrap_or_default() >= STALE
        }
    };
    Ok(is_abandoned.then_some(file))
}

/// Removes abandoned files from a folder. Files that cannot be removed stay. Files of other programs may have the names
/// of earlier versions, so such files are removed only if `is_only_balers` says that the folder holds nothing else.
pub fn clear(folder: &Path, is_only_balers: bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let matches = |(prefix, letters)| {
            name.to_str()
                .is_some_and(|name| has_form(name, prefix, letters))
        };
        let is_current = matches(CURRENT);
        let is_own = is_current || is_only_balers && matches(EARLIER);
        if !is_own {
            continue;
        }
        let path = entry.path();
        let file = regular::open_regular(&path, Links::Refused, "")
            .ok()
            .flatten();
        let claimed = file.and_then(|file| claim(file, is_current).ok().flatten());
        if claimed.is_some() {
            let _ = fs::remove_file(&path);
        }
        // Unlocks the file only after it is removed.
        drop(claimed);
    }
}

/// Returns whether `name` is `prefix` and that many random letters and digits.
fn has_form(name: &str, prefix: &str, letters: usize) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == letters && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_str().expect("UTF-8").to_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn clear_removes_only_abandoned_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |name: &str, age: Duration| {
            let path = folder.path().join(name);
            let file = File::create(path).expect("a file");
            file.set_modified(SystemTime::now() - age).expect("is set");
        };
        let (now, old) = (Duration::ZERO, STALE * 2);
        // Abandoned files of this version and of an earlier one.
        make(".baler-staged-aZ09aZ09aZ09aZ09", now);
        make(".tmpaZ09aZ", old);
        // An earlier version may still be writing `.tmpnow00n`; the others are not baler's unfinished files.
        let stay = [
            ".baler-staged-aZ09",
            ".tmpaZ09a-",
            ".tmpaZ09aZ9",
            ".tmpnow00n",
            "key",
        ];
        for name in stay {
            make(name, if name == ".tmpnow00n" { now } else { old });
        }
        clear(folder.path(), true);
        assert_eq!(names_in(folder.path()), stay);
    }

    #[test]
    fn clear_keeps_files_that_other_programs_may_have_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join(".tmpaZ09aZ")).expect("a file");
        file.set_modified(SystemTime::now() - STALE * 2)
            .expect("is set");
        clear(folder.path(), false);
        assert_eq!(names_in(folder.path()), [".tmpaZ09aZ"]);
    }

    #[test]
    fn clear_keeps_a_file_that_is_being_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let staged = begin(folder.path()).expect("begins");
        clear(folder.path(), true);
        assert!(staged.path().exists());
        drop(staged);
        assert_eq!(names_in(folder.path()), [""; 0]);
    }
}
