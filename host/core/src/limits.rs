//! Limits of calls and of the engine. Every limit has a default, and none can be switched off.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of one call of a strategy.
///
/// A strategy that exceeds a limit has a [`Fault`](crate::fault::Fault), and the next strategy of the chain
/// runs.
///
/// ```
/// use std::time::Duration;
/// use baler_host::{Limits, Strategy};
///
/// let limits = Limits::default()
///     .with_time(Duration::from_millis(500))
///     .with_memory(16 << 20);
/// let strategy = Strategy::digest().with_limits(limits);
/// assert_eq!(strategy.limits().memory, 16 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Limits {
    /// Fuel: about one unit for each instruction, and one for each byte of a bulk memory operation.
    pub fuel: u64,
    /// Wall-clock time of a call that may not ask a model. Time in host functions counts.
    pub time: Duration,
    /// Wall-clock time of a call that may ask a model. A question to the model ends a little earlier, so that
    /// the strategy can continue without an answer.
    pub model_time: Duration,
    /// Wall-clock time of a call of a strategy that declares no time, if that is less than `time` or
    /// `model_time`. A strategy that declares a time gets that instead, with the same upper bound.
    pub undeclared_time: Duration,
    /// Bytes of all memories of the component together.
    pub memory: usize,
    /// Elements of all tables of the component together.
    pub table_elements: usize,
    /// Bytes that the component may pass to the host in one call: as arguments of a host function, or as its
    /// result.
    pub lifted_bytes: usize,
    /// Handles that the component may hold at once, of resources that it defines itself: the contract has none.
    pub handles: usize,
    /// Calls of host functions.
    pub host_calls: u64,
    /// Bytes of log lines that the host keeps. Further lines are counted and dropped.
    pub log_bytes: usize,
    /// Bytes of all inserted and replacement texts of a plan.
    pub inserted_bytes: usize,
    /// Pieces of a plan.
    pub pieces: usize,
    /// Edits of a plan.
    pub edits: usize,
    /// Runs of all excerpts of a plan together.
    pub runs: usize,
    /// Reasons of a plan. Also the maximum number of metrics that are read from a report.
    pub annotations: usize,
}

impl Limits {
    setters! {
        with_fuel fuel: u64;
        with_time time: Duration;
        with_model_time model_time: Duration;
        with_undeclared_time undeclared_time: Duration;
        with_memory memory: usize;
        with_table_elements table_elements: usize;
        with_lifted_bytes lifted_bytes: usize;
        with_handles handles: usize;
        with_host_calls host_calls: u64;
        with_log_bytes log_bytes: usize;
        with_inserted_bytes inserted_bytes: usize;
        with_pieces pieces: usize;
        with_edits edits: usize;
        with_runs runs: usize;
        with_annotations annotations: usize;
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 4_000_000_000,
            time: Duration::from_secs(2),
            // Self-hosted models are slow: users of another program found 120 s too short (PL-I7).
            model_time: Duration::from_secs(600),
            undeclared_time: Duration::from_secs(600),
            memory: 64 << 20,
            table_elements: 20_000,
            lifted_bytes: 16 << 20,
            handles: 1_000,
            host_calls: 1_000_000,
            log_bytes: 64 << 10,
            inserted_bytes: 1 << 20,
            pieces: 100_000,
            edits: 100_000,
            runs: 100_000,
            annotations: 20_000,
        }
    }
}

/// Faults of a strategy that count towards its quarantine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CountedFaults {
    /// All faults. One that the conversation may have caused counts for that conversation, and for all others only
    /// once: they are affected when so many conversations had one with no success between them. For a host whose
    /// conversations all come from one owner.
    #[default]
    All,
    /// Only faults that no conversation and no request can cause: a component fails while it starts, before
    /// it is asked anything, or the server of a remote strategy cannot be reached (a slow connection does not
    /// count). For a host that serves several clients, so that no client can put a strategy in quarantine for
    /// the others.
    Unprovoked,
}

/// Limits for all calls together: of the engine and its pool, of loading components, and of the quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct EngineLimits {
    /// Calls that run at once. As many again may wait; further calls fail with
    /// [`HostError::Overloaded`](crate::HostError::Overloaded).
    pub concurrent_calls: u32,
    /// Bytes that one memory can ever have, even if [`Limits::memory`] of a call is higher.
    pub memory: usize,
    /// Memories of a component.
    pub memories: u32,
    /// Tables of a component.
    pub tables: u32,
    /// Core instances of a component.
    pub instances: u32,
    /// Bytes of the stack of a component.
    pub stack: usize,
    /// Bytes of a component file.
    pub component_bytes: usize,
    /// Bytes of memory for compiling a component.
    pub compile_memory: u64,
    /// CPU time for compiling a component. The wall-clock time may be twice that.
    pub compile_time: Duration,
    /// Bytes of compiled code in the state folder. Code that was not used for the longest time makes room for new
    /// code.
    pub cache_bytes: u64,
    /// Number of faults within [`EngineLimits::fault_window`] that put a strategy in quarantine: for the
    /// conversation that had them, or for all if they were of as many conversations.
    pub faults: u32,
    /// Faults that count towards the quarantine.
    pub counted_faults: CountedFaults,
    /// Time for which a fault counts.
    pub fault_window: Duration,
    /// Duration of a quarantine. After it, one call is tried.
    pub cool_down: Duration,
}

impl EngineLimits {
    setters! {
        with_concurrent_calls concurrent_calls: u32;
        with_memory memory: usize;
        with_memories memories: u32;
        with_tables tables: u32;
        with_instances instances: u32;
        with_stack stack: usize;
        with_component_bytes component_bytes: usize;
        with_compile_memory compile_memory: u64;
        with_compile_time compile_time: Duration;
        with_cache_bytes cache_bytes: u64;
        with_faults faults: u32;
        with_counted_faults counted_faults: CountedFaults;
        with_fault_window fault_window: Duration;
        with_cool_down cool_down: Duration;
    }
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            concurrent_calls: 16,
            memory: 256 << 20,
            // An engine for JavaScript has three, and a filter before it two. A pool of 16 calls then reserves 390 GiB of
            // addresses; the smallest 64-bit systems give a process 512 GiB.
            memories: 6,
            tables: 12,
            // A component in Python has 38: each of its shared libraries is one.
            instances: 64,
            stack: 512 << 10,
            component_bytes: 32 << 20,
            compile_memory: 2 << 30,
            // An engine for JavaScript takes up to 30 s.
            compile_time: Duration::from_secs(120),
            // A strategy in JavaScript or Python has up to 45 MB of code.
            cache_bytes: 1 << 30,
            faults: 3,
            counted_faults: CountedFaults::All,
            fault_window: Duration::from_secs(600),
            cool_down: Duration::from_secs(60),
        }
    }
}
