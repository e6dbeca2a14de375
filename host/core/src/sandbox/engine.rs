//! The wasmtime engine of a host, with a pool of sandboxes and all limits set.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::error::HostError;
use crate::limits::EngineLimits;

/// Interval at which a computing component is interrupted to check its time.
const TICK: Duration = Duration::from_millis(2);

/// Bytes of stack for host functions, which run on the component's fiber. Less than a megabyte has overflowed
/// in other hosts.
const STACK_OF_HOST: usize = 3 << 19;

/// Bytes of each sandbox's memory that stay in memory between calls: what a plan over 10,000 units needs.
const RESIDENT: usize = 2 << 20;

/// Returns the settings that compiled code depends on: the compiling child and the running host must use the
/// same.
pub(super) fn config(limits: &EngineLimits) -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .consume_fuel(true)
        .epoch_interruption(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .cranelift_nan_canonicalization(true)
        .memory_init_cow(true)
        .max_wasm_stack(limits.stack)
        .async_stack_size(limits.stack + STACK_OF_HOST)
        .wasm_backtrace_max_frames(NonZeroUsize::new(16));
    config
}

/// Creates the engine that runs calls, and starts its ticker.
pub(super) fn running(limits: &EngineLimits) -> Result<Engine, HostError> {
    let calls = limits.concurrent_calls.max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls * limits.instances)
        .total_memories(calls * limits.memories)
        .total_tables(calls * limits.tables)
        .total_stacks(calls)
        .max_core_instances_per_component(limits.instances)
        .max_memories_per_component(limits.memories)
        .max_tables_per_component(limits.tables)
        .max_memory_size(limits.memory)
        .table_elements(20_000)
        .linear_memory_keep_resident(64 << 10)
        .table_keep_resident(64 << 10);
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        // The kernel says which pages a call has written. Only these are reset, and they stay in memory, so that
        // the next call does not fault on each of them.
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(RESIDENT);
    }
    let mut pooled = config(limits);
    pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    // Without enough address space for a pool, memory is allocated on demand: slower, with the same limits,
    // which the store checks.
    let engine = Engine::new(&pooled).or_else(|error| {
        tracing::warn!(%error, "cannot allocate a pool of sandboxes; allocating memory on demand");
        Engine::new(&config(limits))
    });
    let engine = engine.map_err(|error| HostError::Sandbox {
        action: "cannot create the engine",
        source: error.into(),
    })?;
    start_ticker(&engine)?;
    Ok(engine)
}

/// Starts a thread that advances the epoch while the engine exists.
fn start_ticker(engine: &Engine) -> Result<(), HostError> {
    let weak = engine.weak();
    let ticker = thread::Builder::new().spawn(move || {
        while let Some(engine) = weak.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    });
    // Without a ticker nothing would interrupt a component, so this is an error.
    ticker.map(drop).map_err(HostError::Thread)
}
