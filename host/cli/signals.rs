//! Signals that end a server, and those that a program gets which baler runs.

use std::future::Future;

use anyhow::Context as _;
use tokio::process::Child;

use crate::exit::Failure;

/// Returns a future that completes on SIGTERM or SIGINT (elsewhere on Ctrl-C).
pub(crate) fn end() -> Result<impl Future<Output = ()>, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).context("cannot listen for signals");
        let mut end = listen(SignalKind::terminate())?;
        let mut interrupt = listen(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = end.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Waits for a program, and returns its exit code. Signals that end baler are the program's: the terminal sends it those of
/// the keyboard itself, the others are passed on.
pub(crate) async fn wait(mut child: Child) -> Result<i32, Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;

        use rustix::process::{Pid, Signal, kill_process};
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).context("cannot listen for signals");
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut quit = listen(SignalKind::quit())?;
        let mut end = listen(SignalKind::terminate())?;
        let mut hangup = listen(SignalKind::hangup())?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pass = |signal| pid.map(|pid| kill_process(pid, signal));
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
                _ = end.recv() => { pass(Signal::TERM); }
                _ = hangup.recv() => { pass(Signal::HUP); }
                status = child.wait() => {
                    let status = status.context("cannot wait for the program")?;
                    let by_signal = status.signal().map(|signal| 128 + signal);
                    return Ok(status.code().or(by_signal).unwrap_or(1));
                }
            }
        }
    }
    #[cfg(not(unix))]
    {
        let status = child.wait().await.context("cannot wait for the program")?;
        Ok(status.code().unwrap_or(1))
    }
}
