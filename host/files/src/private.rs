//! Files and folders that only their owner can change.

use std::fs;
use std::path::Path;

use crate::FileError;

/// Creates `folder` if it does not exist, and refuses a folder that other users can write to.
pub fn private_folder(folder: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| FileError::Io {
        action: "make the folder",
        path: folder.to_owned(),
        source,
    })?;
    check_private(folder)
}

/// Refuses a folder that belongs to another user or that others can write to.
pub fn check_private(folder: &Path) -> Result<(), FileError> {
    let metadata = fs::metadata(folder).map_err(|source| FileError::Io {
        action: "look at the folder",
        path: folder.to_owned(),
        source,
    })?;
    check_owned(folder, &metadata)
}

/// Refuses a file or folder that belongs to another user or that others can write to.
#[cfg(unix)]
pub fn check_owned(path: &Path, metadata: &fs::Metadata) -> Result<(), FileError> {
    use std::os::unix::fs::MetadataExt as _;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(FileError::NotOwned {
            path: path.to_owned(),
            owner: metadata.uid(),
        });
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(FileError::NotPrivate {
            path: path.to_owned(),
            is_shared: is_shared(path, metadata),
        });
    }
    Ok(())
}

/// Returns whether other users use a folder: it has the sticky bit, like `/tmp`, or holds entries of other
/// users.
#[cfg(unix)]
fn is_shared(path: &Path, metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    /// Maximum number of entries to look at. The result only chooses the words of an error.
    const MAX_ENTRIES: usize = 1_000;
    let is_foreign = |entry: fs::DirEntry| {
        let entry = entry.metadata();
        entry.is_ok_and(|entry| entry.uid() != metadata.uid())
    };
    metadata.mode() & 0o1000 != 0
        || fs::read_dir(path)
            .is_ok_and(|entries| entries.flatten().take(MAX_ENTRIES).any(is_foreign))
}

/// Other systems have no such permissions.
#[cfg(not(unix))]
pub fn check_owned(_: &Path, _: &fs::Metadata) -> Result<(), FileError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folder_of_another_user_is_refused_without_suggesting_chmod() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("set");
        // Only root can change the owner of a folder; other users test with a folder of root.
        let given = std::os::unix::fs::chown(folder.path(), Some(65_534), None);
        let (theirs, uid) = match given {
            Ok(()) => (folder.path(), 65_534),
            Err(_) => (Path::new("/usr"), 0),
        };
        let error = check_private(theirs).expect_err("it is another's");
        let FileError::NotOwned { owner, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(*owner, uid);
        assert!(!error.to_string().contains("chmod"), "{error}");
    }
}
