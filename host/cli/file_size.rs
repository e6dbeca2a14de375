//! The limit of a file's size (`ulimit -f`). Unless a program asks for something else, the system
//! ends it where it writes beyond that.

/// Makes writing beyond the limit an error of that write, for as long as the program runs. Called
/// before anything is written: words of help can go into a file, too.
#[cfg(unix)]
pub(crate) fn make_excess_an_error() {
    use tokio::runtime::Builder;
    use tokio::signal::unix::{SignalKind, signal};
    // Signals can be handled in a runtime only. What handles this one stays when both are dropped.
    // Without a handler all else still works.
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let _entered = runtime.enter();
    let excess = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // A signal that is handled ends nothing. (One that is ignored would be ignored by child
    // processes too.)
    let _ = signal(excess);
}

/// Writing beyond a limit is an error anyway.
#[cfg(not(unix))]
pub(crate) const fn make_excess_an_error() {}
