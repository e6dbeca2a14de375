//! Reports of failures in the server itself, for its operator.

use std::sync::mpsc::{self, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Minimum time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reports causes of failed requests, at most one a second. No request waits for a report.
#[derive(Debug, Default)]
pub(crate) struct FailureLog {
    /// `None` if nobody wants reports.
    lines: Option<SyncSender<String>>,
    limiter: Mutex<LineLimiter>,
}

/// Limits the rate of lines and counts those that were left out.
#[derive(Debug, Default)]
struct LineLimiter {
    last: Option<Instant>,
    left_out: u64,
}

impl FailureLog {
    /// Passes each line to `write`, which runs on a thread of its own and may block it.
    pub(crate) fn new(write: impl Fn(&str) + Send + 'static) -> Self {
        let (lines, received) = mpsc::sync_channel::<String>(1);
        let writer = thread::Builder::new()
            .name("failure-log".to_owned())
            .spawn(move || received.iter().for_each(|line| write(&line)));
        Self {
            lines: writer.ok().map(|_| lines),
            limiter: Mutex::default(),
        }
    }

    /// Reports that a request failed with this error code, and why.
    pub(crate) fn report(&self, code: &str, cause: &str) {
        let Some(lines) = &self.lines else {
            return;
        };
        let mut limiter = self.limiter.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = limiter.left_out;
        let line = limiter.line(Instant::now(), code, cause);
        if line.is_some_and(|line| lines.try_send(line).is_err()) {
            limiter.left_out = left_out + 1;
        }
    }
}

impl LineLimiter {
    /// Returns the line for a failure, or `None` within [`INTERVAL`] after another.
    fn line(&mut self, now: Instant, code: &str, cause: &str) -> Option<String> {
        if self.last.is_some_and(|last| now - last < INTERVAL) {
            self.left_out += 1;
            return None;
        }
        self.last = Some(now);
        // The text comes from a store or the system and must not start a new line.
        let cause = cause.replace(char::is_control, " ");
        let mut line = format!("a request failed ({code}): {cause}");
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            line.push_str(&format!(" ({left_out} more since the previous line)"));
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_log_writes_one_line_a_second_and_counts_the_others() {
        let mut limiter = LineLimiter::default();
        let start = Instant::now();
        let mut line =
            |ms| limiter.line(start + Duration::from_millis(ms), "internal", "disk\nfull");
        let one = "a request failed (internal): disk full";
        assert_eq!(line(0).as_deref(), Some(one));
        assert_eq!(line(1), None);
        assert_eq!(line(999), None);
        let more = format!("{one} (2 more since the previous line)");
        assert_eq!(line(1_000), Some(more));
        assert_eq!(line(2_000).as_deref(), Some(one));
    }

    #[test]
    fn blocked_writer_does_not_block_reports() {
        let (begin, begun) = mpsc::channel();
        let (done, wait) = mpsc::channel::<()>();
        let log = FailureLog::new(move |_| {
            let _ = begin.send(());
            let _ = wait.recv();
        });
        let report = || {
            // As if a second had passed.
            log.limiter.lock().expect("no panic").last = None;
            log.report("internal", "x");
        };
        report();
        begun.recv().expect("the line is being written");
        // One more line waits, and the queue is full for the others.
        for _ in 0..3 {
            report();
        }
        assert_eq!(log.limiter.lock().expect("no panic").left_out, 2);
        drop(done);
    }
}
