//! The files of a folder.

use std::io;
use std::path::{Path, PathBuf};

/// Lists all files below `folder`, sorted. Adds folders that cannot be read to `unreadable`.
pub(super) fn files(folder: &Path, unreadable: &mut Vec<(PathBuf, io::Error)>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                unreadable.push((folder, error));
                continue;
            }
        };
        for entry in entries.flatten() {
            // Links are not followed, because they could form a cycle.
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
