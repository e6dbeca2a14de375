//! A bar, or a line, for what takes long.

use std::cell::OnceCell;
use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::pin::pin;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Messages;
use crate::visible::visible;

/// What is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line moves.
const TICK: Duration = Duration::from_millis(200);

/// Tells a person at a terminal how far the reading of a conversation has come.
#[derive(Debug)]
pub(crate) struct Progress {
    start: Instant,
    is_shown: bool,
    bar: OnceCell<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(messages: Messages) -> Self {
        Self {
            start: Instant::now(),
            is_shown: is_shown(messages),
            bar: OnceCell::new(),
        }
    }

    /// So many bytes of so many are done.
    pub(crate) fn at(&self, done: usize, of: usize) {
        if self.is_shown && self.start.elapsed() > PATIENCE {
            let bar = self.bar.get_or_init(|| {
                let style = ProgressStyle::with_template(
                    "counting tokens {wide_bar} {bytes}/{total_bytes}, {eta} left",
                );
                ProgressBar::new(of as u64)
                    .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            });
            bar.set_position(done as u64);
        }
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Tells a person at a terminal how far work of several kinds has come, each of so many steps.
#[cfg(feature = "eval")]
#[derive(Debug)]
pub(crate) struct Steps {
    bar: ProgressBar,
    kind: std::sync::Mutex<&'static str>,
}

#[cfg(feature = "eval")]
impl Steps {
    pub(crate) fn new(messages: Messages) -> Self {
        let bar = match is_shown(messages) {
            true => ProgressBar::new(0),
            false => ProgressBar::hidden(),
        };
        let style = ProgressStyle::with_template("{msg:<8} {wide_bar} {pos}/{len}, {elapsed}");
        Self {
            bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())),
            kind: std::sync::Mutex::new(""),
        }
    }

    /// A step of this kind begins, of so many.
    pub(crate) fn next(&self, kind: &'static str, of: usize) {
        let mut last = self
            .kind
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if *last != kind {
            *last = kind;
            self.bar.set_message(kind);
            self.bar.set_length(of as u64);
            self.bar.set_position(0);
        }
        self.bar.inc(1);
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

/// Tells a person at a terminal what a piece of work waits for, and for how long by now.
pub(crate) async fn waiting<T>(messages: Messages, what: &str, work: impl Future<Output = T>) -> T {
    if !is_shown(messages) {
        return work.await;
    }
    let mut work = pin!(work);
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    let line = ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        .with_message(visible(what))
        .with_elapsed(PATIENCE);
    // By a thread of its own, so that it goes on while a guest computes.
    line.enable_steady_tick(TICK);
    let done = work.await;
    line.finish_and_clear();
    done
}

fn is_shown(messages: Messages) -> bool {
    !messages.quiet && io::stderr().is_terminal()
}
