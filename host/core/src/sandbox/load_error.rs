//! Errors of loading a component.

use super::bindings::CONTRACTS;
use crate::child::ChildError;
use crate::error::{Cause, HostError};

/// Error of loading a component. No code of the component ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is larger than
    /// [`EngineLimits::component_bytes`](crate::strategy::EngineLimits::component_bytes).
    #[error("the file has {bytes} bytes; the limit for components is {limit}")]
    TooLarge {
        /// Size of the file in bytes.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The file is not WebAssembly.
    #[error("the file is not WebAssembly: it does not begin with `\\0asm`")]
    NotWasm,
    /// The file is precompiled native code.
    #[error(
        "the file is precompiled native code, which is never loaded from a file: give the component that it was compiled from"
    )]
    Precompiled,
    /// The file is a core module, which is a common mistake.
    #[error(
        "the file is a core WebAssembly module and not a component: wrap it with `baler wrap MODULE.wasm -o STRATEGY.wasm`"
    )]
    CoreModule,
    /// The file is not valid WebAssembly.
    #[error("the file is broken at byte {offset}")]
    Malformed {
        /// Offset in the file in bytes.
        offset: usize,
        /// Error of the parser.
        #[source]
        source: Cause,
    },
    /// The component is no strategy.
    #[error("the component exports no `baler:compaction/strategy`: it is no compaction strategy")]
    NoStrategy,
    /// The component implements a contract that this host does not support.
    #[error("the component is made for `{contract}`, and this host supports {}: get a build of it for one of these, or a host that supports its contract", CONTRACTS.join(", "))]
    OtherContract {
        /// Contract of the component.
        contract: String,
    },
    /// The component imports an interface that this host does not offer.
    #[error(
        "the component imports `{import}`, which this host does not offer: {}",
        hint(import)
    )]
    ImportNotOffered {
        /// Name of the import.
        import: String,
    },
    /// The component imports WASI, and the program that embeds the host refuses that.
    #[error(
        "the component imports `{import}`, and WASI is refused here: build it without WASI, as the example for its language does, or allow WASI"
    )]
    WasiRefused {
        /// Name of the import.
        import: String,
    },
    /// An import or export of the component has another type than in the contract.
    #[error("the component does not fit `{}` as this host defines it: rebuild it against the `wit` folder of this release, or with its SDK", CONTRACTS.join(", "))]
    DoesNotFit {
        /// Import or export, and the difference.
        #[source]
        source: Cause,
    },
    /// The compiler rejects the component.
    #[error("the component does not compile: {message}")]
    DoesNotCompile {
        /// Message of the compiler.
        message: String,
    },
    /// The compiler did not do its work.
    #[error("the component was not compiled")]
    Compiler(#[from] ChildError),
    /// The host or the machine failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The component has more or larger memories, tables or instances than a sandbox.
    #[error("the component needs more than a sandbox has ({memories} memories of {} MiB, {tables} tables, {instances} instances)", memory >> 20)]
    OverLimits {
        /// What the component needs more of.
        #[source]
        source: Cause,
        /// Maximum number of memories.
        memories: u32,
        /// Maximum number of tables.
        tables: u32,
        /// Maximum number of instances.
        instances: u32,
        /// Maximum bytes of one memory.
        memory: usize,
    },
}

impl LoadError {
    /// Returns a short, stable name of the error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLarge { .. } => "too-large",
            Self::NotWasm => "not-wasm",
            Self::Precompiled => "precompiled",
            Self::CoreModule => "core-module",
            Self::Malformed { .. } => "malformed",
            Self::NoStrategy => "no-strategy",
            Self::OtherContract { .. } => "other-contract",
            Self::ImportNotOffered { .. } => "import-not-offered",
            Self::WasiRefused { .. } => "wasi-refused",
            Self::DoesNotFit { .. } => "does-not-fit",
            Self::DoesNotCompile { .. } => "does-not-compile",
            Self::Compiler(error) => error.code(),
            Self::Host(_) => "host",
            Self::OverLimits { .. } => "over-limits",
        }
    }
}

fn hint(import: &str) -> &'static str {
    if import.starts_with("baler:compaction/strategy@") {
        "it is a filter before a strategy: `baler compose FILTER.wasm STRATEGY.wasm -o BOTH.wasm` makes a strategy of both"
    } else if import.starts_with("wasi:http/") {
        "strategies have no network; switch it off in the toolchain (jco: its option `disable` with `http fetch-event`)"
    } else if import.starts_with("wasi:") && cfg!(feature = "wasi") {
        "WASI 0.2 is offered with nothing behind it, in these parts: cli, clocks, filesystem, io, random and sockets"
    } else if import.starts_with("wasi:") {
        "strategies have no files, clocks or network; build it for `wasm32-unknown-unknown`, or switch off the WASI features of the toolchain"
    } else {
        "strategies may import only the interfaces history, tokenizer, log and model of `baler:compaction`"
    }
}
