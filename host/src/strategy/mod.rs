//! Strategies, as a host knows them.

mod config_error;
mod introspect_error;
mod should_compact;

pub use config_error::ConfigError;
pub use introspect_error::IntrospectError;
pub use should_compact::ShouldCompact;

pub use crate::gate::{Gate, Permit};
pub use crate::limits::{CountedFaults, EngineLimits};
pub use crate::report::{Decision, Introspection, LogLevel, Metric, MetricValue, Permission};
pub use crate::sandbox::LoadError;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::limits::Limits;
use crate::model::ModelGrant;
use crate::native;
use crate::plan::Author;
use crate::receipt::ComponentInfo;
use crate::remote::{self, Connected, Remote};
use crate::runner::{Runner, Terms};
use crate::sandbox::{self, Guest, GuestRunner, Sandbox};
use crate::strategy_name::StrategyName;

/// The most bytes of a config, and of the schema that a strategy declares for it.
pub(crate) const MAX_CONFIG_BYTES: usize = 64 << 10;

/// Returns the contracts that hosts of this version speak, newest first.
#[must_use]
pub fn contracts() -> &'static [&'static str] {
    sandbox::CONTRACTS
}

/// A strategy that can be called: a component that was loaded, or one of the host's own.
///
/// Cheap to clone.
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
    /// The names of the strategies that need no component.
    pub const NATIVE: &[&str] = &["native:digest", "native:summarize", "native:truncate"];

    /// The strategy of the host's own called `name`, such as `native:digest`.
    #[must_use]
    pub fn native(name: &str) -> Option<Self> {
        match name {
            "native:digest" => Some(Self::digest()),
            "native:truncate" => Some(Self::truncate()),
            // Without a model it fails, as any strategy does that was granted none.
            "native:summarize" => Some(Self::native_of("native:summarize", native::Summarize)),
            _ => None,
        }
    }

    /// `native:digest`: a structured summary of what is dropped, written without a model.
    #[must_use]
    pub fn digest() -> Self {
        Self::native_of("native:digest", native::Digest)
    }

    /// `native:summarize`: the newest messages, and a summary of the others that this model writes.
    #[must_use]
    pub fn summarize(grant: ModelGrant) -> Self {
        Self::native_of("native:summarize", native::Summarize).with_model(grant)
    }

    /// `native:truncate`: the newest turns that fit, with a note for the rest.
    #[must_use]
    pub fn truncate() -> Self {
        Self::native_of("native:truncate", native::Truncate)
    }

    /// A strategy that runs somewhere else. Nothing is asked of it yet. It may take ten minutes
    /// where it does not say how long it wants, and never more: see [`Strategy::with_limits`].
    #[must_use]
    pub fn remote(remote: Arc<dyn Remote>) -> Self {
        Self::connected(Arc::new(Connected::new(remote)))
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

    pub(crate) fn guest(name: &str, sandbox: Arc<Sandbox>, guest: Guest) -> Self {
        let name = StrategyName::like(name, &guest.hash);
        Self::new(name, Arc::new(GuestRunner::new(sandbox, guest)))
    }

    fn native_of(name: &'static str, runner: impl Runner + 'static) -> Self {
        Self::new(StrategyName::native(name), Arc::new(runner))
    }

    fn new(name: StrategyName, runner: Arc<dyn Runner>) -> Self {
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

    /// The name under which the host knows it, and which stands in marks and receipts.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The same strategy under another name, unless that is empty or not fit for a strategy
    /// from outside.
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

    /// What a call of it may use.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The same strategy under other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same strategy, which has no more time than what is left of a deadline.
    pub(crate) fn within(mut self, left: Duration) -> Self {
        self.limits.time = self.limits.time.min(left);
        self.limits.undeclared_time = self.limits.undeclared_time.min(left);
        self.limits.model_time = self.limits.model_time.min(left);
        self
    }

    /// The same strategy, which may ask this model. Without a grant no strategy asks any.
    #[must_use]
    pub fn with_model(mut self, grant: ModelGrant) -> Self {
        self.model = Some(grant);
        self
    }

    /// The same strategy, whose calls have to pass this gate. It is asked just before the strategy
    /// is, and left just after. Where it lets a call not in, a chain goes on without the strategy
    /// ([`crate::receipt::AttemptResult::Busy`]).
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Passes its gate, for one call; `None` where it may not be asked now.
    pub(crate) fn enter(&self) -> Option<Permit> {
        match &self.gate {
            None => Some(Box::new(())),
            Some(gate) => gate.enter(),
        }
    }

    /// The same strategy, in whose insertions headings of a digest count: the next digest reads back,
    /// section by section, what they say that was done, and what the user asked and ruled. In what any
    /// other strategy inserts these headings become plain lines.
    ///
    /// Only for a component that one vouches for, by its bytes and not by its name, such as `tiered` as it
    /// ships with baler (`baler_strategies::writes_digests`).
    #[must_use]
    pub fn writing_digests(mut self) -> Self {
        self.is_vouched_for = true;
        self
    }

    /// As the author of a plan.
    pub(crate) fn author(&self) -> Author<'_> {
        Author {
            name: self.name(),
            writes_digests: self.is_vouched_for || self.runner.writes_digests(),
        }
    }

    /// On which terms it is called.
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            name: self.name(),
            config: self.config().unwrap_or_default(),
            limits: self.limits(),
            model: self.model(),
        }
    }

    /// Whether it wants to ask a model, and was not granted one.
    #[must_use]
    pub fn lacks_model(&self) -> bool {
        self.model.is_none() && self.runner.wants_model()
    }

    /// Whether it wants to ask a model, and was granted one: then a call of it can take long.
    #[must_use]
    pub fn may_ask_model(&self) -> bool {
        self.model.is_some() && self.runner.wants_model()
    }

    pub(crate) const fn model(&self) -> Option<&ModelGrant> {
        self.model.as_ref()
    }

    /// The same strategy with a config that was checked: see [`crate::Host::configure`].
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
