//! Models, as baler asks them: one question at a time, without history and without tools.
//!
//! The host knows a model only as a [`Model`]. The model decides when a request is worth repeating and
//! reports what an answer used. The host decides how often, and for how much, a strategy may ask.
//!
//! To use a provider, build a `clients::Client` (feature `clients`). To use a model of your own, implement
//! [`Model`]. In both cases, pass the model to `baler_host::ModelGrant::new`.
//!
//! | feature | adds |
//! |---|---|
//! | `clients` | `clients::Client`, a [`Model`] over HTTP: OpenAI, Anthropic, Gemini and every server with an OpenAI-compatible API |
//! | `testing` | `testing::ScriptedServer`, which simulates these providers and their faults |

#[cfg(feature = "clients")]
pub mod clients;
mod error;
mod model;
mod price;
mod provider;
mod question;
#[cfg(feature = "testing")]
pub mod testing;

pub use self::error::ModelError;
pub use self::model::{AnswerFuture, MayRetry, Model, ModelInfo};
pub use self::price::{Price, PriceError};
pub use self::provider::Provider;
pub use self::question::{Answer, Finish, Question};
