//! Strategies that a host can call.

mod config_error;
mod introspect_error;
mod should_compact;

pub use config_error::{ConfigError, SchemaProblem};
pub use introspect_error::IntrospectError;
pub use should_compact::ShouldCompact;

pub use crate::gate::{Gate, Permit};
pub use crate::limits::{CountedFaults, EngineLimits};
pub use crate::report::{Decision, Introspection, LogLevel, Metric, MetricValue, Permission};
#[cfg(feature = "sandbox")]
pub use crate::sandbox::{CodeSize, CompiledCode, Inspection, LoadError, inspect};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Engaged, Engine};
use crate::limits::Limits;
use crate::model::ModelGrant;
use crate::native;
use crate::plan::Author;
use crate::receipt::ComponentInfo;
use crate::remote::{self, Connected, Remote};
use crate::runner::{Runner, Terms};
use crate::strategy_name::StrategyName;

/// Maximum bytes of a config, and of the schema that a strategy declares for it.
pub(crate) const MAX_CONFIG_BYTES: usize = 64 << 10;

/// Returns the contracts that this version of the host supports, newest first.
#[cfg(feature = "sandbox")]
#[must_use]
pub fn contracts() -> &'static [&'static str] {
    crate::sandbox::CONTRACTS
}

/// Strategy that a host can call: a loaded component, a remote strategy, or a native strategy.
///
/// Components come from [`Host::load`](crate::Host::load). Cloning is cheap.
///
/// ```
/// use std::time::Duration;
/// use baler_host::{Limits, Strategy};
///
/// let chain = [
///     Strategy::digest().with_limits(Limits::default().with_time(Duration::from_millis(500))),
///     Strategy::truncate(),
/// ];
/// assert_eq!(chain[0].name(), "native:digest");
/// assert!(chain[1].is_native() && chain[1].component().is_none());
/// ```
#[derive(Clone)]
pub struct Strategy {
    name: StrategyName,
    runner: Arc<dyn Runner>,
    config: Option<Arc<str>>,
    limits: Limits,
    model: Option<ModelGrant>,
    is_vouched_for: bool,
    gate: Option<Arc<dyn Gate>>,
}

impl Strategy {
    /// Names of the native strategies, which need no component.
    pub const NATIVE: &[&str] = &["native:digest", "native:summarize", "native:truncate"];

    /// Returns the native strategy with this name, such as `native:digest`; `None` if it does not exist.
    #[must_use]
    pub fn native(name: &str) -> Option<Self> {
        match name {
            "native:digest" => Some(Self::digest()),
            "native:truncate" => Some(Self::truncate()),
            // Without a grant it reports a failure.
            "native:summarize" => Some(Self::native_of("native:summarize", native::Summarize)),
            _ => None,
        }
    }

    /// Returns `native:digest`, the strategy `tiered` compiled into the host: it keeps the newest part, cuts old outputs
    /// and replaces the rest by a structured summary, without a model.
    #[must_use]
    pub fn digest() -> Self {
        Self::native_of("native:digest", native::Digest)
    }

    /// Returns `native:summarize`, the strategy `summarize` compiled into the host: it keeps the newest part and replaces
    /// the rest by a summary of this model.
    #[must_use]
    pub fn summarize(grant: ModelGrant) -> Self {
        Self::native_of("native:summarize", native::Summarize).with_model(grant)
    }

    /// Returns `native:truncate`, which keeps the newest turns that fit and replaces the rest by a note.
    #[must_use]
    pub fn truncate() -> Self {
        Self::native_of("native:truncate", native::Truncate)
    }

    /// Returns a remote strategy. Its server is not contacted yet. A call may take ten minutes at most, or
    /// the time that the strategy declares if that is less; [`Strategy::with_limits`] changes this limit.
    #[must_use]
    pub fn remote(remote: Arc<dyn Remote>) -> Self {
        Self::connected(Arc::new(Connected::new(remote)))
    }

    /// Returns a component that an engine of the caller's runs, with the engine's name for it.
    #[must_use]
    pub fn run_by(engine: Arc<dyn Engine>) -> Self {
        let engaged = Engaged::new(Arc::clone(&engine));
        let name = StrategyName::like(engine.name(), engaged.hash());
        Self::new(name, Arc::new(engaged))
    }

    pub(crate) fn connected(connected: Arc<Connected>) -> Self {
        Self {
            limits: Limits {
                time: remote::TIME,
                ..Limits::default()
            },
            ..Self::new(connected.name(), connected)
        }
    }

    pub(crate) fn native_of(name: &'static str, runner: impl Runner + 'static) -> Self {
        Self::new(StrategyName::native(name), Arc::new(runner))
    }

    pub(crate) fn new(name: StrategyName, runner: Arc<dyn Runner>) -> Self {
        Self {
            name,
            runner,
            config: None,
            limits: Limits::default(),
            model: None,
            is_vouched_for: false,
            gate: None,
        }
    }

    /// Returns the name in marks and receipts.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns the strategy under another name, or under its own if `name` is not valid for a strategy that
    /// is not native.
    pub(crate) fn known_as(mut self, name: &str) -> Self {
        if let Some(name) = StrategyName::exact(name) {
            self.name = name;
        }
        self
    }

    /// Returns whether the strategy is native: part of the host, and trusted.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.runner.fault_key().is_none()
    }

    /// Returns where a remote strategy runs; `None` for others.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.runner.address()
    }

    /// Returns what is known of the component; `None` if the strategy is not one.
    #[must_use]
    pub fn component(&self) -> Option<ComponentInfo> {
        self.runner.component()
    }

    /// Returns the config that the strategy gets, as JSON text; `None` if it has none.
    #[must_use]
    pub fn config(&self) -> Option<&str> {
        self.config.as_deref()
    }

    /// Returns the limits of each call.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the strategy with other limits for each call.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the strategy with at most `left` time for a call.
    pub(crate) fn within(mut self, left: Duration) -> Self {
        self.limits.time = self.limits.time.min(left);
        self.limits.undeclared_time = self.limits.undeclared_time.min(left);
        self.limits.model_time = self.limits.model_time.min(left);
        self
    }

    /// Returns the strategy with permission to ask a model. Without a grant, a strategy cannot ask any model.
    #[must_use]
    pub fn with_model(mut self, grant: ModelGrant) -> Self {
        self.model = Some(grant);
        self
    }

    /// Returns the strategy with a gate for its calls. A permit is requested just before a call and dropped
    /// just after it. If the gate refuses a call, the next strategy of the chain runs
    /// ([`crate::receipt::AttemptResult::Busy`]).
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Requests a permit of the gate for one call; `None` if the gate refuses it.
    pub(crate) fn enter(&self) -> Option<Permit> {
        match &self.gate {
            None => Some(Box::new(())),
            Some(gate) => gate.enter(),
        }
    }

    /// Returns the strategy as a trusted writer of digests: the headings of a digest keep their meaning in
    /// its insertions, so the next digest reads its sections back, such as what the user asked and ruled. In
    /// insertions of other strategies these headings become plain lines.
    ///
    /// Only for trusted components, recognized by their bytes and not by their name, such as the `tiered`
    /// that ships with baler (`baler_strategies::writes_digests`).
    #[must_use]
    pub fn writing_digests(mut self) -> Self {
        self.is_vouched_for = true;
        self
    }

    /// Returns the strategy as the author of a plan.
    pub(crate) fn author(&self) -> Author<'_> {
        Author {
            name: self.name(),
            writes_digests: self.is_vouched_for || self.runner.writes_digests(),
        }
    }

    /// Returns the terms of a call.
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            name: self.name(),
            config: self.config().unwrap_or_default(),
            limits: self.limits(),
            model: self.model(),
        }
    }

    /// Returns whether the strategy asks a model, but has no grant.
    #[must_use]
    pub fn lacks_model(&self) -> bool {
        self.model.is_none() && self.runner.wants_model()
    }

    /// Returns whether the strategy asks a model and has a grant. Its calls can then take long.
    #[must_use]
    pub fn may_ask_model(&self) -> bool {
        self.model.is_some() && self.runner.wants_model()
    }

    pub(crate) const fn model(&self) -> Option<&ModelGrant> {
        self.model.as_ref()
    }

    /// Returns the strategy with a config that was checked: see [`crate::Host::configure`].
    pub(crate) fn with_checked_config(mut self, config: &str) -> Self {
        self.config = Some(config.into());
        self
    }

    pub(crate) fn runner(&self) -> &dyn Runner {
        &*self.runner
    }
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strategy")
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
