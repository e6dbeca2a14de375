//! Clients for models over HTTP.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use baler_models::clients::{Client, ModelChoice};
//! use baler_models::{Model as _, Question};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let choice: ModelChoice = "anthropic:claude-haiku-4-5".parse()?;
//! // Reads the key from ANTHROPIC_API_KEY. The key is never shown and never logged.
//! let model = Client::builder(choice).build()?;
//! let question = Question::new("What falls from clouds?", 16).with_instructions("Answer in one word.");
//! let answer = model.ask(&question, Duration::from_secs(60), &|| true).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Asking needs a tokio runtime with time and I/O. Each attempt opens its own connection, so a client can be
//! used in several runtimes, one after another. The system resolves host names on a thread that cannot be
//! cancelled: a program that must end in time should shut down its runtime with `shutdown_background`.
//!
//! Servers are untrusted: bodies are bounded, redirects are not followed, no wait exceeds the caller's time,
//! and errors quote only short texts without the key.

mod base_url;
mod builder;
mod choice;
mod client;
mod failure;
mod key;
mod limits;
mod retry;
mod too_long;
mod transport;
mod usage;
mod wire;

pub use self::base_url::{BaseUrl, BaseUrlError};
pub use self::builder::{ClientBuilder, SetupError, connections};
pub use self::choice::{ChoiceError, ModelChoice};
pub use self::client::Client;
pub use self::key::{KeyError, KeySource, KeySourceError};
pub use self::too_long::{TOO_LONG_STATUSES, is_too_long, says_too_long};
pub use self::usage::{Usage, UsageReader};
