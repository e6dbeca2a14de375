//! Who is let in: some run, some wait, and the others are turned away at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ServerLimits;
use super::error::ApiError;

/// What a piece of memory is counted in, since permits are 32-bit numbers.
const PIECE: usize = 1 << 10;

/// Room for requests.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Those that run and those that wait.
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    limits: ServerLimits,
}

/// A request that was let in. It gives its room back when it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    _permit: OwnedSemaphorePermit,
    running: Arc<Semaphore>,
}

/// Room to run in.
#[derive(Debug)]
pub(crate) struct Running {
    _permits: (Admitted, OwnedSemaphorePermit),
}

/// Memory of a body, given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffered(Option<OwnedSemaphorePermit>);

impl Admission {
    pub(crate) fn new(limits: ServerLimits) -> Self {
        let most = limits.concurrency.max(1);
        Self {
            admitted: Arc::new(Semaphore::new(most + limits.waiting)),
            running: Arc::new(Semaphore::new(most)),
            memory: Arc::new(Semaphore::new(
                (limits.buffered_bytes / PIECE).min(Semaphore::MAX_PERMITS),
            )),
            limits,
        }
    }

    /// Lets a request in whose body is there, or turns it away.
    pub(crate) fn admit(&self) -> Result<Admitted, ApiError> {
        let permit = self.admitted.clone().try_acquire_owned();
        Ok(Admitted {
            _permit: permit.map_err(|_| ApiError::overloaded())?,
            running: self.running.clone(),
        })
    }

    /// Memory for a body that has grown to `bytes`.
    pub(crate) fn buffer(&self, bytes: usize, own: &mut Buffered) -> Result<(), ApiError> {
        let held = own.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.div_ceil(PIECE).saturating_sub(held);
        if more == 0 {
            return Ok(());
        }
        let more = u32::try_from(more).map_err(|_| ApiError::overloaded())?;
        let more = self.memory.clone().try_acquire_many_owned(more);
        let more = more.map_err(|_| ApiError::overloaded())?;
        match &mut own.0 {
            Some(own) => own.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }

    /// Requests that run, and those that wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let most = self.limits.concurrency.max(1);
        let running = most.saturating_sub(self.running.available_permits());
        let admitted =
            (most + self.limits.waiting).saturating_sub(self.admitted.available_permits());
        (running, admitted.saturating_sub(running))
    }
}

impl Admitted {
    /// Waits for its turn.
    pub(crate) async fn turn(self) -> Result<Running, ApiError> {
        let running = self.running.clone().acquire_owned().await;
        let permit = running.map_err(|_| ApiError::overloaded())?;
        Ok(Running {
            _permits: (self, permit),
        })
    }
}
