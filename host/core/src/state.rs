//! The state folder of a host: its secret key and compiled code.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use baler_conversation::marks::SecretKey;
use baler_files::{
    FileError, Links, check_owned, open_regular, private_folder, read_within, staged, sync_folder,
};

/// Returns the key in `folder`; creates it at the first call. Removes unfinished key files of killed runs.
pub(crate) fn key(folder: &Path) -> Result<SecretKey, FileError> {
    private_folder(folder)?;
    staged::clear(folder, false);
    let path = folder.join("key");
    match read_key(&path)? {
        Some(key) => Ok(key),
        None => make_key(folder, &path),
    }
}

/// Length of a key in bytes.
const KEY_BYTES: usize = 32;

fn read_key(path: &Path) -> Result<Option<SecretKey>, FileError> {
    let failed = |source| FileError::Io {
        action: "read the key",
        path: path.to_owned(),
        source,
    };
    let shown = path.display().to_string();
    let Some(file) = open_regular(path, Links::Followed, &shown).map_err(failed)? else {
        return Ok(None);
    };
    let metadata = file.metadata().map_err(failed)?;
    check_owned(path, &metadata)?;
    make_secret(path, &file)?;
    let bytes = read_within(file, KEY_BYTES).map_err(failed)?;
    let bytes = bytes.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
    let bytes = bytes.ok_or_else(|| {
        // A new key would silently turn all earlier summaries into ordinary messages, so the user decides.
        let found = metadata.len();
        let what = format!(
            "expected {KEY_BYTES} bytes, found {found}; put it back from a copy, or remove it to get a new one (summaries made with the old one become ordinary messages)"
        );
        failed(std::io::Error::new(ErrorKind::InvalidData, what))
    })?;
    Ok(Some(SecretKey::new(bytes)))
}

/// Creates the key. Two programs may do that at the same time: the file appears complete, and the first one
/// counts. It is synced to disk before it is used, so that it survives a crash of the machine.
fn make_key(folder: &Path, path: &PathBuf) -> Result<SecretKey, FileError> {
    let failed = |source| FileError::Io {
        action: "make the key",
        path: path.clone(),
        source,
    };
    let key = SecretKey::random().map_err(failed)?;
    let mut file = staged::begin(folder).map_err(failed)?;
    file.write_all(key.bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => {
            // Not every file system can sync a folder. The content of the key is synced in any case.
            let _ = sync_folder(folder);
            Ok(key)
        }
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| failed(error.error))
        }
        Err(error) => Err(failed(error.error)),
    }
}

/// Makes the key readable by its owner only: whoever reads it can forge summaries and compiled code.
#[cfg(unix)]
fn make_secret(path: &Path, key: &File) -> Result<(), FileError> {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    let secret = || -> std::io::Result<()> {
        if key.metadata()?.permissions().mode() & 0o077 == 0 {
            return Ok(());
        }
        key.set_permissions(fs::Permissions::from_mode(0o600))?;
        tracing::warn!(path = %path.display(), "others could read the key; now its owner alone can. Remove it to get a new one, where somebody else may have read it");
        Ok(())
    };
    secret().map_err(|source| FileError::Io {
        action: "keep others from reading the key",
        path: path.to_owned(),
        source,
    })
}

#[cfg(not(unix))]
fn make_secret(_: &Path, _: &File) -> Result<(), FileError> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn key_readable_by_others_becomes_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let before = key(folder.path()).expect("is made");
        let path = folder.path().join("key");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
        let after = key(folder.path()).expect("is read");
        assert_eq!(after.bytes(), before.bytes());
        let mode = fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn error_suggests_chmod_only_if_nobody_else_uses_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        for (mode, suggests_chmod) in [(0o1777, false), (0o777, true)] {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.path(), permissions).expect("set");
            let error = key(folder.path()).expect_err("it is open").to_string();
            assert_eq!(error.contains("chmod"), suggests_chmod, "{error}");
            assert_eq!(
                error.contains("a folder of your own"),
                !suggests_chmod,
                "{error}"
            );
        }
    }

    #[test]
    fn key_writable_by_others_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        key(folder.path()).expect("is made");
        let path = folder.path().join("key");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).expect("set");
        let error = key(folder.path()).expect_err("it may be forged");
        assert!(matches!(error, FileError::NotPrivate { .. }), "{error:?}");
    }

    #[test]
    fn key_that_is_a_pipe_or_too_long_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        crate::sample::make_pipe(&path);
        let (sender, receiver) = mpsc::channel();
        let state = folder.path().to_owned();
        std::thread::spawn(move || sender.send(key(&state).map(drop)));
        let answer = receiver.recv_timeout(Duration::from_secs(60));
        let error = answer.expect("it does not wait").expect_err("no key");
        assert!(matches!(error, FileError::Io { .. }), "{error:?}");
        // A sparse file, which uses no disk space.
        fs::remove_file(&path).expect("removes it");
        File::create(&path).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        let file = File::options().write(true).open(&path).expect("opens");
        file.set_len(1 << 30).expect("grows");
        let error = key(folder.path()).expect_err("it is too long");
        assert!(matches!(error, FileError::Io { .. }), "{error:?}");
    }

    #[test]
    fn key_of_wrong_length_is_an_error_with_a_remedy_and_is_not_replaced() {
        use std::error::Error as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        key(folder.path()).expect("is made");
        for content in [&b""[..], &[7; 31], &[7; 33]] {
            fs::write(&path, content).expect("writes");
            let error = key(folder.path()).expect_err("no key");
            let why = error.source().expect("a reason").to_string();
            let expected = format!("expected 32 bytes, found {}; ", content.len());
            assert!(why.starts_with(&expected), "{why}");
            assert!(why.contains("remove it to get a new one"), "{why}");
            assert_eq!(fs::read(&path).expect("there"), content);
        }
    }

    #[test]
    fn key_removes_unfinished_key_files_of_killed_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join(".baler-staged-aZ09aZ09aZ09aZ09");
        fs::write(&left, [0_u8; 16]).expect("writes");
        key(folder.path()).expect("is made");
        let entries = fs::read_dir(folder.path()).expect("a folder");
        let names: Vec<_> = entries
            .map(|entry| entry.expect("one").file_name())
            .collect();
        assert_eq!(names, ["key"]);
    }
}
