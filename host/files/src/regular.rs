//! Opens regular files, creates private files, and syncs folders to disk.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// What to do with a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The file that it points at is opened.
    Followed,
    /// It is an error, like a folder.
    Refused,
}

/// Opens a regular file, called `shown` in errors; `None` if it does not exist. Opening a pipe would wait
/// forever for a writer, so the file is opened without waiting. Its kind is checked afterwards, when nobody
/// can replace it any more.
///
/// # Errors
/// The file cannot be opened, or is not a regular file.
pub fn open_regular(place: &Path, links: Links, shown: &str) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        if links == Links::Refused {
            flags |= OFlags::NOFOLLOW;
        }
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let irregular = || {
        let found = match links {
            Links::Followed => "a folder, a pipe or a device",
            Links::Refused => "a link, a folder, a pipe or a device",
        };
        io::Error::other(format!(
            "expected a regular file at `{shown}`, found {found}; remove it"
        ))
    };
    let look = || match links {
        Links::Followed => fs::metadata(place),
        Links::Refused => fs::symlink_metadata(place),
    };
    match options.open(place) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // The system's error for a link or a socket explains nothing.
        Err(_) if look().is_ok_and(|is| !is.is_file()) => Err(irregular()),
        Err(error) => Err(error),
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(irregular()),
    }
}

/// Reads a whole file; `None` if it has more than `most` bytes.
///
/// # Errors
/// The file cannot be read.
pub fn read_within(file: File, most: usize) -> io::Result<Option<Vec<u8>>> {
    let most = most as u64;
    let length = file.metadata()?.len();
    if length > most {
        return Ok(None);
    }
    // At once, and not by doubling: some files have many megabytes.
    let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    // The file may have grown since.
    file.take(most.saturating_add(1))
        .read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

/// Creates a file with these permissions, where the system has such.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are none"))]
pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    options.open(path)
}

/// Syncs a folder to disk, so that the names of its files survive a crash.
///
/// # Errors
/// The folder cannot be opened, or its file system cannot sync folders.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems cannot sync folders.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_within_returns_files_up_to_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "1234").expect("writes");
        let read = |most| {
            let file = open_regular(&path, Links::Refused, "file").expect("opens");
            read_within(file.expect("is there"), most).expect("reads")
        };
        assert_eq!(read(4).as_deref(), Some(&b"1234"[..]));
        assert_eq!(read(3), None);
    }

    /// Creates a pipe without a writer.
    #[cfg(unix)]
    fn make_pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.expect("it runs").success());
    }

    #[cfg(unix)]
    #[test]
    fn open_regular_follows_links_only_if_allowed_and_refuses_pipes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").expect("writes");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(open_regular(&link, Links::Refused, "link").is_err());
        let opened = open_regular(&link, Links::Followed, "link");
        assert!(opened.expect("opens").is_some());
        let pipe = folder.path().join("pipe");
        make_pipe(&pipe);
        for links in [Links::Followed, Links::Refused] {
            let error = open_regular(&pipe, links, "pipe").expect_err("it is a pipe");
            assert!(error.to_string().contains("found a"), "{error}");
        }
    }
}
