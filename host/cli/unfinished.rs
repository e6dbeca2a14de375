//! Unfinished files: files that have a temporary name while they are written, in the folder of their final
//! path. The run that writes one holds a lock on it, which the system releases however the run ends. So the
//! next run that writes into the folder can distinguish files of killed runs, and removes them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, TempPath};

use crate::files;

/// The prefix of their names, and the number of random letters and digits after it. No other program's files
/// are named like this.
const NAME: (&str, usize) = (".baler-unfinished-", 16);

/// How often creating a file is tried again if another run removes it before it is locked.
const TRIES: usize = 16;

/// Returns a builder of their names.
pub(crate) fn names() -> Builder<'static, 'static> {
    let (prefix, letters) = NAME;
    let mut names = Builder::new();
    names.prefix(prefix).rand_bytes(letters);
    names
}

/// Creates an unfinished file in `folder` by `open`, and locks it.
pub(crate) fn make(
    folder: &Path,
    open: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(File, TempPath)> {
    for _ in 0..TRIES {
        let (file, path) = names().make_in(folder, &open)?.into_parts();
        match file.try_lock() {
            // `clear` holds the lock while it removes a file, so a file that is still there stays.
            Ok(()) if fs::symlink_metadata(&path).is_ok() => return Ok((file, path)),
            // Another run removed it as abandoned before it was locked.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // The file system has no locks, so no run removes unfinished files.
            Err(TryLockError::Error(_)) => return Ok((file, path)),
        }
    }
    Err(io::Error::other(
        "files are removed or locked in its folder as soon as they are made",
    ))
}

/// Removes the unfinished files in `folder` that no run writes any more. Files that cannot be locked or
/// removed stay.
pub(crate) fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if !entry.file_name().to_str().is_some_and(is_unfinished) || !is_file() {
            continue;
        }
        let path = entry.path();
        let Ok(file) = files::regular(&path) else {
            continue;
        };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
        // The lock ends only when the file is removed.
        drop(file);
    }
}

fn is_unfinished(name: &str) -> bool {
    let (prefix, letters) = NAME;
    name.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == letters && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_removes_only_unfinished_files_of_ended_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let abandoned = folder.path().join(".baler-unfinished-aZ09aZ09aZ09aZ09");
        fs::write(&abandoned, "half").expect("writes");
        let others = [
            // Names of other programs.
            ".baler-unfinished-aZ09",
            ".baler-unfinished-aZ09aZ09aZ09aZ0-",
            ".baler-config",
            // A backup of a replaced file is not unfinished.
            ".baler-replaced-aZ09aZ09aZ09aZ09",
        ];
        for name in others {
            fs::write(folder.path().join(name), "other").expect("writes");
        }
        let (file, path) = make(folder.path(), |path| File::create_new(path)).expect("creates");
        clear(folder.path());
        assert!(!abandoned.exists());
        assert!(path.exists(), "the file is being written");
        for name in others {
            assert!(folder.path().join(name).exists(), "{name}");
        }
        // As if its writer was killed.
        let left = path.keep().expect("keeps");
        drop(file);
        clear(folder.path());
        assert!(!left.exists());
    }
}
