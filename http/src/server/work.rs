//! Work that takes the processor: reading, counting, strategies. It never runs on the threads
//! that talk to clients.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use baler_host::Deadline;
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::App;
use super::admission::Gates;
use super::error::ApiError;
use super::give_way::give_way;
use super::memory::{self, Reservation};

/// Runs `work` on a thread of its own, when it is its turn and within the time of a request, and
/// returns its answer. `reserved` is the memory that it works on, `needs` what it takes beside,
/// and `strategies` are the places in the catalog of those of its chain. `work` gets their gates.
///
/// Where nobody waits for it any more, it stops at its next pause. Its turn and its memory are
/// released when it has really ended; the memory of an answer when the client has taken it.
pub(crate) async fn run<W, F>(
    app: &Arc<App>,
    mut reserved: Reservation,
    needs: usize,
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
    let turn = admitted.turn(&app.memory, needs);
    let (running, gates) = tokio::time::timeout_at(deadline.into(), turn)
        .await
        .map_err(|_| out_of_time())??;
    let (is_waiting, nobody_waits) = oneshot::channel::<()>();
    // Work on the host's own has no pauses, and looks at this.
    let host_deadline = Deadline::at(deadline);
    let stop_if_dropped = StopOnDrop(host_deadline.clone());
    let own = app.clone();
    let runtime = Handle::current();
    let done = tokio::task::spawn_blocking(move || -> Result<Bytes, ApiError> {
        let _running = running;
        let answer = runtime.block_on(async {
            tokio::select! {
                biased;
                _ = nobody_waits => Err(ApiError::timeout(time)),
                done = give_way(work(own.clone(), host_deadline, gates), || own.admission.is_shared()) => done,
            }
        })?;
        // The body is gone by now, and the answer takes its place.
        own.memory.resize(&mut reserved, answer.capacity())?;
        Ok(memory::answer(answer, reserved))
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
                "its work ended early, by a panic or at the server's end",
            ))
        }
    }
}

/// Ends the host's own work where nobody waits for it any more.
struct StopOnDrop(Deadline);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
