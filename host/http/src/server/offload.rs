//! Runs the work that uses the processor (reading, counting, strategies) on blocking threads, never on
//! the threads that serve clients.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use baler_host::conversation::Deadline;
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::App;
use super::admission::Gates;
use super::error::ApiError;
use super::memory::{self, Reservation};
use super::throttle::throttled;

/// Waits for a slot, runs `work` on a blocking thread within the time limit of a request, and returns
/// its answer. `reserved` is the memory of the request's body, `work_bytes` the estimated memory of
/// the work in addition to it, and `strategies` holds the catalog indices of the chain. `work` gets
/// the gates of these strategies.
///
/// If the caller drops the future, the work stops at its next await point. Its slot and its memory are
/// released when it has ended, and the memory of an answer when the client has received it.
///
/// # Errors
/// The server is overloaded, the time is over, or the work fails or panics.
pub(crate) async fn run<W, F>(
    app: &Arc<App>,
    mut reserved: Reservation,
    work_bytes: usize,
    strategies: &[usize],
    work: W,
) -> Result<Bytes, ApiError>
where
    W: FnOnce(Arc<App>, Deadline, Gates) -> F + Send + 'static,
    F: Future<Output = Result<String, ApiError>>,
{
    let time = app.limits.request_time;
    let deadline = Instant::now() + time;
    let admitted = app.admission.admit(strategies)?;
    let out_of_time = || ApiError::timeout(time);
    let slot = admitted.wait_for_slot(&app.memory, work_bytes);
    let (running, gates) = tokio::time::timeout_at(deadline.into(), slot)
        .await
        .map_err(|_| out_of_time())??;
    // Dropping the sender tells the work that nobody waits for it.
    let (is_waiting, nobody_waits) = oneshot::channel::<()>();
    // The host's own work has no await points and checks this deadline instead.
    let host_deadline = Deadline::at(deadline);
    let stop_if_dropped = StopOnDrop(host_deadline.clone());
    let app = app.clone();
    let runtime = Handle::current();
    let done = tokio::task::spawn_blocking(move || -> Result<Bytes, ApiError> {
        let _running = running;
        let answer = runtime.block_on(async {
            tokio::select! {
                biased;
                _ = nobody_waits => Err(ApiError::timeout(time)),
                done = throttled(work(app.clone(), host_deadline, gates), || app.admission.is_busy()) => done,
            }
        })?;
        // The body has been dropped by now; its reservation becomes that of the answer.
        app.memory.resize(&mut reserved, answer.capacity())?;
        Ok(memory::response_bytes(answer, reserved))
    });
    let done = tokio::time::timeout_at(deadline.into(), done).await;
    drop(is_waiting);
    drop(stop_if_dropped);
    match done {
        Err(_) => Err(out_of_time()),
        Ok(Ok(done)) => done,
        Ok(Err(error)) => {
            tracing::error!(is_panic = error.is_panic(), "a request's work ended early");
            Err(ApiError::internal(
                "the work of a request ended early, by a panic or by the server's shutdown",
            ))
        }
    }
}

/// Stops the host's own work when nobody waits for it any more.
struct StopOnDrop(Deadline);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
