//! Who is let in: some run, some wait, and the others are turned away at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use baler_host::Strategy;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ServerLimits;
use super::error::ApiError;
use super::memory::Memory;

/// Room for requests.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Those that run and those that wait.
    admitted: Arc<Semaphore>,
    turns: Turns,
    /// Large bodies whose text is looked through before their requests are let in.
    examined: Arc<Semaphore>,
    /// By its place in the catalog, for each strategy that is not the host's own. In this order
    /// they are taken.
    lanes: BTreeMap<usize, Lane>,
    limits: ServerLimits,
}

/// The part of a strategy: half of what can run, and half of what can wait. So one that loops or
/// waits leaves the other half to the others.
#[derive(Debug)]
struct Lane {
    /// Those that run and those that wait.
    admitted: Arc<Semaphore>,
    turns: Turns,
}

/// Turns of those that run.
#[derive(Debug, Clone)]
struct Turns {
    all: Arc<Semaphore>,
    /// Of these, those of requests that are not small. So a small one waits for none of the large
    /// ones that wait.
    large: Arc<Semaphore>,
}

/// A request that was let in. It gives its room back when it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    _permit: OwnedSemaphorePermit,
    _places: Vec<OwnedSemaphorePermit>,
    turns: Turns,
    lanes: Vec<Turns>,
}

/// Room to run in.
#[derive(Debug)]
pub(crate) struct Running {
    _permits: (Admitted, Vec<OwnedSemaphorePermit>),
}

impl Admission {
    pub(crate) fn new(limits: ServerLimits, strategies: &[Strategy]) -> Self {
        let most = limits.concurrency.max(1);
        let half = most.div_ceil(2);
        let lanes = strategies.iter().enumerate();
        let lanes = lanes.filter(|(_, strategy)| !strategy.is_native());
        Self {
            admitted: Arc::new(Semaphore::new(most + limits.waiting)),
            turns: Turns::new(most),
            examined: Arc::new(Semaphore::new(half)),
            lanes: lanes
                .map(|(place, _)| {
                    let lane = Lane {
                        admitted: Arc::new(Semaphore::new(half + limits.waiting.div_ceil(2))),
                        turns: Turns::new(half),
                    };
                    (place, lane)
                })
                .collect(),
            limits,
        }
    }

    /// Lets a request in whose body is there, and which the strategies at these places of the
    /// catalog may serve; or turns it away.
    pub(crate) fn admit(&self, strategies: &[usize]) -> Result<Admitted, ApiError> {
        let permit = self.admitted.clone().try_acquire_owned();
        let permit = permit.map_err(|_| ApiError::overloaded())?;
        let (mut places, mut lanes) = (Vec::new(), Vec::new());
        for (place, lane) in &self.lanes {
            if strategies.contains(place) {
                let place = lane.admitted.clone().try_acquire_owned();
                places.push(place.map_err(|_| ApiError::too_many_of_one())?);
                lanes.push(lane.turns.clone());
            }
        }
        Ok(Admitted {
            _permit: permit,
            _places: places,
            turns: self.turns.clone(),
            lanes,
        })
    }

    /// Waits until one more large body may be looked through.
    pub(crate) async fn examine(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        acquire(&self.examined).await
    }

    /// Requests that run, and those that wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let most = self.limits.concurrency.max(1);
        let running = most.saturating_sub(self.turns.all.available_permits());
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

impl Turns {
    /// A quarter is for small requests alone, but where there is but one turn.
    fn new(most: usize) -> Self {
        let large = (most - most.div_ceil(4)).max(1);
        Self {
            all: Arc::new(Semaphore::new(most)),
            large: Arc::new(Semaphore::new(large)),
        }
    }
}

impl Admitted {
    /// Waits for its turn, with work that takes `bytes` of memory. All requests wait in the same
    /// order: for their strategies, large ones for a turn among these, for memory to work in, and
    /// for their turn.
    pub(crate) async fn turn(self, memory: &Memory, bytes: usize) -> Result<Running, ApiError> {
        let is_large = !memory.is_small(bytes);
        let mut permits = Vec::with_capacity(2 * self.lanes.len() + 3);
        for lane in &self.lanes {
            if is_large {
                permits.push(acquire(&lane.large).await?);
            }
            permits.push(acquire(&lane.all).await?);
        }
        if is_large {
            permits.push(acquire(&self.turns.large).await?);
        }
        permits.push(memory.work(bytes).await?);
        permits.push(acquire(&self.turns.all).await?);
        Ok(Running {
            _permits: (self, permits),
        })
    }
}

async fn acquire(room: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
    let permit = room.clone().acquire_owned().await;
    permit.map_err(|_| ApiError::overloaded())
}
