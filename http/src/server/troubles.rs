//! What goes wrong in the server itself, for who runs it.

use std::sync::mpsc::{self, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The least time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells causes of failed requests, one a second at most. No request waits for that.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    /// None where nobody wants to know.
    lines: Option<SyncSender<String>>,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    last: Option<Instant>,
    left_out: u64,
}

impl Troubles {
    /// `tell` gets each line on a thread of its own, and may block that.
    pub(crate) fn told_to(tell: impl Fn(&str) + Send + 'static) -> Self {
        let (lines, told) = mpsc::sync_channel::<String>(1);
        let teller = thread::Builder::new()
            .name("troubles".to_owned())
            .spawn(move || told.iter().for_each(|line| tell(&line)));
        Self {
            lines: teller.ok().map(|_| lines),
            told: Mutex::default(),
        }
    }

    pub(crate) fn tell(&self, code: &str, cause: &str) {
        let Some(lines) = &self.lines else {
            return;
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = told.left_out;
        let line = told.line(Instant::now(), code, cause);
        if line.is_some_and(|line| lines.try_send(line).is_err()) {
            told.left_out = left_out + 1;
        }
    }
}

impl Told {
    /// The line for a trouble; none so soon after another.
    fn line(&mut self, now: Instant, code: &str, cause: &str) -> Option<String> {
        if self.last.is_some_and(|last| now - last < PAUSE) {
            self.left_out += 1;
            return None;
        }
        self.last = Some(now);
        // Words of a store or of the system: they stay in their line.
        let cause = cause.replace(char::is_control, " ");
        let mut line = format!("a request failed ({code}): {cause}");
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            line.push_str(&format!(" ({left_out} more since the line before)"));
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trouble_a_second_is_told_and_the_others_are_counted() {
        let mut told = Told::default();
        let start = Instant::now();
        let mut line = |ms| told.line(start + Duration::from_millis(ms), "internal", "disk\nfull");
        let one = "a request failed (internal): disk full";
        assert_eq!(line(0).as_deref(), Some(one));
        assert_eq!(line(1), None);
        assert_eq!(line(999), None);
        let more = format!("{one} (2 more since the line before)");
        assert_eq!(line(1_000), Some(more));
        assert_eq!(line(2_000).as_deref(), Some(one));
    }

    #[test]
    fn who_does_not_take_what_is_told_holds_up_nobody() {
        let (begin, begun) = mpsc::channel();
        let (done, wait) = mpsc::channel::<()>();
        let troubles = Troubles::told_to(move |_| {
            let _ = begin.send(());
            let _ = wait.recv();
        });
        let tell = || {
            // As if a second had passed.
            troubles.told.lock().expect("no panic").last = None;
            troubles.tell("internal", "x");
        };
        tell();
        begun.recv().expect("it is being told");
        // One more waits, and there is no room for the others.
        for _ in 0..3 {
            tell();
        }
        assert_eq!(troubles.told.lock().expect("no panic").left_out, 2);
        drop(done);
    }
}
