//! Files that are being written, and those that killed runs left. Who writes one holds a lock on
//! it, which the system takes away however a run ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::files::{self, Links};

/// An unfinished file that its writer could not lock is taken for abandoned after this time.
/// To write one takes seconds.
const STALE: Duration = Duration::from_secs(60 * 60);

/// How often a file is begun anew where it is removed before it is locked.
const TRIES: usize = 16;

/// What the names of unfinished files in the state folder begin with, and the random letters and
/// digits behind that.
const OWN: (&str, usize) = (".baler-staged-", 16);
/// The same of an earlier baler, which locked none.
const EARLIER: (&str, usize) = (".tmp", 6);

/// An empty file in `folder` that is its owner's alone and locked as long as it is written. Its
/// name is so many random letters and digits between `prefix` and `suffix`.
pub(crate) fn begin(
    folder: &Path,
    prefix: &str,
    suffix: &str,
    letters: usize,
) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let staged = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(suffix)
            .rand_bytes(letters)
            // Not by `tempfile_in`, whose errors name the temporary file.
            .make_in(folder, files::create_private)?;
        match staged.as_file().try_lock() {
            // Who clears holds the lock while removing, so what is there now stays.
            Ok(()) if fs::symlink_metadata(staged.path()).is_ok() => return Ok(staged),
            // Somebody took it for abandoned before it was locked.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // There are no locks here: it goes by age.
            Err(TryLockError::Error(_)) => return Ok(staged),
        }
    }
    Err(io::Error::other(
        "files are removed or locked in its folder as soon as they are made",
    ))
}

/// As [`begin`], with a name by which [`clear`] knows it.
pub(crate) fn begin_in_state(folder: &Path) -> io::Result<NamedTempFile> {
    let (prefix, letters) = OWN;
    begin(folder, prefix, "", letters)
}

/// An unfinished file, locked; `None` if somebody still writes it. Of one that its writer may not
/// have locked the age decides.
pub(crate) fn claim(file: File, is_locked_by_its_writer: bool) -> io::Result<Option<File>> {
    let is_abandoned = match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        Ok(()) if is_locked_by_its_writer => true,
        // No locks here, or a name from before files were locked.
        Ok(()) | Err(TryLockError::Error(_)) => {
            let written = file.metadata()?.modified()?;
            // Where the clocks differ, it may be from the future.
            written.elapsed().unwrap_or_default() >= STALE
        }
    };
    Ok(is_abandoned.then_some(file))
}

/// Removes from a state folder, or the one for compiled code, what killed runs left. What cannot
/// be removed stays; and what has an earlier baler's name, which other programs' files have too,
/// goes only from a folder that is baler's alone.
pub(crate) fn clear(folder: &Path, is_alone: bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is = |(prefix, letters)| name.to_str().is_some_and(|n| is_called(n, prefix, letters));
        let is_own = is(OWN);
        let is_left = is_own || (is_alone && is(EARLIER));
        if !is_left {
            continue;
        }
        let path = entry.path();
        let file = files::open_regular(&path, Links::Refused, "")
            .ok()
            .flatten();
        let claimed = file.and_then(|file| claim(file, is_own).ok().flatten());
        if claimed.is_some() {
            let _ = fs::remove_file(&path);
        }
        // Unlocked not before it is gone.
        drop(claimed);
    }
}

fn is_called(name: &str, prefix: &str, letters: usize) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == letters && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn left(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_str().expect("UTF-8").to_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn clear_removes_what_nobody_writes_any_more_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |name: &str, age: Duration| {
            let path = folder.path().join(name);
            let file = File::create(path).expect("a file");
            file.set_modified(SystemTime::now() - age).expect("is set");
        };
        let (now, old) = (Duration::ZERO, STALE * 2);
        // What a killed run left, of this baler and of an earlier one.
        make(".baler-staged-aZ09aZ09aZ09aZ09", now);
        make(".tmpaZ09aZ", old);
        // An earlier one may still be writing this; the others are somebody else's.
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
        assert_eq!(left(folder.path()), stay);
    }

    #[test]
    fn clear_leaves_what_other_programs_may_have_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join(".tmpaZ09aZ")).expect("a file");
        file.set_modified(SystemTime::now() - STALE * 2)
            .expect("is set");
        clear(folder.path(), false);
        assert_eq!(left(folder.path()), [".tmpaZ09aZ"]);
    }

    #[test]
    fn clear_leaves_what_is_being_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let staged = begin_in_state(folder.path()).expect("begins");
        clear(folder.path(), true);
        assert!(staged.path().exists());
        drop(staged);
        assert_eq!(left(folder.path()), [""; 0]);
    }
}
