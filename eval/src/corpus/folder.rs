//! The files of a folder.

use std::io;
use std::path::{Path, PathBuf};

/// All files below `folder`, sorted. Folders that cannot be read join `unread`.
pub(super) fn files(folder: &Path, unread: &mut Vec<(PathBuf, io::Error)>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                unread.push((folder, error));
                continue;
            }
        };
        for entry in entries.flatten() {
            // The entry's own type: links are not followed, so that no ring can arise.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
