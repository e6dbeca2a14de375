//! Files that are named by a descriptor, such as `/dev/stdout`, `/dev/fd/3` or `/proc/self/fd/1`.
//! Whoever opened one wants it written to where it stands: behind what is there in a file that
//! was opened by `>>`, and never in place of the file.

#[cfg(unix)]
pub(crate) use unix::named_by;

/// There are none.
#[cfg(not(unix))]
pub(crate) fn named_by(_: &std::path::Path) -> Option<std::io::Result<std::fs::File>> {
    None
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File};
    use std::io;
    use std::path::{Path, PathBuf};

    use crate::{files, stdout};

    /// As many links as Linux follows.
    const LINKS: usize = 40;

    /// The descriptor that `path` names, to be written to; none where it names none.
    pub(crate) fn named_by(path: &Path) -> Option<io::Result<File>> {
        find(path).map(|(folder, number)| open(&folder, &number))
    }

    /// The folder of a process's descriptors, and the name in it.
    fn find(path: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let name = PathBuf::from(path.file_name()?);
            let folder = files::folder_of(&path).canonicalize().ok()?;
            let is_of_process = folder.starts_with("/proc") && folder.ends_with("fd");
            if is_of_process || folder == Path::new("/dev/fd") {
                return Some((folder, name));
            }
            // Link by link: the last one would lead to the file itself.
            let leads_to = fs::read_link(&path).ok()?;
            path = folder.join(leads_to);
        }
        None
    }

    fn open(folder: &Path, number: &Path) -> io::Result<File> {
        let is_own = ["/proc/self/fd", "/dev/fd"]
            .iter()
            .any(|own| fs::canonicalize(own).is_ok_and(|own| own == folder));
        // With the place that it has come to; opened anew it would have one of its own.
        match number.to_str() {
            Some("1") if is_own => stdout::open(),
            Some("2") if is_own => stdout::open_stderr(),
            _ => File::options().append(true).open(folder.join(number)),
        }
    }
}
