//! The files of a folder.

use std::path::{Path, PathBuf};

/// All files below `folder`, sorted.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
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

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn a_folder_that_is_not_there_has_no_files() {
        assert!(files(std::path::Path::new("no/such/folder")).is_empty());
    }
}
