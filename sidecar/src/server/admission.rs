//! Who is let in: some run, some wait, and the others are turned away at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use baler_host::Strategy;
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
    /// For each strategy that is not the host's own, half of what can run: so one that loops or
    /// waits leaves the other half to the others. In order of name, and so are they taken.
    lanes: BTreeMap<String, Arc<Semaphore>>,
    limits: ServerLimits,
}

/// A request that was let in. It gives its room back when it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    _permit: OwnedSemaphorePermit,
    running: Arc<Semaphore>,
    lanes: Vec<Arc<Semaphore>>,
}

/// Room to run in.
#[derive(Debug)]
pub(crate) struct Running {
    _permits: (Admitted, Vec<OwnedSemaphorePermit>),
}

/// Memory of a body, given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffered(Option<OwnedSemaphorePermit>);

impl Admission {
    pub(crate) fn new(limits: ServerLimits, strategies: &[Strategy]) -> Self {
        let most = limits.concurrency.max(1);
        let lanes = strategies.iter().filter(|strategy| !strategy.is_native());
        Self {
            admitted: Arc::new(Semaphore::new(most + limits.waiting)),
            running: Arc::new(Semaphore::new(most)),
            memory: Arc::new(Semaphore::new(
                (limits.buffered_bytes / PIECE).min(Semaphore::MAX_PERMITS),
            )),
            lanes: lanes
                .map(|strategy| {
                    let lane = Arc::new(Semaphore::new(most.div_ceil(2)));
                    (strategy.name().to_owned(), lane)
                })
                .collect(),
            limits,
        }
    }

    /// Lets a request in whose body is there, and which strategies of these names may serve; or
    /// turns it away.
    pub(crate) fn admit(&self, strategies: &[String]) -> Result<Admitted, ApiError> {
        let permit = self.admitted.clone().try_acquire_owned();
        Ok(Admitted {
            _permit: permit.map_err(|_| ApiError::overloaded())?,
            running: self.running.clone(),
            lanes: self
                .lanes
                .iter()
                .filter(|(name, _)| strategies.contains(name))
                .map(|(_, lane)| lane.clone())
                .collect(),
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

    /// Whether more than one request runs or waits.
    pub(crate) fn is_shared(&self) -> bool {
        let (running, waiting) = self.load();
        running + waiting > 1
    }
}

impl Admitted {
    /// Waits for its turn.
    pub(crate) async fn turn(self) -> Result<Running, ApiError> {
        let mut permits = Vec::with_capacity(self.lanes.len() + 1);
        for room in self.lanes.iter().chain([&self.running]) {
            let permit = room.clone().acquire_owned().await;
            permits.push(permit.map_err(|_| ApiError::overloaded())?);
        }
        Ok(Running {
            _permits: (self, permits),
        })
    }
}
