//! The folder of a host's own: its secret key and compiled code.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::fault::HostError;
use crate::marks::SecretKey;

/// Makes `folder` where it is not there, and refuses one that others can write into.
pub(crate) fn private_folder(folder: &Path) -> Result<(), HostError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| HostError::Io {
        action: "make the folder",
        path: folder.to_owned(),
        source,
    })?;
    check_private(folder)
}

/// Refuses a folder that others can write into.
pub(crate) fn check_private(folder: &Path) -> Result<(), HostError> {
    let metadata = fs::metadata(folder).map_err(|source| HostError::Io {
        action: "look at the folder",
        path: folder.to_owned(),
        source,
    })?;
    if is_private(&metadata) {
        Ok(())
    } else {
        Err(HostError::NotPrivate {
            path: folder.to_owned(),
        })
    }
}

/// The key in `folder`, made when it is first asked for.
pub(crate) fn key(folder: &Path) -> Result<SecretKey, HostError> {
    private_folder(folder)?;
    let path = folder.join("key");
    match read_key(&path)? {
        Some(key) => Ok(key),
        None => make_key(folder, &path),
    }
}

fn read_key(path: &PathBuf) -> Result<Option<SecretKey>, HostError> {
    let failed = |source| HostError::Io {
        action: "read the key",
        path: path.clone(),
        source,
    };
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(failed)?,
    };
    let metadata = fs::metadata(path).map_err(failed)?;
    if !is_private(&metadata) {
        return Err(HostError::NotPrivate { path: path.clone() });
    }
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| {
        failed(std::io::Error::new(
            ErrorKind::InvalidData,
            "it does not have 32 bytes; remove it to get a new one (summaries made with the old one become ordinary messages)",
        ))
    })?;
    Ok(Some(SecretKey::new(bytes)))
}

/// Two programs may get here at once: the file appears whole, and the first one counts.
fn make_key(folder: &Path, path: &PathBuf) -> Result<SecretKey, HostError> {
    let failed = |source| HostError::Io {
        action: "make the key",
        path: path.clone(),
        source,
    };
    let key = SecretKey::random().map_err(failed)?;
    // A temporary file is readable by its owner only.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(key.bytes()).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(key),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| failed(error.error))
        }
        Err(error) => Err(failed(error.error)),
    }
}

#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o022 == 0 && metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
const fn is_private(_: &fs::Metadata) -> bool {
    true
}
