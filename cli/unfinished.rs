//! Files that have a name before they are whole, beside the place that they will take. Who writes
//! one holds a lock on it, which the system takes away however a run ends; so what a killed run
//! left is told from what another one writes, and removed by the next that writes into the folder.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, TempPath};

use crate::files;

/// What their names begin with, and the random letters and digits behind that: nothing that
/// another program's file is called.
const NAME: (&str, usize) = (".baler-unfinished-", 16);

/// How often one is begun anew where it is removed before it is locked.
const TRIES: usize = 16;

/// Their names.
pub(crate) fn names() -> Builder<'static, 'static> {
    let (prefix, letters) = NAME;
    let mut names = Builder::new();
    names.prefix(prefix).rand_bytes(letters);
    names
}

/// Makes one in `folder` by `open`, and locks it.
pub(crate) fn make(
    folder: &Path,
    open: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(File, TempPath)> {
    for _ in 0..TRIES {
        let (file, path) = names().make_in(folder, &open)?.into_parts();
        match file.try_lock() {
            // Who clears holds the lock while removing, so what is there now stays.
            Ok(()) if fs::symlink_metadata(&path).is_ok() => return Ok((file, path)),
            // Another run took it for abandoned before it was locked.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // There are no locks here, and so nobody clears.
            Err(TryLockError::Error(_)) => return Ok((file, path)),
        }
    }
    Err(io::Error::other(
        "files are removed or locked in its folder as soon as they are made",
    ))
}

/// Removes those in `folder` that nobody writes any more. What cannot be locked or removed stays.
pub(crate) fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if !entry.file_name().to_str().is_some_and(is_called) || !is_file() {
            continue;
        }
        let path = entry.path();
        let Ok(file) = files::regular(&path) else {
            continue;
        };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
        // Unlocked not before it is gone.
        drop(file);
    }
}

fn is_called(name: &str) -> bool {
    let (prefix, letters) = NAME;
    name.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == letters && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_removes_what_nobody_writes_any_more_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let abandoned = folder.path().join(".baler-unfinished-aZ09aZ09aZ09aZ09");
        fs::write(&abandoned, "half").expect("writes");
        let others = [
            // Another program's.
            ".baler-unfinished-aZ09",
            ".baler-unfinished-aZ09aZ09aZ09aZ0-",
            ".baler-config",
            // What was replaced is no unfinished file.
            ".baler-replaced-aZ09aZ09aZ09aZ09",
        ];
        for name in others {
            fs::write(folder.path().join(name), "theirs").expect("writes");
        }
        let (file, path) = make(folder.path(), |path| File::create_new(path)).expect("is made");
        clear(folder.path());
        assert!(!abandoned.exists());
        assert!(path.exists(), "it is being written");
        for name in others {
            assert!(folder.path().join(name).exists(), "{name}");
        }
        // Its writer was killed.
        let left = path.keep().expect("it stays");
        drop(file);
        clear(folder.path());
        assert!(!left.exists());
    }
}
