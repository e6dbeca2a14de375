//! Standard output as it is. The standard library hides two ways in which a result is lost: it
//! opens `/dev/null` where a program was started without standard output (`>&-`), and it takes
//! a descriptor that cannot be written to for one that swallowed everything.

#[cfg(unix)]
use std::fs::File;
use std::io;

/// Standard output, unbuffered. Its errors are those of the system.
#[cfg(unix)]
pub(crate) fn open() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    #[cfg(target_os = "linux")]
    if at_start::was_closed() {
        return Err(io::Error::other(
            "the program was started without one; redirect it to a file, or to /dev/null where nobody wants it",
        ));
    }
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
pub(crate) fn open() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

#[cfg(target_os = "linux")]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// Whether the program was started without standard output.
    pub(super) fn was_closed() -> bool {
        WAS_CLOSED.load(Ordering::Relaxed)
    }

    /// Asks the system before the standard library opens another file in its place.
    extern "C" fn look() {
        let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }

    // SAFETY: what the loader runs from this section before `main` is a function of the type
    // that it calls; it makes one system call and stores a flag, and needs nothing of a runtime.
    #[allow(
        unsafe_code,
        reason = "after `main` has begun nobody can tell; see the comment above"
    )]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
