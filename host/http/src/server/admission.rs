//! Admission of requests: a limited number run, a limited number wait, and all others are refused at
//! once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use baler_host::{
    Strategy,
    strategy::{Gate, Permit},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::ApiError;
use super::memory::Memory;
use crate::limits::ServerLimits;

/// The limits on running and waiting requests.
#[derive(Debug)]
pub(crate) struct Admission {
    /// One permit for each request that runs or waits.
    admitted: Arc<Semaphore>,
    slots: Slots,
    /// One permit for each large body that is scanned before its request is admitted.
    scans: Arc<Semaphore>,
    /// The lane of each strategy that may ask a model or is not native, by its index in the catalog.
    lanes: BTreeMap<usize, Lane>,
    /// The lane shared by all strategies that may ask a model.
    model_lane: Lane,
    limits: ServerLimits,
}

/// The share of one strategy: half of the requests that can run, and half of those that can wait. So a
/// strategy that loops or waits leaves the other half to the others. Strategies that may ask a model
/// share one lane, since a slow model delays all of them. All lanes together have three quarters of
/// the slots, so that work with native strategies always finds one.
///
/// A request waits for the first strategy of its chain only. If it waited for later ones too, it would
/// hold the slot of one strategy while it waits for another that it seldom needs. A later strategy is
/// called if a slot is free at that moment, and skipped otherwise. A slot is released when the call of
/// the strategy ends.
#[derive(Debug, Clone)]
struct Lane {
    /// One permit for each request that runs or waits.
    admitted: Arc<Semaphore>,
    slots: LaneSlots,
}

/// The slots of one lane, and those shared by all lanes. A call takes one of each.
#[derive(Debug, Clone)]
struct LaneSlots {
    own: Slots,
    shared: Slots,
}

/// Slots for running requests.
#[derive(Debug, Clone)]
struct Slots {
    all: Arc<Semaphore>,
    /// The part of `all` that large requests may use. So a small request never waits behind a waiting
    /// large one.
    large: Arc<Semaphore>,
}

/// An admitted request. Dropping it releases its permits.
#[derive(Debug)]
pub(crate) struct Admitted {
    permit: OwnedSemaphorePermit,
    slots: Slots,
    /// For each strategy of the chain, the slots of its lane; `None` for a strategy without a lane.
    lanes: Vec<Option<LaneSlots>>,
    /// The permit of the first strategy's lane.
    lane_permit: Option<OwnedSemaphorePermit>,
}

/// The slot of a running request, with the memory of its work.
#[derive(Debug)]
pub(crate) struct RunningSlot {
    _permits: (OwnedSemaphorePermit, Vec<OwnedSemaphorePermit>),
}

/// The gates of the strategies of a request's chain.
#[derive(Debug)]
pub(crate) struct Gates(Vec<Option<Arc<LaneGate>>>);

/// Lets one request call one strategy.
#[derive(Debug)]
struct LaneGate {
    slots: LaneSlots,
    is_large: bool,
    /// Permits that the request has waited for, held until the strategy is called.
    held: Mutex<Option<Vec<OwnedSemaphorePermit>>>,
}

impl Admission {
    pub(crate) fn new(limits: ServerLimits, strategies: &[Strategy]) -> Self {
        let most = limits.concurrency.max(1);
        let half = most.div_ceil(2);
        let shared = Slots::new(three_quarters(most));
        let lane = || Lane {
            admitted: Arc::new(Semaphore::new(half + limits.waiting.div_ceil(2))),
            slots: LaneSlots {
                own: Slots::new(half),
                shared: shared.clone(),
            },
        };
        let model_lane = lane();
        let lane_of = |strategy: &Strategy| {
            if strategy.may_ask_model() {
                Some(model_lane.clone())
            } else if strategy.is_native() {
                None
            } else {
                Some(lane())
            }
        };
        let lanes = strategies.iter().enumerate();
        let lanes = lanes
            .filter_map(|(index, strategy)| Some((index, lane_of(strategy)?)))
            .collect();
        Self {
            admitted: Arc::new(Semaphore::new(most + limits.waiting)),
            slots: Slots::new(most),
            scans: Arc::new(Semaphore::new(half)),
            lanes,
            model_lane,
            limits,
        }
    }

    /// Returns the gate of the `native:summarize` that the host itself adds to the end of a chain. No
    /// request waits for it. It serves requests of all sizes, so each call counts as large.
    pub(crate) fn model_gate(&self) -> Arc<dyn Gate> {
        Arc::new(LaneGate {
            slots: self.model_lane.slots.clone(),
            is_large: true,
            held: Mutex::new(None),
        })
    }

    /// Admits a request whose body has arrived. `strategies` holds the catalog indices of its chain.
    ///
    /// # Errors
    /// The limit of running and waiting requests is reached, in all or for the first strategy.
    pub(crate) fn admit(&self, strategies: &[usize]) -> Result<Admitted, ApiError> {
        let permit = self.admitted.clone().try_acquire_owned();
        let permit = permit.map_err(|_| ApiError::overloaded())?;
        let lane = |index: &usize| self.lanes.get(index);
        let lane_permit = match strategies.first().and_then(lane) {
            None => None,
            Some(lane) => {
                let permit = lane.admitted.clone().try_acquire_owned();
                Some(permit.map_err(|_| ApiError::strategy_overloaded())?)
            }
        };
        let slots_of = |index| lane(index).map(|lane| lane.slots.clone());
        Ok(Admitted {
            permit,
            slots: self.slots.clone(),
            lanes: strategies.iter().map(slots_of).collect(),
            lane_permit,
        })
    }

    /// Waits until one more large body may be scanned.
    pub(crate) async fn wait_for_scan(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        acquire(&self.scans).await
    }

    /// Returns the numbers of running and of waiting requests.
    pub(crate) fn load(&self) -> (usize, usize) {
        let most = self.limits.concurrency.max(1);
        let running = most.saturating_sub(self.slots.all.available_permits());
        let admitted =
            (most + self.limits.waiting).saturating_sub(self.admitted.available_permits());
        (running, admitted.saturating_sub(running))
    }

    /// Whether more than one request runs or waits.
    pub(crate) fn is_busy(&self) -> bool {
        let (running, waiting) = self.load();
        running + waiting > 1
    }
}

/// Three quarters of `most`, rounded down, but at least one.
fn three_quarters(most: usize) -> usize {
    (most - most.div_ceil(4)).max(1)
}

impl LaneSlots {
    /// Waits for a slot.
    async fn take(&self, is_large: bool) -> Result<Vec<OwnedSemaphorePermit>, ApiError> {
        let mut permits = self.own.take(is_large).await?;
        permits.extend(self.shared.take(is_large).await?);
        Ok(permits)
    }

    /// Takes a slot if one is free; `None` otherwise.
    fn try_take(&self, is_large: bool) -> Option<Vec<OwnedSemaphorePermit>> {
        let mut permits = self.own.try_take(is_large)?;
        permits.extend(self.shared.try_take(is_large)?);
        Some(permits)
    }
}

impl Slots {
    /// Makes `most` slots. A quarter of them is reserved for small requests, unless there is only one.
    fn new(most: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            large: Arc::new(Semaphore::new(three_quarters(most))),
        }
    }

    /// Waits for a slot.
    async fn take(&self, is_large: bool) -> Result<Vec<OwnedSemaphorePermit>, ApiError> {
        let mut permits = Vec::with_capacity(2);
        if is_large {
            permits.push(acquire(&self.large).await?);
        }
        permits.push(acquire(&self.all).await?);
        Ok(permits)
    }

    /// Takes a slot if one is free; `None` otherwise.
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
    /// Waits for a slot and for `bytes` of memory for the work. To avoid deadlocks, all requests wait in
    /// the same order: for a slot in the lane of their first strategy, for one of the slots shared by
    /// all lanes, large ones for a slot of the large requests, for memory, and for a slot.
    pub(crate) async fn wait_for_slot(
        self,
        memory: &Memory,
        bytes: usize,
    ) -> Result<(RunningSlot, Gates), ApiError> {
        let is_large = !memory.is_small(bytes);
        let mut held = None;
        if let Some(Some(first)) = self.lanes.first() {
            let mut permits = first.take(is_large).await?;
            permits.extend(self.lane_permit);
            held = Some(permits);
        }
        let mut permits = Vec::with_capacity(3);
        if is_large {
            permits.push(acquire(&self.slots.large).await?);
        }
        permits.push(memory.reserve_work(bytes).await?);
        permits.push(acquire(&self.slots.all).await?);
        let mut gate = |slots| {
            Arc::new(LaneGate {
                slots,
                is_large,
                // The first gate gets them: it belongs to the first strategy.
                held: Mutex::new(held.take()),
            })
        };
        let gates = self.lanes.into_iter();
        let gates = Gates(gates.map(|slots| slots.map(&mut gate)).collect());
        let running = RunningSlot {
            _permits: (self.permit, permits),
        };
        Ok((running, gates))
    }
}

impl Gates {
    /// Attaches the gates to the strategies of the chain.
    pub(crate) fn attach(&self, chain: Vec<Strategy>) -> Vec<Strategy> {
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
    fn enter(&self) -> Option<Permit> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let permits = match held.take() {
            Some(permits) => permits,
            None => self.slots.try_take(self.is_large)?,
        };
        Some(Box::new(permits))
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
    let permit = semaphore.clone().acquire_owned().await;
    permit.map_err(|_| ApiError::overloaded())
}
