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
//! The way through: read (wire format → conversation: units, tokens, traits) → strategy in its
//! sandbox → check the plan → apply → check the result → archive → receipt. On a [`Fault`] the
//! next strategy of the chain runs; `native:digest` and `native:truncate` are always its end.

mod conversation;
mod exact;
mod listed;
mod formats;
mod marks;
mod metrics;
mod models;
mod tokens;
mod once;
mod situation;
mod deadline;
mod trigger;
mod unseen;
mod plan;
mod repair;
mod report;
mod fault;
mod limits;
mod logs;
mod sandbox;
mod native;
mod config;
mod remote;
mod strategy;
mod archive;
mod cache;
mod state;
mod staged;
mod files;
mod quarantine;
mod gate;
mod receipt;
mod host;
mod reading;
mod compaction;
mod compactor;
mod recall;

pub use archive::{Archive, ArchiveError, Contents};
pub use compaction::Compaction;
pub use compactor::{
    Attempting, Before, Compactor, CompactorConfig, CompactorOptions, ConfigFormError, Event,
    Finished, Hooks, OptionError, Pressure, ResumeError, SaveError, Step, Triggers, Work,
};
pub use config::ConfigError;
pub use conversation::{Conversation, Role, Traits, Unit, UnitKind};
pub use deadline::Deadline;
pub use fault::{Declared, Fault, HostError, PlanFault, PlanRule, Quantity, Trap};
pub use formats::{
    Format, ProviderLimits, ReadError, Rule, RuleCounts, Severity, Violation, ViolationCounts,
};
pub use gate::{Entered, Gate};
pub use host::{Host, HostBuilder, IntrospectError, ShouldCompact};
pub use limits::{CountedFaults, EngineLimits, Limits};
pub use listed::MOST_LISTED;
pub use logs::{LogError, LogFacts, LogKind};
pub use marks::SecretKey;
pub use models::{ModelGrant, ModelLimits, ModelUsage};
pub use plan::Fate;
pub use reading::ReadOptions;
pub use recall::Recall;
pub use receipt::{
    Archived, Attempt, AttemptResult, BeforeAfter, CacheEffect, ComponentInfo, LogLine, Original,
    Outcome, ReasonCode, Receipt, Stages, Tokens, Unchanged, Units, Usage, Words,
};
pub use remote::{AnswerError, Asked, Question, Remote, RemoteError, RemoteProblem};
pub use repair::{Repair, RepairCounts, RuleRepairs};
pub use report::{Decision, Introspection, Metric, Value};
pub use sandbox::{Compiler, LoadError, LogLevel, Permission, serve_as_compiler};
pub use situation::{Budget, Pins, Policy, Request, SummaryRole, ThinkingPolicy, Trigger};
pub use strategy::Strategy;
pub use tokens::{Tokenizer, UnknownTokenizer};
pub use trigger::CachePrice;

/// The stores that [`Archive::on`] takes.
pub use object_store;

pub use baler_models::{Model, ModelError, ModelInfo, Price};

/// The contracts that this host speaks, newest first.
#[must_use]
pub fn contracts() -> &'static [&'static str] {
    sandbox::CONTRACTS
}
