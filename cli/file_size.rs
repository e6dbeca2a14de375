//! The limit of a file's size (`ulimit -f`). Unless a program asks for something else, the system
//! ends it where it writes beyond that.

/// Makes writing beyond the limit an error of that write, for as long as the program runs. Called
/// where a runtime is entered.
#[cfg(unix)]
pub(crate) fn make_excess_an_error() {
    use tokio::signal::unix::{SignalKind, signal};
    let excess = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // A signal that is handled ends nothing, and its handler stays when this is dropped. (One that
    // is ignored would be ignored by child processes too.) Without a handler all else still works.
    let _ = signal(excess);
}

/// Writing beyond a limit is an error anyway.
#[cfg(not(unix))]
pub(crate) const fn make_excess_an_error() {}
