//! The host: everything that calls have in common.

mod config;
mod read;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use baler_conversation::marks::SecretKey;
use baler_conversation::tokenizers::Tokenizer;
use baler_conversation::{Conversation, Format, Reader};

use crate::archive::Archive;
use crate::bounded::bounded;
use crate::error::HostError;

use crate::gate::Gate;
use crate::limits::EngineLimits;
use crate::model::ModelGrant;
use crate::quarantine::Quarantine;
use crate::receipt::{Attempt, AttemptResult};
use crate::report::{Decision, Introspection};
use crate::request::Request;
use crate::runner::CallFailure;
use crate::sandbox::{Compiler, LoadError, Sandbox};
use crate::situation::Situation;
use crate::state;
use crate::strategy::{ConfigError, IntrospectError, ShouldCompact, Strategy};
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
    sandbox: OnceLock<Arc<Sandbox>>,
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
            (None, None) => SecretKey::random().map_err(HostError::Random)?,
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
        let sandbox = self.sandbox()?;
        let guest = sandbox.load(component).await?;
        Ok(Strategy::guest(name, Arc::clone(sandbox), guest))
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
        let schema = if strategy.is_native() {
            String::new()
        } else {
            let said = self.introspect(&strategy, None).await.map_err(|error| {
                ConfigError::NoIntrospection {
                    strategy: strategy.name().to_owned(),
                    error: Box::new(error),
                }
            })?;
            said.config_schema
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
        let runner = strategy.runner();
        let Some(asked) = runner.introspect(config, *strategy.limits()) else {
            return Err(IntrospectError::Native(strategy.name().to_owned()));
        };
        asked.await.map_err(|failure| match failure {
            CallFailure::Fault(fault) => IntrospectError::Fault(fault),
            CallFailure::Declared(_, words) => IntrospectError::Declared(bounded(&words, 500)),
            CallFailure::Host(error) => IntrospectError::Host(error),
        })
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
        let decision = self
            .decision(conversation, strategy, request, &mut attempt)
            .await;
        let is_due = match &decision {
            Decision::Compact(_) => true,
            Decision::Wait(_) => request.required,
            Decision::HostDecides => self.is_due(conversation, request),
        };
        ShouldCompact {
            decision,
            is_due,
            attempt,
        }
    }

    async fn decision(
        &self,
        conversation: &Conversation,
        strategy: &Strategy,
        request: &Request,
        attempt: &mut Attempt,
    ) -> Decision {
        let Some(_entered) = strategy.enter() else {
            attempt.result = AttemptResult::Busy;
            return Decision::HostDecides;
        };
        let runner = strategy.runner();
        let Some(key) = runner.fault_key() else {
            attempt.result = AttemptResult::Accepted;
            return Decision::HostDecides;
        };
        if !self.quarantine.admits(key, Instant::now()) {
            attempt.result = AttemptResult::Quarantined;
            return Decision::HostDecides;
        }
        let situation = Arc::new(self.situation(conversation, request));
        let call = runner.should_compact(strategy.terms(), &situation).await;
        attempt.record_usage(call.usage, request.free_text_in_receipt);
        let failure = call.result.as_ref().err();
        self.quarantine.judge(key, failure, call.has_started);
        attempt.decided(call.result, request.free_text_in_receipt)
    }

    /// Lets all components that rest because of their faults run again.
    pub fn lift_quarantine(&self) {
        self.quarantine.lift();
    }

    pub(crate) fn situation(&self, conversation: &Conversation, request: &Request) -> Situation {
        Situation::new(conversation, request, self.archive.is_some())
    }

    fn sandbox(&self) -> Result<&Arc<Sandbox>, HostError> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox);
        }
        let state = self
            .state
            .as_deref()
            .map(|folder| (folder, self.reader.key().clone()));
        let sandbox = Sandbox::new(self.limits, self.compiler.clone(), state)?;
        Ok(self.sandbox.get_or_init(|| Arc::new(sandbox)))
    }
}
