//! Folders of which only the newest files are kept.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files of a folder with this ending, the one that was changed last at the end.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|end| end == ending))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Removes the oldest of these files, so that at most this many stay. A file that cannot be removed stays, too.
pub(crate) fn keep(folder: &Path, ending: &str, most: usize) {
    let files = files(folder, ending);
    for path in &files[..files.len().saturating_sub(most)] {
        let _ = fs::remove_file(path);
    }
}
