//! Files that are named by a descriptor, such as `/dev/stdout`, `/dev/fd/3` or `/proc/self/fd/1`.
//! Whoever opened one wants it written to where it stands: behind what is there in a file that
//! was opened by `>>`, and never in place of the file. Only descriptors that the program was started
//! with can be named, not those of files that it opened itself.

#[cfg(unix)]
pub(crate) use unix::{check_input, named_by};

/// There are none.
#[cfg(not(unix))]
pub(crate) fn named_by(_: &std::path::Path) -> Option<std::io::Result<std::fs::File>> {
    None
}

/// There are none.
#[cfg(not(unix))]
pub(crate) fn check_input(_: &std::path::Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::{BorrowedFd, RawFd};
    use std::path::{Path, PathBuf};

    use rustix::fs::{OFlags, fcntl_getfl};
    use rustix::io::{FdFlags, fcntl_getfd};

    use crate::{files, stdout};

    /// As many links as Linux follows.
    const LINKS: usize = 40;

    /// The descriptor that `path` names, to be written to; `None` if it names none.
    pub(crate) fn named_by(path: &Path) -> Option<io::Result<File>> {
        find(path).map(|(folder, number)| open(&folder, &number))
    }

    /// Refuses a file to be read that names standard input, such as `/dev/stdin` and `/dev/fd/0`,
    /// where the program was started without it.
    pub(crate) fn check_input(path: &Path) -> io::Result<()> {
        match find(path) {
            Some((folder, number)) if number == Path::new("0") && is_own(&folder) => {
                stdout::check_stdin()
            }
            _ => Ok(()),
        }
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
        if !is_own(folder) {
            // Of another process, which cannot be shared: behind all that is there.
            return File::options().append(true).open(folder.join(number));
        }
        let number = number.to_str().filter(|number| {
            let mut digits = number.bytes();
            digits.all(|digit| digit.is_ascii_digit())
        });
        match number {
            Some("1") => stdout::open(),
            Some("2") => stdout::open_stderr(),
            number => inherited(number.and_then(|number| number.parse().ok())),
        }
    }

    /// Whether these are the descriptors of this process, by whichever of its folders.
    fn is_own(folder: &Path) -> bool {
        let process = fs::canonicalize("/proc/self");
        folder == Path::new("/dev/fd") || process.is_ok_and(|own| folder.starts_with(own))
    }

    /// A descriptor that the program was started with, to be written to with the place that it has
    /// come to; opened anew it would have one of its own.
    fn inherited(number: Option<RawFd>) -> io::Result<File> {
        let unknown = || {
            io::Error::other(
                "the program was not started with such a descriptor; open it by a redirection, as `3>file`",
            )
        };
        let number = number.ok_or_else(unknown)?;
        // SAFETY: the number is not negative, as it was read from digits. Where no file is open
        // under it, the system answers with an error, and nothing else is done with it. Where one
        // is, the first look tells whether this program opened it: all that it opens is closed when
        // it starts another program (the standard library and its dependencies see to that), and
        // what it was given is not, or it would not be there. What it was given nothing in it closes.
        #[allow(unsafe_code, reason = "it is a number; see the comment above")]
        let given = unsafe { BorrowedFd::borrow_raw(number) };
        match fcntl_getfd(given) {
            Ok(flags) if !flags.contains(FdFlags::CLOEXEC) => {}
            _ => return Err(unknown()),
        }
        if fcntl_getfl(given)? & OFlags::RWMODE == OFlags::RDONLY {
            return Err(io::Error::other("that descriptor is open for reading only"));
        }
        Ok(File::from(given.try_clone_to_owned()?))
    }
}
