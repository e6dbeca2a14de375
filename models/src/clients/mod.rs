//! Models over HTTP.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use baler_models::clients::{Client, ModelChoice};
//! use baler_models::{Model as _, Question};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let choice: ModelChoice = "anthropic:claude-haiku-4-5".parse()?;
//! // The key is read here, from ANTHROPIC_API_KEY. It is never shown and never logged.
//! let model = Client::builder(choice).build()?;
//! let question = Question {
//!     instructions: "Answer in one word.".to_owned(),
//!     prompt: "What falls from clouds?".to_owned(),
//!     max_output_tokens: 16,
//! };
//! let answer = model.ask(&question, Duration::from_secs(60), &|| true).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Asking needs a runtime of tokio's with time and I/O. Each attempt has a connection of its own, so a
//! client may be used from one runtime after another. Names of hosts are resolved by the system on a thread that
//! nothing can end: a program that must end in time leaves its runtime with `shutdown_background`.
//!
//! What a server says is not trusted: bodies are bounded, redirects are not followed, nothing waits longer
//! than it was given, and what gets into errors is short and without the key.

mod base_url;
mod builder;
mod choice;
mod client;
mod failure;
mod key;
mod known;
mod retry;
mod too_long;
mod transport;
mod wire;

pub use self::base_url::{BaseUrl, BaseUrlError};
pub use self::builder::{ClientBuilder, SetupError};
pub use self::choice::{ChoiceError, ModelChoice};
pub use self::client::Client;
pub use self::key::{KeyError, KeySource, KeySourceError};
