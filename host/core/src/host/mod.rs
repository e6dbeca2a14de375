//! The host: what all conversations of a program share.

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
use crate::project::{Permit, Project};
use crate::quarantine::{Asked, Quarantine};
use crate::receipt::{Attempt, AttemptResult};
use crate::report::{Decision, Introspection};
use crate::request::Request;
use crate::runner::CallFailure;
use crate::sandbox::{Compiler, LoadError, Sandbox};
use crate::situation::Situation;
use crate::state;
use crate::strategy::{ConfigError, IntrospectError, ShouldCompact, Strategy};
use crate::trigger;

/// Reads conversations, loads strategies and runs compactions.
///
/// A program needs one host. All conversations share its pool of sandboxes, its compiled code, and the
/// quarantine of strategies that fault.
///
/// ```
/// use baler_host::{Budget, Host, Request, Strategy};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::builder().without_archive().build()?;
/// let conversation = host.read(r#"{"model": "gpt-4o", "messages": [
///     {"role": "user", "content": "Which flights are there to Oslo?"}
/// ]}"#)?;
/// let request = Request::new(Budget::Tokens(1_000));
/// assert!(!host.is_due(&conversation, &request));
/// let compaction = host.compact(&conversation, &[Strategy::digest()], &request).await?;
/// assert!(!compaction.is_compacted());                        // the conversation is within its budget
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Host {
    pub(crate) reader: Reader,
    pub(crate) archive: Option<Archive>,
    pub(crate) quarantine: Quarantine,
    /// Model of the `native:summarize` that the host adds to every chain.
    pub(crate) model: Option<ModelGrant>,
    /// Gate of that `native:summarize`.
    pub(crate) summarizer_gate: Option<Arc<dyn Gate>>,
    limits: EngineLimits,
    compiler: Compiler,
    state: Option<PathBuf>,
    refuses_wasi: bool,
    /// The list of strategies that receipts name.
    pub(crate) project: Option<Project>,
    /// Created when the first component is loaded: native strategies need no pool.
    sandbox: OnceLock<Arc<Sandbox>>,
}

/// Options of a [`Host`].
#[derive(Debug, Default)]
pub struct HostBuilder {
    limits: EngineLimits,
    compiler: Option<Compiler>,
    state: Option<PathBuf>,
    key: Option<SecretKey>,
    archive: ArchiveChoice,
    format: Option<Format>,
    tokenizer: Option<Tokenizer>,
    model: Option<ModelGrant>,
    refuses_wasi: bool,
    project: Option<Project>,
}

/// Archive of a host.
#[derive(Debug, Default)]
enum ArchiveChoice {
    /// A folder in the state folder, if there is one.
    #[default]
    InState,
    None,
    Given(Archive),
}

impl HostBuilder {
    /// Sets the limits of the engine. Default: [`EngineLimits::default`].
    #[must_use]
    pub fn limits(mut self, limits: EngineLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the process in which components are compiled. Default: [`Compiler::InProcess`]. A program that
    /// loads untrusted components should use a child process, since a component can attack its compiler.
    #[must_use]
    pub fn compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Sets the state folder, which is created if it does not exist. It holds the key that seals the marks of
    /// summaries, compiled code, and the folder `archive` for removed content.
    ///
    /// Without a state folder the key lasts as long as the host, so summaries of an earlier run are read as
    /// ordinary messages; each load compiles; and removed content is lost unless [`HostBuilder::archive`]
    /// sets an archive.
    #[must_use]
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Sets the key that seals the marks of summaries, for programs that share a key. Default: the key in the
    /// state folder.
    #[must_use]
    pub fn key(mut self, key: SecretKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the archive of removed content. Default: the folder `archive` in the state folder.
    #[must_use]
    pub fn archive(mut self, archive: Archive) -> Self {
        self.archive = ArchiveChoice::Given(archive);
        self
    }

    /// Uses no archive: removed content is lost, and placeholders have no references.
    #[must_use]
    pub fn without_archive(mut self) -> Self {
        self.archive = ArchiveChoice::None;
        self
    }

    /// Sets the wire format of all documents. Default: detected for each document.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the tokenizer. Default: the vocabulary of the model that the document names.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// Grants a model to the host's own `native:summarize`. Every chain then ends with `native:summarize`,
    /// `native:digest` and `native:truncate`. Other strategies get a model by [`Strategy::with_model`].
    #[must_use]
    pub fn model(mut self, grant: ModelGrant) -> Self {
        self.model = Some(grant);
        self
    }

    /// Refuses components that import WASI. Default: they load and get WASI with nothing behind it, if this crate
    /// was built with its feature `wasi`.
    #[must_use]
    pub fn without_wasi(mut self) -> Self {
        self.refuses_wasi = true;
        self
    }

    /// Puts the host under a list of strategies: it refuses components that import WASI if the list does, and receipts
    /// say which list it is and what it sets ([`Receipt::project`](crate::Receipt)). What plans may do
    /// ([`ProjectPolicy::plans`](crate::project::ProjectPolicy)) is set for each request. Default: none.
    #[must_use]
    pub fn project(mut self, list: &Project) -> Self {
        self.refuses_wasi |= list.policy().wasi == Permit::Refuse;
        self.project = Some(list.clone());
        self
    }

    /// Creates the host.
    ///
    /// # Errors
    /// The state folder cannot be created, or other users own it or may write to it; its key or its archive
    /// cannot be opened; or the system has no random numbers for a key.
    pub fn build(self) -> Result<Host, HostError> {
        let key = match (self.key, &self.state) {
            (Some(key), _) => key,
            (None, Some(folder)) => state::key(folder)?,
            (None, None) => SecretKey::random().map_err(HostError::Random)?,
        };
        let archive = match (self.archive, &self.state) {
            (ArchiveChoice::Given(archive), _) => Some(archive),
            (ArchiveChoice::InState, Some(folder)) => Some(Archive::open(folder.join("archive"))?),
            (ArchiveChoice::InState, None) | (ArchiveChoice::None, _) => None,
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
            refuses_wasi: self.refuses_wasi,
            project: self.project,
            sandbox: OnceLock::new(),
        })
    }
}

impl Host {
    /// Returns the archive of removed content; `None` if the host has none.
    #[must_use]
    pub fn archive(&self) -> Option<&Archive> {
        self.archive.as_ref()
    }

    /// Returns a builder with default options.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Returns the host with a gate for the `native:summarize` that it adds to chains
    /// ([`HostBuilder::model`]). The strategies that a caller passes have gates of their own: see
    /// [`Strategy::with_gate`].
    #[must_use]
    pub fn with_summarizer_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.summarizer_gate = Some(gate);
        self
    }

    /// Loads a component from the bytes of its file. No code of the component runs. `name` is its name in
    /// marks and receipts, such as the file name; characters other than ASCII letters, digits and `-_.`
    /// become `-`.
    ///
    /// # Errors
    /// The bytes are no component; the component has no contract that this host supports, does not compile,
    /// or needs more than a sandbox offers; or the host failed.
    pub async fn load(&self, name: &str, component: &[u8]) -> Result<Strategy, LoadError> {
        let sandbox = self.sandbox()?;
        let guest = sandbox.load(component).await?;
        Ok(Strategy::guest(name, Arc::clone(sandbox), guest))
    }

    /// Returns the strategy with a config, a JSON object as text. The config is checked against the schema
    /// that the strategy declares, and by the strategy itself.
    ///
    /// # Errors
    /// The config is invalid, with the places and what is allowed there; or the strategy did not return its
    /// schema.
    pub async fn configure(
        &self,
        strategy: Strategy,
        config: &str,
    ) -> Result<Strategy, ConfigError> {
        let schema = if strategy.is_native() {
            String::new()
        } else {
            let description = self.introspect(&strategy, None).await.map_err(|error| {
                ConfigError::NoIntrospection {
                    strategy: strategy.name().to_owned(),
                    source: Box::new(error),
                }
            })?;
            description.config_schema
        };
        config::check(strategy.name(), config, &schema)?;
        if !strategy.is_native()
            && let Err(IntrospectError::Declared { free_text }) =
                self.introspect(&strategy, Some(config)).await
        {
            return Err(ConfigError::Declared {
                strategy: strategy.name().to_owned(),
                free_text,
            });
        }
        Ok(strategy.with_checked_config(config))
    }

    /// Asks a strategy to describe itself. With a config, the strategy also checks that config.
    ///
    /// # Errors
    /// The strategy is native, faulted, or reported a failure, such as an invalid config; or the host failed.
    pub async fn introspect(
        &self,
        strategy: &Strategy,
        config: Option<&str>,
    ) -> Result<Introspection, IntrospectError> {
        let runner = strategy.runner();
        let Some(asked) = runner.introspect(config, *strategy.limits()) else {
            return Err(IntrospectError::Native {
                strategy: strategy.name().to_owned(),
            });
        };
        asked.await.map_err(|failure| match failure {
            CallFailure::Fault(fault) => IntrospectError::Fault(fault),
            CallFailure::Declared(_, words) => IntrospectError::Declared {
                free_text: bounded(&words, 500),
            },
            CallFailure::Host(error) => IntrospectError::Host(error),
        })
    }

    /// Decides, without a strategy, whether to compact now: the conversation is over its budget, or over its
    /// context window or a limit of its provider. [`Request::cache_price`] can delay it while only the budget
    /// is exceeded. The cost does not depend on the length of the conversation.
    #[must_use]
    pub fn is_due(&self, conversation: &Conversation, request: &Request) -> bool {
        trigger::is_due(conversation, request)
    }

    /// Asks a strategy whether to compact now. If the strategy faults or leaves the decision to the host,
    /// [`Host::is_due`] decides.
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
            // No strategy can wait for what the provider refuses.
            Decision::Wait(_) => request.required || conversation.has_refused_pictures(),
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
        let asked = Asked::of(key, conversation);
        if !self.quarantine.admits(&asked, Instant::now()) {
            attempt.result = AttemptResult::Quarantined;
            return Decision::HostDecides;
        }
        let situation = Arc::new(self.situation(conversation, request));
        let call = runner.should_compact(strategy.terms(), &situation).await;
        attempt.record_usage(call.usage, request.free_text_in_receipt);
        let failure = call.result.as_ref().err();
        self.quarantine
            .record_call(&asked, failure, call.has_started);
        attempt.record_decision(call.result, request.free_text_in_receipt)
    }

    pub(crate) const fn limits(&self) -> &EngineLimits {
        &self.limits
    }

    /// Ends the quarantine of all strategies.
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
        let sandbox = Sandbox::new(self.limits, self.compiler.clone(), state, self.refuses_wasi)?;
        Ok(self.sandbox.get_or_init(|| Arc::new(sandbox)))
    }
}
