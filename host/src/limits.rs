//! Limits of a sandbox. None is optional, each has a default, and all can be set.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one call of a strategy may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Limits {
    /// Fuel: about one for each instruction, one for each byte of a bulk memory operation.
    pub fuel: u64,
    /// Time on the clock, from the start of the call on, waiting for the host included.
    pub time: Duration,
    /// The same of a call that may ask a model. Where a strategy declares that it needs less
    /// time, it gets that. A question is given up a little earlier, so that the strategy can go
    /// on without an answer.
    pub model_time: Duration,
    /// Time of a call of a strategy that declares none, where it is less than these.
    pub undeclared_time: Duration,
    /// Bytes of all its memories together.
    pub memory: usize,
    /// Elements of all its tables together.
    pub table_elements: usize,
    /// Bytes that it may hand to the host in one call of either direction.
    pub lifted_bytes: usize,
    /// Handles that it may hold at once.
    pub handles: usize,
    /// Calls of host functions.
    pub host_calls: u64,
    /// Bytes of log lines that the host keeps; what comes after is counted and dropped.
    pub log_bytes: usize,
    /// Bytes of inserted and replacing texts in a plan together.
    pub inserted_bytes: usize,
    /// Pieces of a plan.
    pub pieces: usize,
    /// Edits of a plan.
    pub edits: usize,
    /// Reasons of a plan, and metrics of a report.
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
        with_annotations annotations: usize;
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 4_000_000_000,
            time: Duration::from_secs(2),
            // Self-hosted models are slow: 120 s were too short for planck's users (PL-I7).
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
            annotations: 20_000,
        }
    }
}

/// How much a plan may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanLimits {
    pub(crate) pieces: usize,
    pub(crate) edits: usize,
    pub(crate) inserted_bytes: usize,
    pub(crate) annotations: usize,
}

impl Limits {
    pub(crate) const fn of_plan(&self) -> PlanLimits {
        PlanLimits {
            pieces: self.pieces,
            edits: self.edits,
            inserted_bytes: self.inserted_bytes,
            annotations: self.annotations,
        }
    }
}

/// Which faults of a strategy count towards its quarantine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CountedFaults {
    /// All of them. For a host whose conversations all come from one owner.
    #[default]
    All,
    /// Only those that no conversation and no request can cause: a component fails where it
    /// starts, before it is asked anything, or nothing is reached where a remote strategy should
    /// be (not where a connection only takes too long). For a host that serves many, so that none of them can put a strategy in quarantine for
    /// the others.
    Unprovoked,
}

/// What is set once for all calls: the engine with its pool, and the loading of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct EngineLimits {
    /// Calls that run at once; as many again may wait, and more are turned away.
    pub concurrent_calls: u32,
    /// Bytes that one memory can ever have, whatever a call's limit says.
    pub memory: usize,
    /// Memories of a component.
    pub memories: u32,
    /// Tables of a component.
    pub tables: u32,
    /// Core instances of a component.
    pub instances: u32,
    /// Bytes of stack.
    pub stack: usize,
    /// Bytes of a component file.
    pub component_bytes: usize,
    /// Bytes of memory that compiling a component may take.
    pub compile_memory: u64,
    /// CPU time that compiling a component may take; its time on the clock may be twice that.
    pub compile_time: Duration,
    /// Faults of one component within [`EngineLimits::fault_window`] after which it is
    /// quarantined.
    pub faults: u32,
    /// Which faults count for that.
    pub counted_faults: CountedFaults,
    /// How long a fault counts.
    pub fault_window: Duration,
    /// How long a quarantine lasts. Then one call is tried.
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
            memories: 2,
            tables: 8,
            instances: 16,
            stack: 512 << 10,
            component_bytes: 32 << 20,
            compile_memory: 2 << 30,
            compile_time: Duration::from_secs(60),
            faults: 3,
            counted_faults: CountedFaults::All,
            fault_window: Duration::from_secs(600),
            cool_down: Duration::from_secs(60),
        }
    }
}
