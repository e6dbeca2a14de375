//! The store of one call: its limits, and what the call used.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};

use super::log::Log;
#[cfg(feature = "wasi")]
use super::wasi::Wasi;
use crate::error::HostError;
use crate::fault::{Fault, Quantity};
use crate::limits::Limits;
use crate::model::ModelGrant;
use crate::situation::Situation;

/// A fault of the component, wrapped to pass through wasmtime's errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(pub(super) Fault);

/// The state of one call.
pub(crate) struct Context {
    /// Conversation and request. `None` for `introspect`, and while the component is instantiated: what it
    /// does then must not depend on the conversation (see `Quarantine`).
    pub(super) situation: Option<Arc<Situation>>,
    pub(super) meter: Meter,
    pub(super) log: Log,
    /// WASI with nothing behind it; `None` as long as the component has not used it.
    #[cfg(feature = "wasi")]
    pub(super) wasi: Option<Wasi>,
    /// Granted model; `None` without a grant.
    pub(super) grant: Option<ModelGrant>,
    limits: Limits,
    pub(super) deadline: Instant,
}

/// What a call has used so far.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Bytes of all memories together.
    pub(crate) memory: usize,
    table_elements: usize,
    pub(crate) host_calls: u64,
}

impl Context {
    /// Counts a call of a host function. Fails if the component has made too many of them or if its time is
    /// over: a component that calls the host in a loop may not reach an epoch interruption.
    pub(super) fn host_call(&mut self) -> wasmtime::Result<()> {
        self.meter.host_calls += 1;
        self.check()
    }

    /// Fails if the component has made too many calls of host functions or if its time is over.
    fn check(&self) -> wasmtime::Result<()> {
        let fault = match self.too_many_calls() {
            Some(fault) => fault,
            None if Instant::now() >= self.deadline => Fault::timeout(self.limits.time),
            None => return Ok(()),
        };
        Err(wasmtime::Error::new(Broken(fault)))
    }

    /// Returns the fault of a component that has made too many calls of host functions.
    pub(super) fn too_many_calls(&self) -> Option<Fault> {
        (self.meter.host_calls > self.limits.host_calls).then_some(Fault::OutputTooLarge {
            what: Quantity::HostCalls,
            limit: self.limits.host_calls,
        })
    }

    /// Counts a call of WASI and returns what is behind it: nothing. It cannot fail here, so a component that has
    /// made too many calls ends at its next interruption, or with the call.
    #[cfg(feature = "wasi")]
    pub(super) fn wasi(&mut self) -> &mut Wasi {
        self.meter.host_calls += 1;
        let (log, handles) = (&self.log, self.limits.handles);
        self.wasi.get_or_insert_with(|| Wasi::new(log, handles))
    }
}

/// Limits all memories together and all tables together; wasmtime's own limiter counts each of them
/// separately. A refusal is an error and not `false`, which a component could ignore.
impl ResourceLimiter for Context {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self
            .meter
            .memory
            .saturating_add(desired.saturating_sub(current));
        if wanted > self.limits.memory {
            return Err(wasmtime::Error::new(Broken(Fault::Memory {
                limit: self.limits.memory as u64,
                wanted: wanted as u64,
            })));
        }
        self.meter.memory = wanted;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self
            .meter
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        if wanted > self.limits.table_elements {
            return Err(wasmtime::Error::new(Broken(Fault::Table {
                limit: self.limits.table_elements as u64,
                wanted: wanted as u64,
            })));
        }
        self.meter.table_elements = wanted;
        Ok(true)
    }

    // The numbers of instances, tables and memories are checked when a component is loaded. These limits are
    // a second check, above what a loaded component can have.
    fn instances(&self) -> usize {
        256
    }

    fn tables(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        16
    }
}

/// Creates a store with every limit set.
pub(super) fn fresh(
    engine: &Engine,
    limits: Limits,
    grant: Option<&ModelGrant>,
    deadline: Instant,
) -> Result<Store<Context>, HostError> {
    let context = Context {
        situation: None,
        meter: Meter::default(),
        log: Log::new(limits.log_bytes),
        #[cfg(feature = "wasi")]
        wasi: None,
        grant: grant.cloned(),
        limits,
        deadline,
    };
    let mut store = Store::new(engine, context);
    store.limiter(|context| context);
    store.set_hostcall_fuel(limits.lifted_bytes);
    store.set_max_component_handles(limits.handles);
    store
        .set_fuel(limits.fuel)
        .map_err(|error| HostError::Sandbox {
            action: "cannot set the fuel",
            source: error.into(),
        })?;
    // At every tick the component yields to the executor, so that the timeout around the call can end it. If
    // the executor is too busy for that, the component ends here.
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|context| {
        context.data().check()?;
        Ok(UpdateDeadline::YieldCustom(
            1,
            Box::pin(tokio::task::yield_now()),
        ))
    });
    Ok(store)
}
