//! The sandbox for components: the only module that names wasmtime.
//!
//! A component is inspected, compiled in a child process, and kept ready. Every call gets a fresh store and
//! instance, which are dropped after it.

mod bindings;
mod cache;
mod classify;
mod compile;
mod convert;
mod engine;
mod guest_runner;
mod imports;
mod inspect;
mod load_error;
mod log;
mod store;
#[cfg(feature = "wasi")]
mod wasi;

use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Engine, Store};

pub(crate) use bindings::CONTRACTS;
use bindings::v0_1::{
    self as contract, ModelStrategy, ModelStrategyPre, history, model, tokenizer,
};
use cache::CodeCache;
pub use cache::{CodeSize, CompiledCode};
pub use compile::{Compiler, serve_as_compiler, serve_as_compiler_with};
pub(crate) use guest_runner::GuestRunner;
pub use inspect::{Inspection, inspect};
pub use load_error::LoadError;
use store::Context;

use baler_conversation::marks::SecretKey;

use crate::content_hash::ContentHash;
use crate::error::HostError;
use crate::fault::{DeclaredFailure, Fault};
use crate::limits::{EngineLimits, Limits};
use crate::model::ModelGrant;
use crate::report::{Decision, Introspection, Permission, Report};
use crate::runner::{Call, CallFailure, CallUsage, Terms};
use crate::situation::Situation;

/// Runs components.
pub(crate) struct Sandbox {
    engine: Engine,
    linker: Linker<Context>,
    limits: EngineLimits,
    compiler: Compiler,
    cache: Option<CodeCache>,
    refuses_wasi: bool,
    /// Calls that run: as many as the pool has room for.
    running: Semaphore,
    /// Calls that run or wait: twice as many.
    admitted: Semaphore,
    /// Running calls that may ask a model, and so take long: at most half of all, so that others can run too.
    asking: Semaphore,
}

/// Permits of one call. Dropping them lets other calls run.
struct Permits<'a> {
    _running: SemaphorePermit<'a>,
    _asking: Option<SemaphorePermit<'a>>,
    _admitted: SemaphorePermit<'a>,
}

/// A loaded component, ready to run.
pub(crate) struct Guest {
    pub(crate) hash: ContentHash,
    pub(crate) contract: String,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) bytes: usize,
    pre: ModelStrategyPre<Context>,
}

impl Guest {
    /// Returns whether the component imports the model interface.
    pub(crate) fn may_ask(&self) -> bool {
        self.permissions.contains(&Permission::Model)
    }
}

impl Sandbox {
    /// Creates the sandbox. `state` is the state folder, which will hold compiled code; without it, each load
    /// compiles. `refuses_wasi` is whether components that import WASI are refused.
    pub(crate) fn new(
        limits: EngineLimits,
        compiler: Compiler,
        state: Option<(&Path, SecretKey)>,
        refuses_wasi: bool,
    ) -> Result<Self, HostError> {
        let engine = engine::running(&limits)?;
        let mut linker = Linker::new(&engine);
        let failed = |error: wasmtime::Error| HostError::Sandbox {
            action: "cannot offer the contract's imports",
            source: error.into(),
        };
        history::add_to_linker::<Context, HasSelf<Context>>(&mut linker, |context| context)
            .map_err(failed)?;
        tokenizer::add_to_linker::<Context, HasSelf<Context>>(&mut linker, |context| context)
            .map_err(failed)?;
        contract::log::add_to_linker::<Context, HasSelf<Context>>(&mut linker, |context| context)
            .map_err(failed)?;
        model::add_to_linker::<Context, HasSelf<Context>>(&mut linker, |context| context)
            .map_err(failed)?;
        let cache = match state {
            Some((folder, key)) => Some(CodeCache::open(
                &folder.join("compiled"),
                key,
                settings(&engine),
                limits.cache_bytes,
            )?),
            None => None,
        };
        let calls = limits.concurrent_calls.max(1) as usize;
        Ok(Self {
            engine,
            linker,
            limits,
            compiler,
            cache,
            refuses_wasi,
            running: Semaphore::new(calls),
            admitted: Semaphore::new(calls * 2),
            asking: Semaphore::new(calls.div_ceil(2)),
        })
    }

    /// Inspects, compiles and links a component. No code of the component runs.
    pub(crate) async fn load(&self, bytes: &[u8]) -> Result<Guest, LoadError> {
        let inspection = inspect::inspect(bytes, &self.limits)?;
        let mut permissions = Vec::with_capacity(inspection.imports.len());
        for import in &inspection.imports {
            let permission = self.permission(import)?;
            // WASI has many interfaces, which are one permission.
            if !permissions.contains(&permission) {
                permissions.push(permission);
            }
        }
        let hash = ContentHash::of(bytes);
        let component = self.component(bytes, &hash).await?;
        let does_not_fit = |error: wasmtime::Error| LoadError::DoesNotFit {
            source: error.into(),
        };
        let linker = self.linker_for(&inspection.imports).map_err(does_not_fit)?;
        let pre = linker.instantiate_pre(&component).map_err(does_not_fit)?;
        Ok(Guest {
            hash,
            contract: inspection.contract,
            permissions,
            bytes: bytes.len(),
            pre: ModelStrategyPre::new(pre).map_err(does_not_fit)?,
        })
    }

    /// Returns what an import gives access to.
    fn permission(&self, import: &str) -> Result<Permission, LoadError> {
        let permission = Permission::of_import(import);
        let is_offered = match permission {
            Some(Permission::Wasi) if self.refuses_wasi => {
                return Err(LoadError::WasiRefused {
                    import: import.to_owned(),
                });
            }
            #[cfg(feature = "wasi")]
            Some(Permission::Wasi) => wasi::is_offered(import),
            #[cfg(not(feature = "wasi"))]
            Some(Permission::Wasi) => false,
            _ => true,
        };
        permission
            .filter(|_| is_offered)
            .ok_or_else(|| LoadError::ImportNotOffered {
                import: import.to_owned(),
            })
    }

    /// Returns a linker that offers the contract, and the interfaces of WASI among `imports`.
    #[cfg(feature = "wasi")]
    fn linker_for(&self, imports: &[String]) -> wasmtime::Result<Linker<Context>> {
        let mut linker = self.linker.clone();
        wasi::offer(&mut linker, imports)?;
        Ok(linker)
    }

    #[cfg(not(feature = "wasi"))]
    fn linker_for(&self, _: &[String]) -> wasmtime::Result<&Linker<Context>> {
        Ok(&self.linker)
    }

    /// Returns the compiled component, from the cache or newly compiled.
    async fn component(&self, bytes: &[u8], hash: &ContentHash) -> Result<Component, LoadError> {
        if let Some(cache) = &self.cache
            && let Some(code) = cache.get(hash)
            && let Ok(component) = self.deserialize(code.bytes())
        {
            return Ok(component);
        }
        let code = compile::compile(&self.compiler, bytes, &self.limits).await?;
        let component = self.deserialize(&code)?;
        if let Some(cache) = &self.cache {
            cache.put(hash, &code);
        }
        Ok(component)
    }

    #[expect(
        unsafe_code,
        reason = "compiled code is native code; see the comment inside"
    )]
    fn deserialize(&self, code: &[u8]) -> Result<Component, LoadError> {
        // SAFETY: `code` comes from our own compiler with our own engine settings: from the child process, or
        // from the cache, whose entries carry a hash keyed with a secret of this user. No other caller
        // exists, and compiled code is never loaded from a path.
        unsafe { Component::deserialize(&self.engine, code) }.map_err(|error| {
            LoadError::OverLimits {
                source: error.into(),
                memories: self.limits.memories,
                tables: self.limits.tables,
                instances: self.limits.instances,
                memory: self.limits.memory,
            }
        })
    }

    /// Asks the component to describe itself. It sees no conversation, and its answer is limited to
    /// [`INTROSPECTION_BYTES`].
    pub(crate) async fn introspect(
        &self,
        guest: &Guest,
        config: Option<&str>,
        limits: Limits,
    ) -> Call<Introspection> {
        let limits = Limits {
            lifted_bytes: limits.lifted_bytes.min(INTROSPECTION_BYTES),
            ..limits
        };
        self.call(guest, None, limits, None, async |strategy, store| {
            let answer = strategy
                .baler_compaction_strategy()
                .call_introspect(store, config)
                .await?;
            Ok(answer.map(convert::introspection).map_err(convert::failure))
        })
        .await
    }

    /// Asks the component whether to compact now.
    pub(crate) async fn should_compact(
        &self,
        guest: &Guest,
        situation: &Arc<Situation>,
        terms: Terms<'_>,
    ) -> Call<Decision> {
        let lent = convert::situation(situation, terms.name);
        self.call(
            guest,
            Some(situation),
            *terms.limits,
            // A model may be asked only during a compaction.
            None,
            async |strategy, store| {
                let answer = strategy
                    .baler_compaction_strategy()
                    .call_should_compact(store, &lent, terms.config)
                    .await?;
                Ok(answer.map(convert::decision).map_err(convert::failure))
            },
        )
        .await
    }

    /// Asks the component for a plan.
    pub(crate) async fn compact(
        &self,
        guest: &Guest,
        situation: &Arc<Situation>,
        terms: Terms<'_>,
        limits: Limits,
    ) -> Call<Report> {
        let lent = convert::situation(situation, terms.name);
        self.call(
            guest,
            Some(situation),
            limits,
            terms.model,
            async |strategy, store| {
                let answer = strategy
                    .baler_compaction_strategy()
                    .call_compact(store, &lent, terms.config)
                    .await?;
                Ok(answer.map(convert::report).map_err(convert::failure))
            },
        )
        .await
    }

    /// Waits for the permits of a call. The waiting does not count as the component's time.
    async fn permits(&self, may_ask_model: bool) -> Result<Permits<'_>, HostError> {
        let Ok(admitted) = self.admitted.try_acquire() else {
            return Err(HostError::Overloaded {
                limit: self.limits.concurrent_calls as usize,
            });
        };
        let asking = match may_ask_model {
            true => self.asking.acquire().await.ok(),
            false => None,
        };
        let Ok(running) = self.running.acquire().await else {
            return Err(HostError::Closed);
        };
        Ok(Permits {
            _running: running,
            _asking: asking,
            _admitted: admitted,
        })
    }

    /// Runs `ask` in a fresh instance. Dropping the future stops the component at its next interruption and
    /// drops the instance.
    async fn call<T>(
        &self,
        guest: &Guest,
        situation: Option<&Arc<Situation>>,
        limits: Limits,
        grant: Option<&ModelGrant>,
        ask: impl AsyncFnOnce(
            &ModelStrategy,
            &mut Store<Context>,
        ) -> wasmtime::Result<Result<T, (DeclaredFailure, String)>>,
    ) -> Call<T> {
        let not_run = |error| Call {
            result: Err(CallFailure::Host(error)),
            has_started: false,
            usage: CallUsage::default(),
        };
        let grant = grant.filter(|_| guest.may_ask());
        let _permits = match self.permits(grant.is_some()).await {
            Ok(permits) => permits,
            Err(error) => return not_run(error),
        };
        let start = Instant::now();
        let deadline = start + limits.time;
        let mut store = match store::fresh(&self.engine, limits, grant, deadline) {
            Ok(store) => store,
            Err(error) => return not_run(error),
        };
        let mut has_started = false;
        let run = async {
            // The timeout includes the start, since a component can loop there.
            let strategy = guest.pre.instantiate_async(&mut store).await?;
            has_started = true;
            store.data_mut().situation = situation.cloned();
            ask(&strategy, &mut store).await
        };
        let outcome = tokio::time::timeout_at(deadline.into(), run).await;
        let time = start.elapsed();
        // Whatever else happened after too many calls depends on when they were noticed.
        let outcome = match store.data().too_many_calls() {
            Some(fault) => outcome.map(|_| Err(wasmtime::Error::new(store::Broken(fault)))),
            None => outcome,
        };
        let result = match outcome {
            Err(_) => Err(CallFailure::Fault(Fault::timeout(limits.time))),
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err((declared, text)))) => Err(CallFailure::Declared(declared, text)),
            Ok(Err(error)) => {
                // All execution uses fuel, also that of the start.
                let has_run = has_started || store.get_fuel().is_ok_and(|left| left < limits.fuel);
                let failure = classify::classify(error, &limits, &self.limits, has_run);
                Err(failure)
            }
        };
        let is_timeout = matches!(result, Err(CallFailure::Fault(Fault::Timeout { .. })));
        Call {
            result,
            has_started,
            usage: usage_of(&mut store, &limits, time, is_timeout),
        }
    }
}

/// Returns what a finished call used. After a timeout the fuel is unknown: an interrupted function keeps its
/// count in a register.
fn usage_of(
    store: &mut Store<Context>,
    limits: &Limits,
    time: Duration,
    is_timeout: bool,
) -> CallUsage {
    let left = store.get_fuel().ok().filter(|_| !is_timeout);
    let context = store.data_mut();
    #[cfg(feature = "wasi")]
    if let Some(wasi) = &context.wasi {
        wasi.finish();
    }
    let meter = std::mem::take(&mut context.meter);
    let log = context.log.take();
    CallUsage {
        fuel: left.map(|left| limits.fuel.saturating_sub(left)),
        time,
        memory: meter.memory,
        host_calls: meter.host_calls,
        log: log.lines,
        log_dropped: log.dropped,
    }
}

/// Maximum bytes of a component's description of itself.
const INTROSPECTION_BYTES: usize = 1 << 20;

/// Returns what compiled code depends on besides the component: the version of the compiler, its settings and
/// the machine, which wasmtime combines into one hash.
fn settings(engine: &Engine) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!(
        "baler {} engine {:016x}",
        env!("CARGO_PKG_VERSION"),
        hasher.finish()
    )
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest")
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
