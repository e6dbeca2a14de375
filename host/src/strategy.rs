//! Strategies, as a host knows them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use crate::gate::{Entered, Gate};
use crate::limits::Limits;
use crate::models::ModelGrant;
use crate::plan::Author;
use crate::receipt::ComponentInfo;
use crate::remote::{self, AskedAs, Connected, Remote};
use crate::report::Introspection;
use crate::sandbox::{Digest, Guest};

/// A strategy that can be called: a component that was loaded, or one of the host's own.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Strategy {
    name: Arc<str>,
    kind: Kind,
    config: Arc<str>,
    limits: Limits,
    model: Option<ModelGrant>,
    is_vouched_for: bool,
    gate: Option<Arc<dyn Gate>>,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Guest(Arc<LoadedGuest>),
    Remote(Arc<Connected>),
    Digest,
    Truncate,
    /// It asks the model of its grant.
    Summarize,
}

/// A guest, and what it said of itself when it was first asked.
pub(crate) struct LoadedGuest {
    pub(crate) guest: Guest,
    pub(crate) said: OnceCell<Option<Introspection>>,
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
            "native:summarize" => Some(Self::new("native:summarize", Kind::Summarize)),
            _ => None,
        }
    }

    /// `native:digest`: a structured summary of what is dropped, written without a model.
    #[must_use]
    pub fn digest() -> Self {
        Self::new("native:digest", Kind::Digest)
    }

    /// `native:summarize`: the newest messages, and a summary of the others that this model writes.
    #[must_use]
    pub fn summarize(grant: ModelGrant) -> Self {
        Self::new("native:summarize", Kind::Summarize).with_model(grant)
    }

    /// `native:truncate`: the newest turns that fit, with a note for the rest.
    #[must_use]
    pub fn truncate() -> Self {
        Self::new("native:truncate", Kind::Truncate)
    }

    /// A strategy that runs somewhere else. Nothing is asked of it yet. It may take ten minutes
    /// where it does not say how long it wants, and never more: see [`Strategy::with_limits`].
    #[must_use]
    pub fn remote(remote: Arc<dyn Remote>) -> Self {
        let connected = Connected::new(remote);
        Self {
            limits: Limits {
                time: remote::TIME,
                ..Limits::default()
            },
            ..Self::new(&connected.name(), Kind::Remote(Arc::new(connected)))
        }
    }

    pub(crate) fn guest(name: &str, guest: Guest, limits: Limits) -> Self {
        let loaded = LoadedGuest {
            guest,
            said: OnceCell::new(),
        };
        // The host's own names are its own: marks and receipts go by them.
        let name = name.replace(':', "-");
        Self {
            limits,
            ..Self::new(&name, Kind::Guest(Arc::new(loaded)))
        }
    }

    fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            config: "".into(),
            limits: Limits::default(),
            model: None,
            is_vouched_for: false,
            gate: None,
        }
    }

    /// The name under which the host knows it, and which stands in marks and receipts.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same strategy under another name, unless that is empty or not fit for a strategy
    /// from outside.
    pub(crate) fn known_as(mut self, name: &str) -> Self {
        if !name.is_empty() && name == remote::plain(name) {
            self.name = name.into();
        }
        self
    }

    /// Whether it is one of the host's own.
    #[must_use]
    pub const fn is_native(&self) -> bool {
        matches!(self.kind, Kind::Digest | Kind::Truncate | Kind::Summarize)
    }

    /// Where it runs, for one that runs somewhere else.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        match &self.kind {
            Kind::Remote(connected) => Some(connected.address()),
            Kind::Guest(_) | Kind::Digest | Kind::Truncate | Kind::Summarize => None,
        }
    }

    /// By what its faults are counted; none for one that cannot fault.
    pub(crate) fn accountable(&self) -> Option<&Digest> {
        match &self.kind {
            Kind::Guest(loaded) => Some(&loaded.guest.digest),
            Kind::Remote(connected) => Some(&connected.digest),
            Kind::Digest | Kind::Truncate | Kind::Summarize => None,
        }
    }

    /// What is known of its component; none for one that is none.
    #[must_use]
    pub fn component(&self) -> Option<ComponentInfo> {
        match &self.kind {
            Kind::Guest(loaded) => Some(ComponentInfo {
                digest: loaded.guest.digest.to_string(),
                contract: loaded.guest.contract.clone(),
                permissions: loaded.guest.permissions.clone(),
                bytes: loaded.guest.bytes,
            }),
            Kind::Remote(_) | Kind::Digest | Kind::Truncate | Kind::Summarize => None,
        }
    }

    /// The config that it will get, as JSON text; empty for none.
    #[must_use]
    pub fn config(&self) -> &str {
        &self.config
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
    /// ([`crate::AttemptResult::Busy`]).
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Passes its gate, for one call; `None` where it may not be asked now.
    pub(crate) fn enter(&self) -> Option<Entered> {
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
            name: &self.name,
            writes_digests: self.is_vouched_for || matches!(self.kind, Kind::Digest),
        }
    }

    /// What a remote strategy is asked with.
    pub(crate) fn asked_as(&self) -> AskedAs<'_> {
        AskedAs {
            name: &self.name,
            config: self.config(),
            limits: self.limits(),
        }
    }

    /// Whether it wants to ask a model, and was not granted one.
    #[must_use]
    pub fn lacks_model(&self) -> bool {
        self.model.is_none() && self.wants_model()
    }

    /// Whether it wants to ask a model, and was granted one: then a call of it can take long.
    #[must_use]
    pub fn may_ask_model(&self) -> bool {
        self.model.is_some() && self.wants_model()
    }

    fn wants_model(&self) -> bool {
        match &self.kind {
            Kind::Guest(loaded) => loaded.guest.may_ask(),
            Kind::Summarize => true,
            Kind::Remote(_) | Kind::Digest | Kind::Truncate => false,
        }
    }

    pub(crate) const fn model(&self) -> Option<&ModelGrant> {
        self.model.as_ref()
    }

    /// The same strategy with a config that was checked: see [`crate::Host::configure`].
    pub(crate) fn with_checked_config(mut self, config: &str) -> Self {
        self.config = config.into();
        self
    }

    pub(crate) const fn kind(&self) -> &Kind {
        &self.kind
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
