//! Who is let in: some run, some wait, and the others are turned away at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use baler_host::{Entered, Gate, Strategy};
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
    /// By its place in the catalog, for each strategy that may ask a model or is not the host's own.
    lanes: BTreeMap<usize, Lane>,
    /// The lane of all strategies that may ask a model.
    asking: Lane,
    limits: ServerLimits,
}

/// The part of a strategy: half of what can run, and half of what can wait. So one that loops or
/// waits leaves the other half to the others. Strategies that may ask a model share one lane, since
/// they all wait where that model is slow. And all lanes together have three quarters of what can
/// run, so that work without them always finds a turn.
///
/// A request waits for the first strategy of its chain, and for no other: it would keep the turn of
/// one while it waits for another, which it seldom comes to. A later one it asks where a turn is
/// free by then, and else goes on without it. Each turn ends with the strategy's call.
#[derive(Debug, Clone)]
struct Lane {
    /// Those that run and those that wait.
    admitted: Arc<Semaphore>,
    turns: LaneTurns,
}

/// Turns of a lane, and those of all lanes: a call takes one of each.
#[derive(Debug, Clone)]
struct LaneTurns {
    own: Turns,
    of_all: Turns,
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
    permit: OwnedSemaphorePermit,
    turns: Turns,
    /// Of each strategy of its chain that has a lane.
    lanes: Vec<Option<LaneTurns>>,
    /// With the first of these.
    place: Option<OwnedSemaphorePermit>,
}

/// Room to run in.
#[derive(Debug)]
pub(crate) struct Running {
    _permits: (OwnedSemaphorePermit, Vec<OwnedSemaphorePermit>),
}

/// The turns of a request with the strategies of its chain.
#[derive(Debug)]
pub(crate) struct Gates(Vec<Option<Arc<LaneGate>>>);

/// The turn of a request with one strategy.
#[derive(Debug)]
struct LaneGate {
    turns: LaneTurns,
    is_large: bool,
    /// What it has waited for, until the strategy is asked.
    waited_for: Mutex<Option<Vec<OwnedSemaphorePermit>>>,
}

impl Admission {
    pub(crate) fn new(limits: ServerLimits, strategies: &[Strategy]) -> Self {
        let most = limits.concurrency.max(1);
        let half = most.div_ceil(2);
        let of_all = Turns::new(three_quarters(most));
        let lane = || Lane {
            admitted: Arc::new(Semaphore::new(half + limits.waiting.div_ceil(2))),
            turns: LaneTurns {
                own: Turns::new(half),
                of_all: of_all.clone(),
            },
        };
        let asking = lane();
        let lane_of = |strategy: &Strategy| {
            if strategy.may_ask_model() {
                Some(asking.clone())
            } else if strategy.is_native() {
                None
            } else {
                Some(lane())
            }
        };
        let lanes = strategies.iter().enumerate();
        let lanes = lanes
            .filter_map(|(place, strategy)| Some((place, lane_of(strategy)?)))
            .collect();
        Self {
            admitted: Arc::new(Semaphore::new(most + limits.waiting)),
            turns: Turns::new(most),
            examined: Arc::new(Semaphore::new(half)),
            lanes,
            asking,
            limits,
        }
    }

    /// The gate of `native:summarize` where the host itself puts it behind a chain. Nobody has waited
    /// for it then. It is one for requests of all sizes, so it counts as large.
    pub(crate) fn gate_to_model(&self) -> Arc<dyn Gate> {
        Arc::new(LaneGate {
            turns: self.asking.turns.clone(),
            is_large: true,
            waited_for: Mutex::new(None),
        })
    }

    /// Lets a request in whose body is there, and whose chain are the strategies at these places of
    /// the catalog; or turns it away.
    pub(crate) fn admit(&self, strategies: &[usize]) -> Result<Admitted, ApiError> {
        let permit = self.admitted.clone().try_acquire_owned();
        let permit = permit.map_err(|_| ApiError::overloaded())?;
        let lane = |place: &usize| self.lanes.get(place);
        let place = match strategies.first().and_then(lane) {
            None => None,
            Some(lane) => {
                let place = lane.admitted.clone().try_acquire_owned();
                Some(place.map_err(|_| ApiError::too_many_of_one())?)
            }
        };
        let turns_of = |place| lane(place).map(|lane| lane.turns.clone());
        Ok(Admitted {
            permit,
            turns: self.turns.clone(),
            lanes: strategies.iter().map(turns_of).collect(),
            place,
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

/// Of so many turns, rounded down; but one at least.
fn three_quarters(most: usize) -> usize {
    (most - most.div_ceil(4)).max(1)
}

impl LaneTurns {
    /// Waits for one of them.
    async fn take(&self, is_large: bool) -> Result<Vec<OwnedSemaphorePermit>, ApiError> {
        let mut permits = self.own.take(is_large).await?;
        permits.extend(self.of_all.take(is_large).await?);
        Ok(permits)
    }

    /// One that is free now.
    fn try_take(&self, is_large: bool) -> Option<Vec<OwnedSemaphorePermit>> {
        let mut permits = self.own.try_take(is_large)?;
        permits.extend(self.of_all.try_take(is_large)?);
        Some(permits)
    }
}

impl Turns {
    /// A quarter is for small requests alone, but where there is but one turn.
    fn new(most: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            large: Arc::new(Semaphore::new(three_quarters(most))),
        }
    }

    /// Waits for one of them.
    async fn take(&self, is_large: bool) -> Result<Vec<OwnedSemaphorePermit>, ApiError> {
        let mut permits = Vec::with_capacity(2);
        if is_large {
            permits.push(acquire(&self.large).await?);
        }
        permits.push(acquire(&self.all).await?);
        Ok(permits)
    }

    /// One that is free now.
    fn try_take(&self, is_large: bool) -> Option<Vec<OwnedSemaphorePermit>> {
        let mut permits = Vec::with_capacity(2);
        if is_large {
            permits.push(self.large.clone().try_acquire_owned().ok()?);
        }
        permits.push(self.all.clone().try_acquire_owned().ok()?);
        Some(permits)
    }
}

impl Admitted {
    /// Waits for its turn, with work that takes `bytes` of memory. All requests wait in the same
    /// order: for the first strategy of their chain, for a turn of all lanes, large ones for a turn
    /// among these, for memory to work in, and for their turn.
    pub(crate) async fn turn(
        self,
        memory: &Memory,
        bytes: usize,
    ) -> Result<(Running, Gates), ApiError> {
        let is_large = !memory.is_small(bytes);
        let mut waited_for = None;
        if let Some(Some(first)) = self.lanes.first() {
            let mut permits = first.take(is_large).await?;
            permits.extend(self.place);
            waited_for = Some(permits);
        }
        let mut permits = Vec::with_capacity(3);
        if is_large {
            permits.push(acquire(&self.turns.large).await?);
        }
        permits.push(memory.work(bytes).await?);
        permits.push(acquire(&self.turns.all).await?);
        let mut gate = |turns| {
            Arc::new(LaneGate {
                turns,
                is_large,
                // Of the first one, which comes first.
                waited_for: Mutex::new(waited_for.take()),
            })
        };
        let gates = self.lanes.into_iter();
        let gates = Gates(gates.map(|turns| turns.map(&mut gate)).collect());
        let running = Running {
            _permits: (self.permit, permits),
        };
        Ok((running, gates))
    }
}

impl Gates {
    /// The strategies of the chain, each of which is asked when it is its turn.
    pub(crate) fn before(&self, chain: Vec<Strategy>) -> Vec<Strategy> {
        let gates = self.0.iter().cloned().chain(std::iter::repeat(None));
        chain
            .into_iter()
            .zip(gates)
            .map(|(strategy, gate)| match gate {
                Some(gate) => strategy.with_gate(gate),
                None => strategy,
            })
            .collect()
    }
}

impl Gate for LaneGate {
    fn enter(&self) -> Option<Entered> {
        let mut waited_for = self
            .waited_for
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let permits = match waited_for.take() {
            Some(permits) => permits,
            None => self.turns.try_take(self.is_large)?,
        };
        Some(Box::new(permits))
    }
}

async fn acquire(room: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
    let permit = room.clone().acquire_owned().await;
    permit.map_err(|_| ApiError::overloaded())
}
