//! Packs an agent's conversation so that it fits the model's context window again.
//!
//! What to keep is decided by a *strategy*: a WebAssembly component that anyone can write, run
//! in a sandbox that it cannot leave, hang or exhaust. Whatever it does, what comes back is a
//! conversation that its provider accepts, or the same conversation with the reason.
//!
//! [`Host`] is the main type. It reads a [`Conversation`], loads a [`Strategy`], and makes a
//! [`Compaction`]: the new document and a [`Receipt`] of what was done and why.
//!
//! ```
//! use baler_host::{Budget, Host, Request, Strategy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let body = r#"{"model": "gpt-4o", "messages": [
//!     {"role": "system", "content": "You book flights."},
//!     {"role": "user", "content": "Lisbon to Oslo on Friday, never with a night stop."},
//!     {"role": "assistant", "content": "There are three flights. The first one leaves at 06:10 and has a stop in Paris; the second one leaves at 11:25 and has a stop in Frankfurt; the third one leaves at 19:40 and would have a night stop in Copenhagen."},
//!     {"role": "user", "content": "The second one, please."}
//! ]}"#;
//! let host = Host::builder().build()?;
//! let conversation = host.read(body)?;
//! let request = Request { budget: Budget::Tokens(60), ..Request::default() };
//! let compaction = host.compact(&conversation, &[Strategy::digest()], &request).await?;
//! assert!(compaction.document().contains("never with a night stop"));
//! assert!(compaction.receipt().tokens.after <= 60);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! The pipeline: read (wire format → conversation: units, tokens, traits) → strategy in its
//! sandbox → check the plan → apply → check the result → archive → receipt. On a [`Fault`] the
//! next strategy of the chain runs; `native:digest` and `native:truncate` are always its end.

mod metrics;
mod models;
mod once;
mod bounded;
mod reference;
mod request;
mod standing;
mod situation;
mod trigger;
mod unseen;
mod shortening;
mod plan;
mod report;
mod error;
mod fault;
mod limits;
mod sandbox;
mod native;
mod remote;
mod strategy;
mod strategy_name;
mod runner;
mod content_hash;
mod archive;
mod cache;
mod state;
mod staged;
mod files;
mod quarantine;
mod gate;
mod receipt;
mod host;
mod answer;
#[cfg(test)]
mod sample;
mod changes;
mod compaction;
mod attempt;
mod verify;
mod record;
mod chain;
mod compactor;
mod recall;

pub use answer::AnswerError;
pub use archive::{Archive, Contents};
pub use changes::{Changes, Origin, UnitChange};
pub use compaction::Compaction;
pub use compactor::{
    Attempting, Before, Compactor, CompactorConfig, CompactorOptions, ConfigFormError, Event,
    Finished, Hooks, OptionError, Pressure, ResumeError, SaveError, Step, Triggers, Work,
};
pub use error::{ArchiveError, HostError};
pub use fault::{Declared, Fault, PlanFault, PlanRule, Quantity, RemoteProblem, Trap};
pub use gate::{Entered, Gate};
pub use host::{ConfigError, Host, HostBuilder, IntrospectError, ShouldCompact};
pub use limits::{CountedFaults, EngineLimits, Limits};
pub use models::{ModelGrant, ModelLimits, ModelUsage};
pub use plan::Fate;
pub use recall::Recall;
pub use receipt::{
    Archived, Attempt, AttemptResult, BeforeAfter, CacheEffect, ComponentInfo, LogLine, Original,
    Outcome, ReasonCode, Receipt, Stages, Tokens, Unchanged, Units, Usage, Words,
};
pub use remote::{Asked, Question, Remote, RemoteError};
pub use report::{Decision, Introspection, LogLevel, Metric, Permission, Value};
pub use request::{
    Budget, BudgetError, CachePrice, Pins, Policy, Request, SummaryRole, ThinkingPolicy, Trigger,
};
pub use sandbox::{Compiler, LoadError, serve_as_compiler};
pub use strategy::Strategy;

pub use baler_conversation::provider::ProviderLimits;
pub use baler_conversation::repairs::{Repair, RepairCounts, RuleRepairs};
pub use baler_conversation::rules::{
    MOST_LISTED, Rule, RuleCounts, Severity, Violation, ViolationCounts,
};
pub use baler_conversation::session_logs::{LogError, LogFacts, LogKind};
pub use baler_conversation::tokenizers::{Tokenizer, UnknownTokenizer};
pub use baler_conversation::{
    Conversation, Deadline, Format, ReadError, ReadOptions, Reader, Role, SecretKey, Traits, Unit,
    UnitKind,
};

/// The stores that [`Archive::on`] takes.
pub use object_store;

pub use baler_models::{Model, ModelError, ModelInfo, Price};

/// The contracts that this host speaks, newest first.
#[must_use]
pub fn contracts() -> &'static [&'static str] {
    sandbox::CONTRACTS
}
