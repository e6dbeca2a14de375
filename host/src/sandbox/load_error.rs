//! Why a component cannot be made ready.

use std::path::PathBuf;
use std::time::Duration;

use super::bindings::CONTRACTS;
use crate::error::{Cause, HostError, with_causes};

/// A component was refused before anything of it ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No bytes.
    #[error("the file is empty")]
    Empty,
    /// More bytes than the limit.
    #[error("the file has {bytes} bytes, over the limit for components: {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Not WebAssembly.
    #[error("the file is not WebAssembly: it does not begin with `\\0asm`")]
    NotWasm,
    /// Native code.
    #[error(
        "the file is precompiled native code, which is never taken from a file: give the component that it was made from"
    )]
    Precompiled,
    /// A core module, which is the common mistake.
    #[error(
        "the file is a core WebAssembly module and not a component: wrap it with `wasm-tools component new MODULE.wasm -o STRATEGY.wasm`"
    )]
    CoreModule,
    /// Broken bytes.
    #[error("the file is broken at byte {offset}")]
    Malformed {
        /// The offset in the file.
        offset: usize,
        /// What is broken.
        #[source]
        source: Cause,
    },
    /// Another kind of component.
    #[error("the component exports no `baler:compaction/strategy`: it is no compaction strategy")]
    NoStrategy,
    /// Made for another version of the contract.
    #[error("the component is made for `{contract}`, and this host speaks {}: get a build of it for one of these, or a host that speaks its contract", CONTRACTS.join(", "))]
    OtherContract {
        /// The contract of the component.
        contract: String,
    },
    /// It wants what this host does not give.
    #[error(
        "the component imports `{import}`, which this host does not offer: {}",
        hint(import)
    )]
    ImportNotOffered {
        /// The import.
        import: String,
    },
    /// Its imports or exports have other types than the contract.
    #[error("the component does not fit its contract")]
    DoesNotFit {
        /// Which import or export, and why.
        #[source]
        source: Cause,
    },
    /// The compiler refuses it.
    #[error("the component does not compile: {message}")]
    DoesNotCompile {
        /// The message of the compiler.
        message: String,
    },
    /// The compiler took too long.
    #[error("compiling the component took longer than {}", humantime(*limit))]
    CompilesTooLong {
        /// The limit on the clock.
        limit: Duration,
    },
    /// The compiler was ended by its limits.
    #[error("compiling the component took more than {} MiB of memory or {} of CPU time", memory >> 20, humantime(*time))]
    CompilerDied {
        /// The limit in bytes.
        memory: u64,
        /// The limit of CPU time.
        time: Duration,
    },
    /// The compiler ended early, and nothing tells that it was by its limits.
    #[error(
        "the compiler ended before it was done ({message}); the machine may lack memory, threads or processes: try again when it has more of them"
    )]
    CompilerFailed {
        /// How it ended, and its message.
        message: String,
    },
    /// The compiler could not be started.
    #[error("the compiler `{}` cannot be started", program.display())]
    CompilerNotStarted {
        /// The program that was to compile.
        program: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The program that was to compile does something else.
    #[error("the program `{}` is no compiler: it does not begin with `serve_as_compiler`", program.display())]
    NotACompiler {
        /// The program.
        program: PathBuf,
    },
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// It has more memories, tables or instances, or larger ones, than the pool gives.
    #[error("the component needs more than a sandbox has ({memories} memories of {} MiB, {tables} tables, {instances} instances)", memory >> 20)]
    OverLimits {
        /// What it needs more of.
        #[source]
        source: Cause,
        /// Memories of a component.
        memories: u32,
        /// Tables of a component.
        tables: u32,
        /// Instances of a component.
        instances: u32,
        /// Bytes of a memory.
        memory: usize,
    },
}

impl LoadError {
    /// Returns the message with all its causes, as one text. It may quote the component.
    #[must_use]
    pub fn with_causes(&self) -> String {
        with_causes(self)
    }

    /// A short, stable name.
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
            Self::DoesNotFit { .. } => "does-not-fit",
            Self::DoesNotCompile { .. } => "does-not-compile",
            Self::CompilesTooLong { .. } => "compiles-too-long",
            Self::CompilerDied { .. } => "compiler-died",
            Self::CompilerFailed { .. } => "compiler-failed",
            Self::CompilerNotStarted { .. } | Self::NotACompiler { .. } => "no-compiler",
            Self::Host(_) => "host",
            Self::OverLimits { .. } => "over-limits",
        }
    }
}

fn humantime(duration: Duration) -> String {
    format!("{} s", duration.as_secs())
}

fn hint(import: &str) -> &'static str {
    if import.starts_with("wasi:") {
        "strategies have no files, clocks or network; build it for `wasm32-unknown-unknown`, or switch WASI features off in the language's toolchain"
    } else {
        "only `baler:compaction` with history, tokenizer and log is"
    }
}
