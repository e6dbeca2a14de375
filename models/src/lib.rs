//! Models, as baler asks them: one question at a time, without history and without tools.
//!
//! [`Model`] is all that the host knows of a model. It says when a question is worth asking again
//! and what it cost; how often and for how much a strategy may ask is the host's to say.
//!
//! | feature | what it adds |
//! |---|---|
//! | `clients` | `clients::Client`, a [`Model`] over HTTP: OpenAI, Anthropic, Gemini and every server that speaks like OpenAI's |
//! | `testing` | `testing::ScriptedServer`, which plays these providers with all their faults |

#[cfg(feature = "clients")]
pub mod clients;
mod price;
mod provider;
#[cfg(feature = "testing")]
pub mod testing;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use self::price::{Price, PriceError};
pub use self::provider::Provider;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The system prompt.
    pub instructions: String,
    /// The user message.
    pub prompt: String,
    /// The answer is cut off past this many tokens.
    pub max_output_tokens: u32,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It was finished.
    Stop,
    /// It was cut off by the limit.
    Length,
    /// The model declined.
    Refusal,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text, without thinking; empty where there is none.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens of the question, as the provider counted or else as they were estimated.
    pub input_tokens: u32,
    /// Tokens of the answer, thinking included.
    pub output_tokens: u32,
}

/// Why there is no answer. The texts are the provider's own words, bounded, without any key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Nothing answered, after all retries: no connection, no time, a failure of the provider's,
    /// a rate limit that did not lift.
    #[error("the model did not answer: {0}")]
    Unavailable(String),
    /// The question is too long.
    #[error("the question is too long for the model{}", fits.map_or(String::new(), |fits| format!(", which takes {fits} tokens")))]
    TooLong {
        /// How many tokens would fit, where the provider says so.
        fits: Option<u32>,
    },
    /// The provider refused the question: a wrong key, an unknown model, a policy.
    #[error("the provider refused the question: {0}")]
    Refused(String),
    /// What was granted is used up.
    #[error("what was granted is used up: {0}")]
    Spent(String),
    /// Anything else, such as an answer that makes no sense.
    #[error("the model cannot be used: {0}")]
    Other(String),
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// The provider's name of it.
    pub name: String,
    /// Tokens of question and answer together.
    pub context_window: u32,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
    /// What it costs, where that is known.
    pub price: Option<Price>,
}

/// An answer that is on its way.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<Answer, ModelError>> + Send + 'a>>;

/// Asked for leave before what was sent for a question is sent again: each request may be billed, so it
/// counts towards what was granted. `&|| true` gives it always.
pub type Again<'a> = &'a (dyn Fn() -> bool + Send + Sync);

/// A model that can be asked. Dropping what [`Model::ask`] returns ends the question.
pub trait Model: fmt::Debug + Send + Sync {
    /// What is known of it.
    fn info(&self) -> &ModelInfo;

    /// Asks. Retries what is worth it, within `time` and as often as `again` gives leave, and gives
    /// up when that is over.
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        time: std::time::Duration,
        again: Again<'a>,
    ) -> Asked<'a>;
}
