//! A stream that fails if its peer does not receive what is written. HTTP implementations limit the time
//! of a request's head, but wait forever for a client that does not read its response.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Limits how long a write may wait. The time counts from the first write that has to wait until a flush
/// completes.
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    stream: S,
    /// Time until the peer has to receive some more bytes.
    stall: Duration,
    /// Time until the peer has to receive all bytes up to a flush.
    whole: Duration,
    /// Called before the error is returned.
    on_timeout: fn(&S),
    waiting: Option<Waiting>,
    /// Whether a write waits. Shared with the owner of the connection.
    is_writing: Arc<AtomicBool>,
}

/// A write that the peer does not receive at once.
#[derive(Debug)]
struct Waiting {
    timer: Pin<Box<Sleep>>,
    /// When the whole write fails.
    latest: Instant,
    /// Some bytes were received since the timer was set.
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

    /// Sets `is_writing` while the peer has not received everything that was written.
    pub(crate) fn reporting_to(mut self, is_writing: Arc<AtomicBool>) -> Self {
        self.is_writing = is_writing;
        self
    }

    /// Returns the result of a write, or an error if it has waited for too long.
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
                    "the client did not receive its response in time",
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
            let latest = deadline_after(self.whole);
            Waiting {
                timer: Box::pin(tokio::time::sleep_until(deadline_after(stall).min(latest))),
                latest,
                has_moved: false,
            }
        });
        if std::mem::take(&mut waiting.has_moved) {
            let next = deadline_after(stall).min(waiting.latest);
            waiting.timer.as_mut().reset(next);
        }
        waiting.timer.as_mut().poll(context).is_ready()
    }
}

/// Returns the instant `time` from now, or a year from now if that cannot be represented.
fn deadline_after(time: Duration) -> Instant {
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

    /// A stream whose peer has to receive almost every byte before the next is written.
    fn pair() -> (WriteTimeout<DuplexStream>, DuplexStream) {
        let (near, far) = tokio::io::duplex(1);
        (WriteTimeout::new(near, STALL, WHOLE, |_| {}), far)
    }

    /// Receives one byte after each pause, to the end of the stream.
    async fn trickle(mut far: DuplexStream, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            if !matches!(far.read(&mut [0]).await, Ok(1)) {
                return;
            }
        }
    }

    /// Writes and flushes `times` times. Returns the time after which that failed; `None` if it did not.
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

    /// Timers are at most a millisecond late.
    fn assert_about(found: Option<Duration>, expected: Duration) {
        let found = found.expect("the write failed");
        assert!(
            found >= expected && found < expected + Duration::from_millis(100),
            "{found:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn write_that_is_not_received_fails() {
        let (near, _far) = pair();
        assert_about(fails_after(near, 100, 1).await, STALL);
    }

    #[tokio::test]
    async fn flag_is_set_while_a_write_waits() {
        let (near, mut far) = pair();
        let is_writing = Arc::new(AtomicBool::new(false));
        let mut near = near.reporting_to(is_writing.clone());
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
    async fn write_that_is_received_slowly_succeeds() {
        let (near, far) = pair();
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_eq!(fails_after(near, 6, 1).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn write_that_takes_too_long_as_a_whole_fails() {
        let (near, far) = pair();
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_about(fails_after(near, 100, 1).await, WHOLE);
    }

    #[tokio::test(start_paused = true)]
    async fn time_limit_restarts_after_a_flush() {
        let (near, far) = pair();
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_eq!(fails_after(near, 6, 10).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn unlimited_time_does_not_overflow() {
        let (near, far) = tokio::io::duplex(1);
        let near = WriteTimeout::new(near, Duration::MAX, Duration::MAX, |_| {});
        tokio::spawn(trickle(far, Duration::from_secs(9)));
        assert_eq!(fails_after(near, 100, 1).await, None);
    }
}
