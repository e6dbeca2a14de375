//! A bar for what takes long.

use std::cell::OnceCell;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Messages;

/// What is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

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
            is_shown: !messages.quiet && io::stderr().is_terminal(),
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
