//! The sandbox: the only place that names wasmtime.
//!
//! A component is inspected, compiled in a child, and kept ready. Every call gets a fresh
//! store and instance, which are thrown away after it, whatever happened.

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
mod store;

use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Semaphore;
use wasmtime::component::{Component, HasSelf, Linker, Resource};
use wasmtime::{Engine, Store};

pub(crate) use bindings::CONTRACTS;
use bindings::v0_1::{ModelStrategy, ModelStrategyPre, history, log, model, tokenizer};
use cache::CodeCache;
pub use compile::{Compiler, serve_as_compiler};
pub(crate) use guest_runner::GuestRunner;
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
    /// As many calls as the pool has room for.
    running: Semaphore,
    /// Those, and as many that wait.
    admitted: Semaphore,
    /// Calls that may ask a model, and so take long: no more than half, so that the others find
    /// room.
    asking: Semaphore,
}

/// A component, ready to run.
pub(crate) struct Guest {
    pub(crate) hash: ContentHash,
    pub(crate) contract: String,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) bytes: usize,
    pre: ModelStrategyPre<Context>,
}

impl Guest {
    /// Whether it imports the model.
    pub(crate) fn may_ask(&self) -> bool {
        self.permissions.contains(&Permission::Model)
    }
}

impl Sandbox {
    /// `state` is the folder for compiled code; without one each load compiles.
    pub(crate) fn new(
        limits: EngineLimits,
        compiler: Compiler,
        state: Option<(&Path, SecretKey)>,
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
        log::add_to_linker::<Context, HasSelf<Context>>(&mut linker, |context| context)
            .map_err(failed)?;
        model::add_to_linker::<Context, HasSelf<Context>>(&mut linker, |context| context)
            .map_err(failed)?;
        let cache = match state {
            Some((folder, key)) => Some(CodeCache::open(
                &folder.join("compiled"),
                key,
                settings(&engine),
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
            running: Semaphore::new(calls),
            admitted: Semaphore::new(calls * 2),
            asking: Semaphore::new(calls.div_ceil(2)),
        })
    }

    /// Makes a component ready. Nothing of it runs.
    pub(crate) async fn load(&self, bytes: &[u8]) -> Result<Guest, LoadError> {
        let inspection = inspect::inspect(bytes, &self.limits)?;
        let mut permissions = Vec::with_capacity(inspection.imports.len());
        for import in &inspection.imports {
            permissions.push(Permission::of_import(import).ok_or_else(|| {
                LoadError::ImportNotOffered {
                    import: import.clone(),
                }
            })?);
        }
        let hash = ContentHash::of(bytes);
        let component = self.component(bytes, &hash).await?;
        let does_not_fit = |error: wasmtime::Error| LoadError::DoesNotFit {
            source: error.into(),
        };
        let pre = self
            .linker
            .instantiate_pre(&component)
            .map_err(does_not_fit)?;
        Ok(Guest {
            hash,
            contract: inspection.contract,
            permissions,
            bytes: bytes.len(),
            pre: ModelStrategyPre::new(pre).map_err(does_not_fit)?,
        })
    }

    async fn component(&self, bytes: &[u8], hash: &ContentHash) -> Result<Component, LoadError> {
        if let Some(cache) = &self.cache
            && let Some(code) = cache.get(hash)
            && let Ok(component) = self.deserialize(&code)
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
        // SAFETY: `code` is what our own compiler gave for our own engine settings: it came
        // from the child just now, or from the cache, whose entries carry a digest keyed with
        // a secret that only this user has. There is no other way to get here, and none to
        // load compiled code from a path.
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

    /// Asks the guest who it is. It sees no conversation, and has not much to say.
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
        self.call(guest, None, limits, None, async |strategy, store, _| {
            let said = strategy
                .baler_compaction_strategy()
                .call_introspect(store, config)
                .await?;
            Ok(said.map(convert::introspection).map_err(convert::failure))
        })
        .await
    }

    /// Asks the guest whether it is time.
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
            // A model is for the work, not for the question whether there is any.
            None,
            async |strategy, store, handle| {
                let said = strategy
                    .baler_compaction_strategy()
                    .call_should_compact(store, handle, &lent, terms.config)
                    .await?;
                Ok(said.map(convert::decision).map_err(convert::failure))
            },
        )
        .await
    }

    /// Asks the guest for a plan.
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
            async |strategy, store, handle| {
                let said = strategy
                    .baler_compaction_strategy()
                    .call_compact(store, handle, &lent, terms.config)
                    .await?;
                Ok(said.map(convert::report).map_err(convert::failure))
            },
        )
        .await
    }

    /// Runs `ask` in a fresh instance. Dropping the future stops the guest at its next
    /// interruption and leaves nothing behind.
    async fn call<T>(
        &self,
        guest: &Guest,
        situation: Option<&Arc<Situation>>,
        limits: Limits,
        grant: Option<&ModelGrant>,
        ask: impl AsyncFnOnce(
            &ModelStrategy,
            &mut Store<Context>,
            Resource<imports::Lent>,
        ) -> wasmtime::Result<Result<T, (DeclaredFailure, String)>>,
    ) -> Call<T> {
        let failed = |failure| Call {
            result: Err(failure),
            has_started: false,
            usage: CallUsage::default(),
        };
        let Ok(_admitted) = self.admitted.try_acquire() else {
            return failed(CallFailure::Host(HostError::Overloaded {
                limit: self.limits.concurrent_calls as usize,
            }));
        };
        // Waiting for room is the host's time and not the guest's.
        let asking = grant.filter(|_| guest.may_ask());
        let _asking = match asking {
            Some(_) => self.asking.acquire().await.ok(),
            None => None,
        };
        let Ok(_running) = self.running.acquire().await else {
            return failed(CallFailure::Host(HostError::Closed));
        };
        let start = Instant::now();
        let deadline = start + limits.time;
        let mut store =
            match store::fresh(&self.engine, situation.cloned(), limits, asking, deadline) {
                Ok(store) => store,
                Err(error) => return failed(CallFailure::Host(error)),
            };
        let mut has_started = false;
        let talk = async {
            // A guest can loop where it starts; so this is inside of the timeout.
            let strategy = guest.pre.instantiate_async(&mut store).await?;
            has_started = true;
            let own = store.data_mut().table.push(imports::Lent)?;
            let handle = Resource::new_borrow(own.rep());
            ask(&strategy, &mut store, handle).await
        };
        let outcome = tokio::time::timeout_at(deadline.into(), talk).await;
        let time = start.elapsed();
        let mut fuel_is_known = true;
        let result = match outcome {
            Err(_) => {
                fuel_is_known = false;
                Err(CallFailure::Fault(Fault::timeout(limits.time)))
            }
            Ok(Ok(Ok(said))) => Ok(said),
            Ok(Ok(Err((declared, words)))) => Err(CallFailure::Declared(declared, words)),
            Ok(Err(error)) => {
                // It executes nothing without fuel, also where it starts.
                let has_run = has_started || store.get_fuel().is_ok_and(|left| left < limits.fuel);
                let failure = classify::classify(error, &limits, &self.limits, has_run);
                // A function that is interrupted keeps its count in a register.
                fuel_is_known = !matches!(failure, CallFailure::Fault(Fault::Timeout { .. }));
                Err(failure)
            }
        };
        let left = store.get_fuel().ok().filter(|_| fuel_is_known);
        let meter = std::mem::take(&mut store.data_mut().meter);
        Call {
            result,
            has_started,
            usage: CallUsage {
                fuel: left.map(|left| limits.fuel.saturating_sub(left)),
                time,
                memory: meter.memory,
                host_calls: meter.host_calls,
                log: meter.log,
                log_dropped: meter.log_dropped,
            },
        }
    }
}

/// Bytes that a guest may tell of itself.
const INTROSPECTION_BYTES: usize = 1 << 20;

/// What compiled code depends on beside the component: the compiler's version, its settings
/// and the machine, all of which wasmtime puts into one hash.
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
