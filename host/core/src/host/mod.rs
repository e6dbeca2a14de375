//! The host: what all conversations of a program share.

mod as_strategy;
mod builder;
mod chain;
#[cfg(feature = "sandbox")]
mod components;
mod config;
#[cfg(feature = "config-schemas")]
mod schema;

use std::sync::Arc;
use std::time::Instant;

use baler_conversation::{Conversation, Deadline, Format, ReadError, ReadOptions, Reader};

pub use builder::HostBuilder;

use crate::archive::Archive;
use crate::bounded::bounded;
use crate::compaction::Compaction;
use crate::error::HostError;
use crate::gate::Gate;
use crate::model::ModelGrant;
use crate::quarantine::{Asked, Quarantine};
use crate::receipt::{Attempt, AttemptResult};
use crate::remote::{AnswerError, Operation};
use crate::report::{Decision, Introspection};
use crate::request::Request;
use crate::runner::CallFailure;
use crate::situation::Situation;
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
    #[cfg(feature = "sandbox")]
    components: components::Components,
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

    /// Reads a document: a request body, its list of messages, or a session log of a program of
    /// [`LogKind`](baler_conversation::session_logs::LogKind), which becomes the body of its next request.
    ///
    /// # Errors
    /// The document is not a conversation in a known format. A conversation that breaks a rule of its format is
    /// no error: see [`Conversation::violations`].
    pub fn read(&self, document: impl Into<Arc<str>>) -> Result<Conversation, ReadError> {
        self.reader.read(document)
    }

    /// Reads a document from bytes, as [`Host::read`].
    ///
    /// # Errors
    /// As [`Host::read`], or the bytes are not UTF-8.
    pub fn read_bytes(&self, document: Vec<u8>) -> Result<Conversation, ReadError> {
        self.reader.read_bytes(document)
    }

    /// Reads a document from bytes with these options.
    ///
    /// # Errors
    /// As [`Host::read_bytes`].
    pub fn read_with(
        &self,
        document: Vec<u8>,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        self.reader.read_with(document, options)
    }

    /// Reads a document of this format without repairs.
    pub(crate) fn read_as(
        &self,
        document: &str,
        format: Format,
    ) -> Result<Conversation, ReadError> {
        self.reader.read_body_as(document.into(), format)
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
        let said = runner.introspect(config, *strategy.limits()).await;
        let said = said.ok_or_else(|| IntrospectError::Native {
            strategy: strategy.name().to_owned(),
        })?;
        said.map_err(|failure| match failure {
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

    /// Makes `conversation` fit its budget, with the first strategy of `chain` whose result passes all
    /// checks. `native:digest` and `native:truncate` always end the chain.
    ///
    /// Whatever strategies do, the resulting document obeys the rules of its format, holds all protected
    /// units, and is smaller; or it is the input, unchanged. Dropping the future stops the work and changes
    /// nothing.
    ///
    /// If the conversation was repaired ([`Conversation::repaired`]), the messages that the repair changed or
    /// removed are archived as well. The receipt lists the repairs; the resulting conversation does not hold
    /// them any more.
    ///
    /// # Errors
    /// Returns an error if removed content could not be archived, in which case nothing was removed, or if
    /// the request pins a unit that does not exist.
    pub async fn compact(
        &self,
        conversation: &Conversation,
        chain: &[Strategy],
        request: &Request,
    ) -> Result<Compaction, HostError> {
        let archive = self.archive.as_ref();
        chain::compact(self, archive, conversation, chain, request).await
    }

    /// Answers a question of another host to its remote strategy, with the first strategy of `chain`; for a
    /// plan, the later ones are its fallbacks. Request and answer are JSON texts:
    /// [`Operation::request_schema`], [`Operation::answer_schema`].
    ///
    /// A failure that a strategy declares, such as for an invalid config, is an answer and not an error. Nothing is
    /// archived: that is for the other host, which has the conversation.
    ///
    /// # Errors
    /// Returns an error if `request` is not a question of the contract, or if the host itself failed.
    pub async fn answer(
        &self,
        question: Operation,
        request: &str,
        chain: &[Strategy],
        deadline: &Deadline,
    ) -> Result<String, AnswerError> {
        as_strategy::answer(self, question, request, chain, deadline).await
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
        let situation = Arc::new(Situation::new(
            conversation,
            request,
            self.archive.is_some(),
        ));
        let call = runner.should_compact(strategy.terms(), &situation).await;
        attempt.record_usage(call.usage, request.free_text_in_receipt);
        let failure = call.result.as_ref().err();
        self.quarantine
            .record_call(&asked, failure, call.has_started);
        attempt.record_decision(call.result, request.free_text_in_receipt)
    }

    /// Ends the quarantine of all strategies.
    pub fn lift_quarantine(&self) {
        self.quarantine.lift();
    }
}
