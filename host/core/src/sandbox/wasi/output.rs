//! Standard output and standard error, which go to the log of the call.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::report::LogLevel;
use crate::sandbox::log::Log;

/// Most bytes of a log line. A longer one is divided.
const LINE_BYTES: usize = 4 << 10;

/// Bytes that a component may write at once.
const PERMIT: usize = 64 << 10;

/// A standard stream. Clones and all streams made of it write to the same lines.
#[derive(Debug, Clone)]
pub(super) struct Output(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    log: Log,
    level: LogLevel,
    /// The bytes of the last line, which is not finished.
    line: Mutex<Vec<u8>>,
}

impl Output {
    pub(super) fn new(log: &Log, level: LogLevel) -> Self {
        Self(Arc::new(Shared {
            log: log.clone(),
            level,
            line: Mutex::default(),
        }))
    }

    fn append(&self, bytes: &[u8]) {
        let mut line = self.0.line.lock().unwrap_or_else(PoisonError::into_inner);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let mut rest = part;
            while !rest.is_empty() {
                let room = LINE_BYTES - line.len();
                let (taken, left) = rest.split_at(room.min(rest.len()));
                line.extend_from_slice(taken);
                rest = left;
                if line.ends_with(b"\n") || line.len() == LINE_BYTES {
                    self.emit(&mut line);
                }
            }
        }
    }

    /// Logs the last line, if it is not empty.
    pub(super) fn finish(&self) {
        let mut line = self.0.line.lock().unwrap_or_else(PoisonError::into_inner);
        if !line.is_empty() {
            self.emit(&mut line);
        }
    }

    fn emit(&self, line: &mut Vec<u8>) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = String::from_utf8_lossy(text).into_owned();
        self.0.log.emit(self.0.level, text);
        line.clear();
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

/// Takes all that is written, at once.
impl OutputStream for Output {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        // Writing takes time in which nothing can interrupt it.
        if bytes.len() > PERMIT {
            return Err(StreamError::trap("wrote more than it was permitted to"));
        }
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[async_trait::async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.append(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_becomes_lines_of_the_log() {
        let log = Log::new(1 << 16);
        let output = Output::new(&log, LogLevel::Info);
        let other = output.clone();
        output.append(b"high ");
        other.append("water: 潮\n\nlow".as_bytes());
        output.append(b"\xff");
        output.finish();
        output.finish();
        let lines: Vec<String> = log.take().lines.into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["high water: 潮", "", "low\u{fffd}"]);
    }

    #[test]
    fn a_long_line_is_divided() {
        let log = Log::new(1 << 16);
        let output = Output::new(&log, LogLevel::Info);
        for _ in 0..3 {
            output.append(&[b'x'; 3_000]);
        }
        output.append(b"\nend");
        output.finish();
        let lines = log.take().lines;
        let lengths: Vec<usize> = lines.iter().map(|(_, line)| line.len()).collect();
        assert_eq!(lengths, [LINE_BYTES, LINE_BYTES, 9_000 - 2 * LINE_BYTES, 3]);
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let log = Log::new(10_000);
        let output = Output::new(&log, LogLevel::Info);
        for _ in 0..1_000 {
            output.append(&[b'x'; 25 * LINE_BYTES]);
        }
        output.finish();
        let lines = log.take();
        assert_eq!(lines.lines.len(), 2, "two lines of 4 KiB fit");
        assert_eq!(lines.dropped, 24_998);
    }
}
