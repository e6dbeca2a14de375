//! Opening files that have to be regular ones, making files that nobody else reads, and having
//! the disk know them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Whether a link is as good as what it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

/// Opens a regular file, called `shown` in errors; `None` if there is none. To open a pipe would
/// be to wait for ever for somebody who writes; so it is opened without waiting, and looked at
/// afterwards, when nobody can exchange it any more.
pub(crate) fn open_regular(place: &Path, links: Links, shown: &str) -> io::Result<Option<File>> {
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
        // What the system says of a link or a socket explains nothing.
        Err(_) if look().is_ok_and(|is| !is.is_file()) => Err(irregular()),
        Err(error) => Err(error),
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(irregular()),
    }
}

/// All of a file; `None` if it has more than `most` bytes.
pub(crate) fn read_within(file: File, most: usize) -> io::Result<Option<Vec<u8>>> {
    let most = most as u64;
    let mut content = Vec::new();
    if file.metadata()?.len() > most {
        return Ok(None);
    }
    // It may have grown.
    file.take(most.saturating_add(1))
        .read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

/// Makes a file that is its owner's alone.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Has the disk know the names of the files in a folder.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere folders cannot be synced.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A pipe that nobody writes into, for tests.
#[cfg(all(test, unix))]
#[allow(clippy::expect_used, reason = "helpers of tests are tests")]
pub(crate) fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("it runs").success());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_within_gives_a_file_up_to_its_limit() {
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

    #[cfg(unix)]
    #[test]
    fn open_regular_takes_a_link_only_where_it_may() {
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
