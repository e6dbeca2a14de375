//! Standard output, standard error and standard input as they are. The standard library hides two
//! ways in which a result is lost: it opens `/dev/null` where a program was started without one of
//! them (`>&-`), so that an input seems to be empty, too; and it takes a descriptor that cannot be
//! written to for one that swallowed everything.

#[cfg(unix)]
use std::fs::File;
use std::io;

/// Standard output, unbuffered. Its errors are those of the system.
#[cfg(unix)]
pub(crate) fn open() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    #[cfg(target_os = "linux")]
    at_start::check(&at_start::NO_STDOUT)?;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Standard error, likewise.
#[cfg(unix)]
pub(crate) fn open_stderr() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    #[cfg(target_os = "linux")]
    at_start::check(&at_start::NO_STDERR)?;
    Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
pub(crate) fn open() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

#[cfg(not(unix))]
pub(crate) fn open_stderr() -> io::Result<io::Stderr> {
    Ok(io::stderr())
}

/// Refuses a standard input that the program was started without.
pub(crate) fn check_stdin() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    at_start::check_stdin()?;
    Ok(())
}

#[cfg(target_os = "linux")]
mod at_start {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether the program was started without standard output.
    pub(super) static NO_STDOUT: AtomicBool = AtomicBool::new(false);

    /// Whether the program was started without standard error.
    pub(super) static NO_STDERR: AtomicBool = AtomicBool::new(false);

    /// Whether the program was started without standard input.
    pub(super) static NO_STDIN: AtomicBool = AtomicBool::new(false);

    pub(super) fn check_stdin() -> io::Result<()> {
        if NO_STDIN.load(Ordering::Relaxed) {
            return Err(io::Error::other(
                "the program was started without standard input; pipe the text in, or name its file",
            ));
        }
        Ok(())
    }

    pub(super) fn check(is_missing: &AtomicBool) -> io::Result<()> {
        if is_missing.load(Ordering::Relaxed) {
            return Err(io::Error::other(
                "the program was started without one; redirect it to a file, or to /dev/null where nobody wants it",
            ));
        }
        Ok(())
    }

    /// Asks the system before the standard library opens another file in their place.
    extern "C" fn look() {
        let no_stdout = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        NO_STDOUT.store(no_stdout, Ordering::Relaxed);
        let no_stderr = rustix::io::fcntl_getfd(rustix::stdio::stderr()).is_err();
        NO_STDERR.store(no_stderr, Ordering::Relaxed);
        let no_stdin = rustix::io::fcntl_getfd(rustix::stdio::stdin()).is_err();
        NO_STDIN.store(no_stdin, Ordering::Relaxed);
    }

    // SAFETY: what the loader runs from this section before `main` is a function of the type
    // that it calls; it makes three system calls and stores flags, and needs nothing of a runtime.
    #[allow(
        unsafe_code,
        reason = "after `main` has begun nobody can tell; see the comment above"
    )]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
