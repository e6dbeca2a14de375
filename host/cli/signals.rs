//! Signals that end a server, and those that a program gets which baler runs.

use std::future::Future;

use anyhow::Context as _;
use tokio::process::Child;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// Returns a future that completes on SIGTERM or SIGINT (elsewhere on Ctrl-C).
pub(crate) fn end() -> Result<impl Future<Output = ()>, Failure> {
    #[cfg(unix)]
    {
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

/// The signals that a program gets which baler runs: those that would end baler.
pub(crate) struct Passed {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    quit: Signal,
    #[cfg(unix)]
    end: Signal,
}

impl Passed {
    /// Listens for them. To be called before the program starts, since from then on none may end baler alone.
    pub(crate) fn listen() -> Result<Self, Failure> {
        Ok(Self {
            #[cfg(unix)]
            interrupt: listen(SignalKind::interrupt())?,
            #[cfg(unix)]
            quit: listen(SignalKind::quit())?,
            #[cfg(unix)]
            end: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the program, and returns its exit code.
    #[cfg(unix)]
    pub(crate) async fn wait(mut self, mut child: Child) -> Result<i32, Failure> {
        use std::os::unix::process::ExitStatusExt as _;

        use rustix::process::{Pid, Signal, kill_process};
        // Only now, since a program that is started under `nohup` ignores it like baler.
        let mut hangup = listen(SignalKind::hangup())?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pass = |signal| pid.map(|pid| kill_process(pid, signal));
        let pass_unless_typed = |signal| {
            if !gets_typed_signals() {
                pass(signal);
            }
        };
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => pass_unless_typed(Signal::INT),
                _ = self.quit.recv() => pass_unless_typed(Signal::QUIT),
                _ = self.end.recv() => { pass(Signal::TERM); }
                _ = hangup.recv() => { pass(Signal::HUP); }
                status = child.wait() => {
                    let status = status.context("cannot wait for the program")?;
                    let by_signal = status.signal().map(|signal| 128 + signal);
                    return Ok(status.code().or(by_signal).unwrap_or(1));
                }
            }
        }
    }

    /// Waits for the program, and returns its exit code.
    #[cfg(not(unix))]
    pub(crate) async fn wait(self, mut child: Child) -> Result<i32, Failure> {
        let status = child.wait().await.context("cannot wait for the program")?;
        Ok(status.code().unwrap_or(1))
    }
}

#[cfg(unix)]
fn listen(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("cannot listen for signals")
}

/// Decides whether the terminal sends the signals of its keyboard to baler, and so to the program as well.
#[cfg(unix)]
fn gets_typed_signals() -> bool {
    let terminal = std::fs::File::open("/dev/tty").ok();
    let foreground = terminal.and_then(|terminal| rustix::termios::tcgetpgrp(terminal).ok());
    foreground == Some(rustix::process::getpgrp())
}
