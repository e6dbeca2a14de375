//! WASI 0.2 with nothing behind it, for components of toolchains that cannot leave it out.
//!
//! No arguments, environment, files or network. The clocks do not show the time: they start at a fixed moment, and
//! each look and each wait advances them. Random bytes are the same in each call. What is written to the standard streams
//! goes to the log of the call. So WASI gives a component nothing that its contract does not give it, and the
//! same input still gives the same plan.

mod clocks;
mod offer;
mod output;
mod random;

use std::collections::BTreeSet;

use wasmtime::component::{Linker, ResourceTable, ResourceTableError};
use wasmtime_wasi::{I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::log::Log;
use super::store::Context;
use crate::fault::{Fault, Quantity, Trap};
use crate::limits::Limits;
use crate::report::LogLevel;
use clocks::{Clock, Time};
use output::Output;
use random::{SEED, SplitMix};

/// Most random bytes of one question.
const RANDOM_BYTES: u64 = 64 << 10;

/// WASI of one call.
pub(super) struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
    time: Time,
    outputs: [Output; 2],
}

impl Wasi {
    /// Creates WASI with nothing behind it. `handles` is the most resources that the host holds for the
    /// component at once.
    pub(super) fn new(log: &Log, handles: usize) -> Self {
        let stdout = Output::new(log, LogLevel::Info);
        let stderr = Output::new(log, LogLevel::Warn);
        let time = Time::default();
        let mut table = ResourceTable::new();
        table.set_max_capacity(handles);
        // The builder's defaults: no arguments, no environment, no folders, and nothing to read.
        let context = WasiCtxBuilder::new()
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .wall_clock(time.clone())
            .secure_random(SplitMix::new(SEED))
            .insecure_random(SplitMix::new(!SEED))
            .insecure_random_seed(u128::from(SEED))
            .max_random_size(RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        Self {
            context,
            table,
            time,
            outputs: [stdout, stderr],
        }
    }

    /// Logs what was written without a line break at its end.
    pub(super) fn finish(&self) {
        for output in &self.outputs {
            output.finish();
        }
    }

    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    fn monotonic(&mut self) -> Clock<'_> {
        Clock {
            time: &self.time,
            table: &mut self.table,
        }
    }
}

impl WasiView for Wasi {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.context,
            table: &mut self.table,
        }
    }
}

/// Returns whether `import` is an interface of WASI that this host offers.
pub(super) fn is_offered(import: &str) -> bool {
    name_of(import).is_some_and(|name| offer::NAMES.contains(&name))
}

/// Adds the interfaces of WASI among `imports` to a linker, and no others.
pub(super) fn offer(linker: &mut Linker<Context>, imports: &[String]) -> wasmtime::Result<()> {
    // A component may import two versions of an interface, and one serves both.
    let names: BTreeSet<&str> = imports
        .iter()
        .filter_map(|import| name_of(import))
        .collect();
    for name in names {
        offer::offer(linker, name)?;
    }
    Ok(())
}

/// Returns the fault for an error that WASI ends a call with.
pub(super) fn fault(error: &wasmtime::Error, limits: &Limits) -> Option<Fault> {
    if error.is::<I32Exit>() {
        return Some(Fault::Trap { trap: Trap::Exit });
    }
    matches!(error.downcast_ref(), Some(ResourceTableError::Full)).then_some(
        Fault::OutputTooLarge {
            what: Quantity::Handles,
            limit: limits.handles as u64,
        },
    )
}

/// Returns the name of an interface of WASI 0.2, without its version.
fn name_of(import: &str) -> Option<&str> {
    let (name, version) = import.split_once('@')?;
    (name.starts_with("wasi:") && version.starts_with("0.2.")).then_some(name)
}
