//! A stream that fails when its other end does not take what is written. HTTP implementations
//! bound the time of a request's head, but wait without end for a client that reads no answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Limits how long a write may wait. Time passes only while the other end takes nothing or too
/// little; flushing ends it.
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    stream: S,
    /// Until some more bytes are taken.
    stall: Duration,
    /// Until all bytes up to a flush are taken.
    whole: Duration,
    /// Called before the error.
    on_timeout: fn(&S),
    waiting: Option<Waiting>,
    /// Whether a write waits, for who decides about the connection.
    is_writing: Arc<AtomicBool>,
}

/// A write that the other end does not take at once.
#[derive(Debug)]
struct Waiting {
    timer: Pin<Box<Sleep>>,
    latest: Instant,
    /// Some bytes were taken since the timer was set.
    has_moved: bool,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, stall: Duration, whole: Duration, on_timeout: fn(&S)) -> Self {
        Self {
            stream,
            stall,
            whole,
            on_timeout,
            waiting: None,
            is_writing: Arc::default(),
        }
    }

    /// Tells in `is_writing` whether the other end has still to take some of what is written.
    pub(crate) fn telling(mut self, is_writing: Arc<AtomicBool>) -> Self {
        self.is_writing = is_writing;
        self
    }

    /// The result of a write, unless that has waited for too long.
    fn within_time(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending if self.is_late(context) => {
                (self.on_timeout)(&self.stream);
                Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client did not take its answer in time",
                )))
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(written) => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.has_moved = true;
                }
                Poll::Ready(written)
            }
        }
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        self.is_writing.store(true, Ordering::Relaxed);
        let stall = self.stall;
        let waiting = self.waiting.get_or_insert_with(|| {
            let latest = after(self.whole);
            Waiting {
                timer: Box::pin(tokio::time::sleep_until(after(stall).min(latest))),
                latest,
                has_moved: false,
            }
        });
        if std::mem::take(&mut waiting.has_moved) {
            let next = after(stall).min(waiting.latest);
            waiting.timer.as_mut().reset(next);
        }
        waiting.timer.as_mut().poll(context).is_ready()
    }
}

/// The moment after `time`, also where that is "never".
fn after(time: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
    let now = Instant::now();
    now.checked_add(time).unwrap_or_else(|| now + FAR)
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.within_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.waiting = None;
            self.is_writing.store(false, Ordering::Relaxed);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, bytes)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    const STALL: Duration = Duration::from_secs(10);
    const WHOLE: Duration = Duration::from_secs(60);

    /// A stream whose other end has to take almost every byte before the next is written.
    fn pair() -> (WriteTimeout<DuplexStream>, DuplexStream) {
        let (near, far) = tokio::io::duplex(1);
        (WriteTimeout::new(near, STALL, WHOLE, |_| {}), far)
    }

    /// Takes a byte after each pause, as long as there are any.
    async fn trickle(mut far: DuplexStream, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            if !matches!(far.read(&mut [0]).await, Ok(1)) {
                return;
            }
        }
    }

    /// Writes and flushes `times`, and tells after which time that failed.
    async fn fails_after(
        mut near: WriteTimeout<DuplexStream>,
        bytes: usize,
        times: u32,
    ) -> Option<Duration> {
        let start = Instant::now();
        for _ in 0..times {
            let written = near.write_all(&vec![b'x'; bytes]).await;
            if let Err(error) = written {
                assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                return Some(start.elapsed());
            }
            near.flush().await.expect("flushes");
        }
        None
    }

    /// Timers are a millisecond late at most.
    fn assert_about(found: Option<Duration>, expected: Duration) {
        let found = found.expect("it failed");
        assert!(
            found >= expected && found < expected + Duration::from_millis(100),
            "{found:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_takes_fails() {
        let (near, _far) = pair();
        assert_about(fails_after(near, 100, 1).await, STALL);
    }

    #[tokio::test]
    async fn it_tells_while_a_write_waits() {
        let (near, mut far) = pair();
        let is_writing = Arc::new(AtomicBool::new(false));
        let mut near = near.telling(is_writing.clone());
        let writes = tokio::spawn(async move {
            near.write_all(b"four").await.expect("writes");
            near.flush().await.expect("flushes");
        });
        while !is_writing.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
        far.read_exact(&mut [0; 4]).await.expect("reads");
        writes.await.expect("no panic");
        assert!(!is_writing.load(Ordering::Relaxed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_is_taken_slowly_is_finished() {
        let (near, far) = pair();
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_eq!(fails_after(near, 6, 1).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_is_taken_too_slowly_as_a_whole_fails() {
        let (near, far) = pair();
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_about(fails_after(near, 100, 1).await, WHOLE);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_write_begins_anew_after_a_flush() {
        let (near, far) = pair();
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_eq!(fails_after(near, 6, 10).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_without_end_does_not_overflow() {
        let (near, far) = tokio::io::duplex(1);
        let near = WriteTimeout::new(near, Duration::MAX, Duration::MAX, |_| {});
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_eq!(fails_after(near, 100, 1).await, None);
    }
}
