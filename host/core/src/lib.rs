//! Fits an AI agent's conversation into its model's context window.
//!
//! An agent that works for hours outgrows that window. Its history must then be *compacted*, and what is kept decides
//! whether the agent still knows its task. In baler a *strategy* decides what to keep. A strategy is usually a WebAssembly
//! component that anyone can write; it runs in a sandbox that it cannot escape, hang or exhaust. **A strategy proposes, the
//! host disposes:** whatever a strategy does, you get a conversation that your provider accepts, or your own conversation
//! unchanged, with the reason.
//!
//! # Flow
//! ```text
//! request body ─► Host::read ─► Conversation ─┐                        ┌─► Compaction: document, unit outcomes, Receipt
//!                                             ├─► Host::compact ───────┤
//! .wasm file ──► Host::load ──► Strategy ─────┘   for each strategy:   └─► Archive: removed content, undo record
//!                                                 plan, check, apply, check again
//! ```
//!
//! 1. [`Host::read`] divides a request body into *units*, the smallest runs of messages that are kept or removed together,
//!    and counts their tokens. It reads OpenAI Chat Completions, OpenAI Responses, Anthropic Messages, Gemini, Bedrock
//!    Converse, and the session logs of four agents.
//! 2. [`Host::compact`] asks the strategies in order for a *plan*: which units to keep, rewrite or replace by a summary.
//!    The host checks the plan, applies it, reads the result again and validates it. After a
//!    [`Fault`](fault::Fault) the next strategy runs. `native:digest` and `native:truncate`, which need neither a component
//!    nor a model, end every chain.
//! 3. Removed content is stored in the [`Archive`], if the host has one, before you get the result.
//! 4. The [`Receipt`] records what was done and why: counts, names, content hashes and declared codes, never text.
//!
//! Kept messages are byte-identical to the input. Instructions, the newest user message, pending calls and whatever you pin
//! are never removed. The same input and [key](HostBuilder::key) give the same bytes.
//!
//! # Compact a request body once
//! ```
//! use baler_host::{Budget, Host, Request};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = r#"{"model": "gpt-4o", "messages": [
//!     {"role": "system", "content": "You book flights."},
//!     {"role": "user", "content": "Lisbon to Oslo on Friday, never with a night stop."},
//!     {"role": "assistant", "content": "There are three flights. The first one leaves at 06:10 and has a stop in Paris; the second one leaves at 11:25 and has a stop in Frankfurt; the third one leaves at 19:40 and would have a night stop in Copenhagen."},
//!     {"role": "user", "content": "The second one, please."}
//! ]}"#;
//! let host = Host::builder().build()?;                        // one for the whole program
//! let conversation = host.read(body)?;
//! let request = Request::new(Budget::Tokens(60));
//! let compaction = host.compact(&conversation, &[], &request).await?;
//! assert!(compaction.document().contains("never with a night stop"));
//! assert!(compaction.receipt().tokens.after <= 60);
//! # Ok(()) }
//! ```
//!
//! # Load an untrusted component
//!
//! A component can attack its compiler, so that runs in a child process with limits: this program, started again. For that,
//! `main` begins with [`serve_as_compiler`]. The component sees the conversation, and nothing else of the machine.
//!
//! ```standalone_crate
//! use std::{process::ExitCode, time::Duration};
//! use baler_host::{Budget, Compiler, Host, Limits, Request, serve_as_compiler};
//! fn main() -> ExitCode {
//!     if let Some(exit_code) = serve_as_compiler() {
//!         return exit_code;
//!     }
//! #   let (file, wasm) = (tempfile::NamedTempFile::new().expect("a file"), baler_strategies::by_name("sliding-window").expect("is bundled").wasm);
//! #   std::fs::write(file.path(), wasm).expect("is written"); let path = file.path();
//! #   let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
//!     runtime.block_on(run(path)).expect("compacts");
//!     ExitCode::SUCCESS
//! }
//! async fn run(path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//!     let host = Host::builder().compiler(Compiler::ThisProgram).build()?;
//!     let limits = Limits::default().with_time(Duration::from_millis(500));
//!     let strategy = host.load("untrusted", &std::fs::read(path)?).await?.with_limits(limits);
//!     let component = strategy.component().expect("it was loaded from a file");
//!     println!("{}: may use {:?}", component.content_hash, component.permissions);
//!
//! #   let turn = r#"{"role": "user", "content": "And the next day?"}, {"role": "assistant", "content": "No flights."}"#;
//! #   let body = format!(r#"{{"model": "gpt-4o", "messages": [{}]}}"#, [turn; 40].join(","));
//!     let conversation = host.read(body)?;
//!     let compaction = host.compact(&conversation, &[strategy], &Request::new(Budget::Share(0.5))).await?;
//!     // A strategy that faults is no error: `fell_back` says that another one of the chain made the result.
//!     assert!(compaction.is_compacted() && !compaction.receipt().fell_back);
//!     Ok(())
//! }
//! ```
//!
//! # Give a model
//!
//! A strategy reaches a model only if you grant it one. A [`ModelGrant`](model::ModelGrant) limits requests, tokens and cost
//! of one compaction. The crate `baler-models` has clients for OpenAI, Anthropic, Gemini and compatible servers; any type
//! that implements [`Model`](model::Model) will do.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use baler_host::model::{Answer, AnswerFuture, Finish, MayRetry, Model, ModelGrant, ModelInfo, ModelLimits, Question};
//! use baler_host::{Budget, Host, Request, Strategy};
//! #[derive(Debug)]
//! struct MyModel(ModelInfo);
//! impl Model for MyModel {
//!     fn info(&self) -> &ModelInfo { &self.0 }
//!     fn ask<'a>(&'a self, _question: &'a Question, _time: Duration, _may_retry: MayRetry<'a>) -> AnswerFuture<'a> {
//!         Box::pin(async { Ok(Answer::new("The user wants no night stop.", Finish::Stop)) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let turn = r#"{"role": "user", "content": "And the next day?"}, {"role": "assistant", "content": "No flights."}"#;
//! # let body = format!(r#"{{"model": "gpt-4o", "messages": [{}]}}"#, [turn; 90].join(","));
//! let model = MyModel(ModelInfo::new("my-model", 32_000, 1_000));
//! let grant = ModelGrant::new(Arc::new(model)).with_limits(ModelLimits::default().with_calls(2));
//! let host = Host::builder().build()?;
//! let strategy = Strategy::summarize(grant);                  // or `host.load(…)`, then `with_model(grant)`
//! let compaction = host.compact(&host.read(body)?, &[strategy], &Request::new(Budget::Share(0.5))).await?;
//! assert!(compaction.document().contains("The user wants no night stop."));
//! assert_eq!(compaction.receipt().attempts[0].model.map(|usage| usage.calls), Some(1));
//! # Ok(()) }
//! ```
//!
//! # Archive and undo
//! ```
//! use baler_host::{Archive, Budget, Host, Request, Strategy};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let body = r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Lisbon to Oslo, never with a night stop."},
//! # {"role": "assistant", "content": "There are three flights. The first one leaves at 06:10 and has a stop in Paris; the second one leaves at 11:25 and has a stop in Frankfurt; the third one leaves at 19:40 and would have a night stop in Copenhagen."},
//! # {"role": "user", "content": "The second one, please."}]}"#;
//! let archive = Archive::in_memory();                         // or `Archive::open(folder)`, `Archive::at(url, options)`
//! let host = Host::builder().archive(archive.clone()).build()?;
//! let request = Request::new(Budget::Tokens(60));
//! let compaction = host.compact(&host.read(body)?, &[Strategy::truncate()], &request).await?;
//! let receipt = compaction.receipt();
//! let removed = &receipt.archive.as_deref().unwrap_or_default()[0];
//! assert!(archive.get(&removed.reference).await?.contains("Copenhagen"));       // one unit
//! let undo = receipt.undo.as_deref().expect("something was removed");
//! assert_eq!(archive.undo(undo).await?, body);                                  // the whole document, byte for byte
//! # Ok(()) }
//! ```
//!
//! # In an agent's loop
//!
//! A [`Compactor`] holds one conversation over time and compacts it when a trigger is reached.
//!
//! ```
//! use std::sync::Arc;
//! use baler_host::{Compactor, CompactorOptions, Host};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = Arc::new(Host::builder().build()?);
//! let conversation = host.read(r#"{"model": "gpt-4o", "messages": [
//!     {"role": "user", "content": "Check the soil of all beds. Never water the cacti."}
//! ]}"#)?;
//! let options = CompactorOptions::default().with_context_window(2_000);
//! let mut compactor = Compactor::new(host, conversation, [], options)?;
//! for bed in 1..=60 {
//!     compactor.step().await?;                                // before each request to the model
//!     let _request_body = compactor.document();               // send it
//!     compactor.append_all([                                  // the model's answer, and the tool's output
//!         &*format!(r#"{{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_{bed}", "type": "function",
//!             "function": {{"name": "soil", "arguments": "{{\"bed\": {bed}}}"}}}}]}}"#),
//!         &*format!(r#"{{"role": "tool", "tool_call_id": "call_{bed}", "content": "bed {bed}: soil 24 %, light 900 lx, at noon"}}"#),
//!     ])?;
//! }
//! assert!(compactor.compactions() > 0 && compactor.tokens() < 2_000);
//! assert!(compactor.document().contains("Never water the cacti."));
//! # Ok(()) }
//! ```
//!
//! # Errors, runtime and features
//!
//! Three families tell who is to blame: a [`Fault`](fault::Fault) is the strategy's; a [`DeclaredFailure`](fault::DeclaredFailure)
//! is what it reports of itself; a [`HostError`] is the host's or the machine's, and alone an `Err` of [`Host::compact`].
//!
//! Futures need a tokio runtime with time enabled (and with I/O, for [`Compiler::ThisProgram`] and archives at URLs). They
//! are `Send`, and dropping one cancels the call. No environment variable is read, and nothing is printed.
//!
//! In WebAssembly (`wasm32-wasip1`, without the feature `sandbox`) they need no runtime. There a limit of time ends a question
//! to a remote strategy when its future is next polled; `native:summarize` has no model, and no compaction of a [`Compactor`]
//! runs in parallel.
//!
//! | feature | adds |
//! |---|---|
//! | `cloud` | [`Archive::at`] for `s3://`, `gs://` and `az://` |
//! | `sandbox` (on by default) | components, and lists of them ([`project`]) |
//! | `vocabularies` (on by default) | exact counts of tokens; without it they are estimated |
//! | `wasi` | components that import WASI 0.2, with nothing behind it |

#[macro_use]
mod setters;

mod accept;
pub mod archive;
mod ask_twice;
mod attempt;
mod bounded;
mod changes;
#[cfg(feature = "sandbox")]
pub mod child;
mod compaction;
pub mod compactor;
mod content_hash;
mod content_list;
mod error;
pub mod fault;
mod gate;
mod host;
mod limits;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg_attr(
    target_family = "wasm",
    expect(dead_code, reason = "no strategy can ask a model there")
)]
pub mod model;
mod native;
mod once;
mod pictures;
mod plan;
#[cfg(feature = "sandbox")]
pub mod project;
mod prompt_cache;
mod quarantine;
pub mod receipt;
mod receipt_builder;
pub mod engine;
pub mod remote;
mod report;
pub mod request;
mod retrieve;
mod runner;
#[cfg(test)]
mod sample;
#[cfg(feature = "sandbox")]
mod sandbox;
mod situation;
mod state;
pub mod strategy;
mod strategy_name;
mod text_limits;
mod thinking;
mod time_limit;
mod trigger;
mod unit_status;
mod unseen;
mod users_words;
pub mod view;

#[doc(inline)]
pub use archive::Archive;
#[doc(inline)]
pub use baler_files::FileError;
pub use compaction::Compaction;
#[doc(inline)]
pub use compactor::{Compactor, CompactorOptions};
pub use error::{HostError, with_causes};
pub use host::{Host, HostBuilder};
pub use limits::Limits;
#[doc(inline)]
pub use receipt::Receipt;
#[doc(inline)]
pub use request::{Budget, Pins, Request};
#[cfg(feature = "sandbox")]
pub use sandbox::{Compiler, serve_as_compiler, serve_as_compiler_with};
#[doc(inline)]
pub use strategy::Strategy;

/// Conversations: reading, units, tokens, rules and repairs (the crate `baler-conversation`).
pub use baler_conversation as conversation;
pub use baler_conversation::{Conversation, Format};
