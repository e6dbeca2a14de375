//! A limit of time for what is waited for.

use std::future::Future;
use std::time::Duration;

/// What was waited for took longer than its limit.
pub(crate) struct Elapsed;

/// Waits for `work`, for this time at most.
#[cfg(not(target_family = "wasm"))]
pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let done = tokio::time::timeout(limit, work).await;
    done.map_err(|_| Elapsed)
}

/// In WebAssembly no timer wakes the task: the program around the module polls again once the time is over.
#[cfg(target_family = "wasm")]
pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    use std::task::Poll;
    let start = std::time::Instant::now();
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Ok(done)),
        Poll::Pending if start.elapsed() >= limit => Poll::Ready(Err(Elapsed)),
        Poll::Pending => Poll::Pending,
    })
    .await
}
