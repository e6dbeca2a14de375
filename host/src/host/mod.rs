//! The host: everything that calls have in common.

mod config;
mod read;

pub use config::ConfigError;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use baler_conversation::marks::SecretKey;
use baler_conversation::tokenizers::Tokenizer;
use baler_conversation::{Conversation, Format, Reader};

use crate::archive::Archive;
use crate::bounded::bounded;
use crate::error::HostError;
use crate::fault::{Declared, Fault, RemoteProblem};
use crate::gate::Gate;
use crate::limits::{EngineLimits, Limits};
use crate::models::ModelGrant;
use crate::native;
use crate::quarantine::Quarantine;
use crate::receipt::{Attempt, AttemptResult};
use crate::report::{Decision, Introspection, Report};
use crate::request::Request;
use crate::sandbox::{CallFailure, Compiler, Digest, LoadError, Sandbox};
use crate::situation::Situation;
use crate::state;
use crate::strategy::{Kind, LoadedGuest, Strategy};
use crate::trigger;

/// Reads conversations, loads strategies and runs them. One for a program: what it holds (the
/// pool of sandboxes, compiled code, counts) is shared by all conversations.
#[derive(Debug)]
pub struct Host {
    pub(crate) reader: Reader,
    pub(crate) archive: Option<Archive>,
    pub(crate) quarantine: Quarantine,
    /// What its own summarizer asks, before the chain goes on without a model.
    pub(crate) model: Option<ModelGrant>,
    /// What that summarizer has to pass.
    pub(crate) summarizer_gate: Option<Arc<dyn Gate>>,
    limits: EngineLimits,
    compiler: Compiler,
    state: Option<PathBuf>,
    /// Made when the first component is loaded: a host that runs only its own strategies has
    /// no need of a pool.
    sandbox: OnceLock<Sandbox>,
}

/// Makes a [`Host`].
#[derive(Debug, Default)]
pub struct HostBuilder {
    limits: EngineLimits,
    compiler: Option<Compiler>,
    state: Option<PathBuf>,
    key: Option<SecretKey>,
    archive: Keeping,
    format: Option<Format>,
    tokenizer: Option<Tokenizer>,
    model: Option<ModelGrant>,
}

/// Where what leaves goes.
#[derive(Debug, Default)]
enum Keeping {
    /// Into the state folder, where there is one.
    #[default]
    State,
    Nowhere,
    In(Archive),
}

impl HostBuilder {
    /// Limits of the engine. Default: [`EngineLimits::default`].
    #[must_use]
    pub fn limits(mut self, limits: EngineLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Where components are compiled. Default: [`Compiler::InProcess`]; see there for why a
    /// program that takes strangers' components should choose another.
    #[must_use]
    pub fn compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// A folder of the host's own, made where it is not there: for the key that summaries are
    /// marked with, for compiled code, and in `archive` for what leaves. Without one the key lasts
    /// as long as the host, so summaries of an earlier run are read as ordinary messages, each
    /// load compiles, and what leaves is gone where [`HostBuilder::archive`] names no place.
    #[must_use]
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// The key that summaries are marked with, for programs that share one. Default: that of
    /// the state folder.
    #[must_use]
    pub fn key(mut self, key: SecretKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Where what leaves a conversation is stored. Default: the folder `archive` in the state
    /// folder.
    #[must_use]
    pub fn archive(mut self, archive: Archive) -> Self {
        self.archive = Keeping::In(archive);
        self
    }

    /// What leaves a conversation is gone, and placeholders carry no references.
    #[must_use]
    pub fn without_archive(mut self) -> Self {
        self.archive = Keeping::Nowhere;
        self
    }

    /// The wire format. Default: detected for each document.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// What counts tokens. Default: the vocabulary of the model that the document names.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// A model for the host's own summarizer. With it every chain ends with `native:summarize`,
    /// `native:digest` and `native:truncate`. Strategies are granted theirs one by one
    /// ([`Strategy::with_model`]).
    #[must_use]
    pub fn model(mut self, grant: ModelGrant) -> Self {
        self.model = Some(grant);
        self
    }

    /// The host.
    ///
    /// # Errors
    /// The state folder cannot be made or is open to others; or the system has no random
    /// numbers for a key.
    pub fn build(self) -> Result<Host, HostError> {
        let key = match (self.key, &self.state) {
            (Some(key), _) => key,
            (None, Some(folder)) => state::key(folder)?,
            (None, None) => SecretKey::random().map_err(|error| HostError::Sandbox {
                what: format!("no random numbers for a key: {error}"),
            })?,
        };
        let archive = match (self.archive, &self.state) {
            (Keeping::In(archive), _) => Some(archive),
            (Keeping::State, Some(folder)) => Some(Archive::open(folder.join("archive"))?),
            (Keeping::State, None) | (Keeping::Nowhere, _) => None,
        };
        Ok(Host {
            reader: Reader::new(key)
                .with_format(self.format)
                .with_tokenizer(self.tokenizer),
            archive,
            quarantine: Quarantine::new(&self.limits),
            model: self.model,
            summarizer_gate: None,
            limits: self.limits,
            compiler: self.compiler.unwrap_or(Compiler::InProcess),
            state: self.state,
            sandbox: OnceLock::new(),
        })
    }
}

/// A strategy's answer to whether it is time, and what asking it cost.
#[derive(Debug)]
pub struct ShouldCompact {
    /// The answer; [`Decision::HostDecides`] where the strategy failed.
    pub decision: Decision,
    /// Whether it is time, the host's own view included: where the strategy leaves it to the
    /// host, it is when the conversation is over its budget.
    pub is_time: bool,
    /// The strategy's turn.
    pub attempt: Attempt,
}

/// A strategy could not be asked who it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntrospectError {
    /// It is one of the host's own and has nothing to tell.
    #[error("`{0}` is the host's own and takes no config")]
    Native(String),
    /// It faulted.
    #[error("the strategy cannot say who it is: {0}")]
    Fault(Fault),
    /// It reported a failure, in its own words.
    #[error("the strategy reports: {0}")]
    Declared(String),
    /// The host failed.
    #[error(transparent)]
    Host(HostError),
}

impl IntrospectError {
    /// What happened, without the strategy's own words: see [`ConfigError::without_words`].
    #[must_use]
    pub fn without_words(&self) -> String {
        match self {
            Self::Declared(_) => "the strategy reports a failure".to_owned(),
            error => error.to_string(),
        }
    }
}

impl Host {
    /// Where what leaves conversations is stored; none where it is gone.
    #[must_use]
    pub fn archive(&self) -> Option<&Archive> {
        self.archive.as_ref()
    }

    /// A builder with all defaults.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The same host, where calls of `native:summarize` have to pass this gate when the host itself
    /// puts it behind a chain ([`HostBuilder::model`]). Strategies that a chain names have gates of
    /// their own: see [`Strategy::with_gate`].
    #[must_use]
    pub fn with_summarizer_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.summarizer_gate = Some(gate);
        self
    }

    /// Makes a component ready to be called. Nothing of it runs. `name` is how the host will
    /// call it in marks and receipts, such as the file's name.
    ///
    /// # Errors
    /// It is no component, or not one of a contract that this host speaks, or it wants more
    /// than a sandbox has.
    pub async fn load(&self, name: &str, component: &[u8]) -> Result<Strategy, LoadError> {
        let guest = self
            .sandbox()
            .map_err(|error| LoadError::NoCompiler {
                what: error.to_string(),
            })?
            .load(component)
            .await?;
        Ok(Strategy::guest(name, guest, Limits::default()))
    }

    /// Gives a strategy its config, after a check against the schema that it declares and by
    /// the strategy itself.
    ///
    /// # Errors
    /// The config is wrong, with the places and what is allowed there; or the strategy could
    /// not be asked for its schema.
    pub async fn configure(
        &self,
        strategy: Strategy,
        config: &str,
    ) -> Result<Strategy, ConfigError> {
        let schema = match strategy.kind() {
            Kind::Digest | Kind::Truncate | Kind::Summarize => String::new(),
            Kind::Guest(_) | Kind::Remote(_) => {
                let said = self.introspect(&strategy, None).await.map_err(|error| {
                    ConfigError::NoIntrospection {
                        strategy: strategy.name().to_owned(),
                        error: Box::new(error),
                    }
                })?;
                said.config_schema
            }
        };
        config::check(strategy.name(), config, &schema)?;
        if !strategy.is_native()
            && let Err(IntrospectError::Declared(words)) =
                self.introspect(&strategy, Some(config)).await
        {
            return Err(ConfigError::Declared {
                strategy: strategy.name().to_owned(),
                words,
            });
        }
        Ok(strategy.with_checked_config(config))
    }

    /// Asks a strategy who it is. With a config it also tells whether that makes sense to it.
    ///
    /// # Errors
    /// It faulted or reported a failure, or it is native.
    pub async fn introspect(
        &self,
        strategy: &Strategy,
        config: Option<&str>,
    ) -> Result<Introspection, IntrospectError> {
        let result = match strategy.kind() {
            Kind::Digest | Kind::Truncate | Kind::Summarize => {
                return Err(IntrospectError::Native(strategy.name().to_owned()));
            }
            Kind::Remote(connected) => connected.introspect(config, strategy.limits()).await,
            Kind::Guest(loaded) => {
                let sandbox = self.sandbox().map_err(IntrospectError::Host)?;
                sandbox
                    .introspect(&loaded.guest, config, *strategy.limits())
                    .await
                    .result
            }
        };
        result.map_err(|failure| match failure {
            CallFailure::Fault(fault) => IntrospectError::Fault(fault),
            CallFailure::Declared(_, words) => IntrospectError::Declared(bounded(&words, 500)),
            CallFailure::Host(error) => IntrospectError::Host(error),
        })
    }

    /// What a component said of itself when it was first asked; none where it could not say.
    /// A guest that hangs here costs its callers once, and no more than a moment.
    pub(crate) async fn said<'a>(
        &self,
        loaded: &'a LoadedGuest,
        limits: &Limits,
    ) -> Option<&'a Introspection> {
        let limits = Limits {
            time: limits.time.min(std::time::Duration::from_millis(200)),
            ..*limits
        };
        loaded
            .said
            .get_or_init(async || {
                let sandbox = self.sandbox().ok()?;
                sandbox
                    .introspect(&loaded.guest, None, limits)
                    .await
                    .result
                    .ok()
            })
            .await
            .as_ref()
    }

    /// What a call of a component may use: its own limits, with the time that it declares where
    /// that is less.
    pub(crate) async fn limits_of(&self, strategy: &Strategy, loaded: &LoadedGuest) -> Limits {
        let limits = *strategy.limits();
        let asks = strategy.model().is_some() && loaded.guest.may_ask();
        let most = if asks { limits.model_time } else { limits.time };
        let said = self.said(loaded, &limits).await;
        let declared = said
            .and_then(|said| said.timeout_ms)
            .map(|ms| std::time::Duration::from_millis(ms.into()))
            .filter(|declared| !declared.is_zero());
        Limits {
            time: declared.unwrap_or(limits.undeclared_time).min(most),
            ..limits
        }
    }

    /// Whether it is time by the host's own view: the conversation is over its budget, or over
    /// what its provider takes. Asking costs next to nothing, however long the conversation.
    #[must_use]
    pub fn is_due(&self, conversation: &Conversation, request: &Request) -> bool {
        trigger::is_due(conversation, request)
    }

    /// Asks a strategy whether it is time to compact. A strategy that faults has no opinion.
    pub async fn should_compact(
        &self,
        conversation: &Conversation,
        strategy: &Strategy,
        request: &Request,
    ) -> ShouldCompact {
        let mut attempt = Attempt::of(strategy);
        let entered = strategy.enter();
        let decision = match strategy.kind() {
            _ if entered.is_none() => {
                attempt.result = AttemptResult::Busy;
                Decision::HostDecides
            }
            Kind::Digest | Kind::Truncate | Kind::Summarize => {
                attempt.result = AttemptResult::Accepted;
                Decision::HostDecides
            }
            Kind::Remote(connected) => {
                let start = std::time::Instant::now();
                if self.quarantine.admits(&connected.digest, start) {
                    let situation = self.situation(conversation, request);
                    let result = connected
                        .should_compact(&situation, strategy.asked_as())
                        .await;
                    attempt.record_time(start);
                    self.judge(&connected.digest, result.as_ref().err(), true);
                    attempt.decided(result, request.words_in_receipt)
                } else {
                    attempt.result = AttemptResult::Quarantined;
                    Decision::HostDecides
                }
            }
            Kind::Guest(loaded) => match self.sandbox() {
                Err(error) => {
                    attempt.record_failure(CallFailure::Host(error), request.words_in_receipt);
                    Decision::HostDecides
                }
                Ok(sandbox) => {
                    let situation = Arc::new(self.situation(conversation, request));
                    let call = sandbox
                        .should_compact(
                            &loaded.guest,
                            &situation,
                            strategy.config(),
                            *strategy.limits(),
                        )
                        .await;
                    attempt.record_usage(call.usage, request.words_in_receipt);
                    let failure = call.result.as_ref().err();
                    self.judge(&loaded.guest.digest, failure, call.has_started);
                    attempt.decided(call.result, request.words_in_receipt)
                }
            },
        };
        let is_time = match &decision {
            Decision::Compact(_) => true,
            Decision::Wait(_) => request.required,
            Decision::HostDecides => self.is_due(conversation, request),
        };
        ShouldCompact {
            decision,
            is_time,
            attempt,
        }
    }

    /// Lets all components that rest because of their faults run again.
    pub fn lift_quarantine(&self) {
        self.quarantine.lift();
    }

    /// Counts what a call of a strategy came to. Only its own faults count against it, and of
    /// these the ones that this host is to count. `has_started` is that a component was ready to
    /// be asked.
    pub(crate) fn judge(&self, digest: &Digest, failure: Option<&CallFailure>, has_started: bool) {
        let is_unprovoked = |fault: &Fault| match fault {
            // Many requests at once make connections wait.
            Fault::Remote { problem } => *problem == RemoteProblem::Unreachable,
            // The time of a call may be a share of what a client made of it.
            Fault::Timeout { .. } => false,
            _ => !has_started,
        };
        match failure {
            // The strategy was not asked, so nothing is known of it.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::NoRoom,
            })) => {}
            Some(CallFailure::Fault(fault)) if self.quarantine.counts(is_unprovoked(fault)) => {
                self.quarantine.faulted(digest, std::time::Instant::now());
            }
            // Nobody knows whether it was there.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::ConnectTimeout,
            })) => {}
            // With a fault that does not count it was there, so it does not go on resting.
            Some(CallFailure::Fault(_)) | None => self.quarantine.succeeded(digest),
            Some(CallFailure::Declared(..) | CallFailure::Host(_)) => {}
        }
    }

    pub(crate) fn situation(&self, conversation: &Conversation, request: &Request) -> Situation {
        Situation::new(conversation, request, self.archive.is_some())
    }

    pub(crate) fn sandbox(&self) -> Result<&Sandbox, HostError> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox);
        }
        let state = self
            .state
            .as_deref()
            .map(|folder| (folder, self.reader.key().clone()));
        let sandbox = Sandbox::new(self.limits, self.compiler.clone(), state)?;
        Ok(self.sandbox.get_or_init(|| sandbox))
    }

    /// Runs a strategy of the host's own.
    pub(crate) fn run_native(kind: &Kind, situation: &Situation) -> Option<crate::report::Report> {
        match kind {
            Kind::Digest => Some(native::digest(situation)),
            Kind::Truncate => Some(native::truncate(situation)),
            Kind::Guest(_) | Kind::Remote(_) | Kind::Summarize => None,
        }
    }

    /// The same for the one that asks a model.
    pub(crate) async fn run_summarize(
        strategy: &Strategy,
        situation: &Situation,
    ) -> Result<Report, CallFailure> {
        let Some(grant) = strategy.model() else {
            let why = "no model was granted to it".to_owned();
            return Err(CallFailure::Declared(Declared::Model, why));
        };
        let deadline = baler_conversation::Deadline::moment_after(strategy.limits().model_time);
        native::summarize(situation, grant, deadline)
            .await
            .map_err(|(declared, why)| CallFailure::Declared(declared, why))
    }
}
