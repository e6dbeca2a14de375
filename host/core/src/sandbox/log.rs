//! The log of one call, limited in bytes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::report::LogLevel;

/// Bytes that a log line counts in addition to its text.
const LINE_BYTES: usize = 32;

/// The log of one call. Clones share it: the component's log lines and its standard output go to the same one.
#[derive(Debug, Clone)]
pub(super) struct Log(Arc<Mutex<Lines>>);

/// What was logged.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<(LogLevel, String)>,
    /// Lines that did not fit the limit.
    pub(super) dropped: u64,
    bytes: usize,
    limit: usize,
}

impl Log {
    /// Creates an empty log that keeps lines of up to `limit` bytes together.
    pub(super) fn new(limit: usize) -> Self {
        Self(Arc::new(Mutex::new(Lines {
            limit,
            ..Lines::default()
        })))
    }

    /// Adds a line, or counts it if it exceeds the limit.
    pub(super) fn emit(&self, level: LogLevel, line: String) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = log.bytes.saturating_add(line.len() + LINE_BYTES);
        if bytes > log.limit {
            log.dropped += 1;
        } else {
            log.bytes = bytes;
            log.lines.push((level, line));
        }
    }

    /// Takes what was logged.
    pub(super) fn take(&self) -> Lines {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut log)
    }
}
