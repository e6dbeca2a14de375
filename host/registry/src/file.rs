//! Files of the store, of layout folders and of locks: read within a limit, written whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

use baler_files::{FileError, Links, open_regular, read_within, staged, sync_folder};

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Readers {
    /// The user alone.
    Owner,
    /// Whoever the system lets read new files.
    Everybody,
}

/// Reads a file; `None` if there is none. `too_large` is the error of one with more than `limit` bytes.
pub(crate) fn read<E: From<FileError>>(
    path: &Path,
    limit: usize,
    links: Links,
    too_large: impl FnOnce() -> E,
) -> Result<Option<Vec<u8>>, E> {
    let failed = failed("read", path);
    let file = open_regular(path, links, &path.display().to_string()).map_err(&failed)?;
    let Some(file) = file else { return Ok(None) };
    let content = read_within(file, limit).map_err(&failed)?;
    content.map(Some).ok_or_else(too_large)
}

/// Writes a file, whole or not at all.
pub(crate) fn write(path: &Path, content: &[u8], readers: Readers) -> Result<(), FileError> {
    let failed = failed("write", path);
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let staged = match readers {
        Readers::Owner => staged::begin(folder),
        Readers::Everybody => staged::begin_public(folder),
    };
    let mut file = staged.map_err(&failed)?;
    file.write_all(content).map_err(&failed)?;
    file.as_file().sync_all().map_err(&failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    // Not every file system can sync a folder. The content of the file is synced in any case.
    let _ = sync_folder(folder);
    Ok(())
}

/// Returns what makes an error of the system one about this file.
pub(crate) fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> FileError {
    move |source| FileError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
