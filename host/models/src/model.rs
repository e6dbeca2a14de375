//! The trait that every model implements.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use crate::{Answer, ModelError, Price, Question};

/// A model that can be asked. Dropping the future that [`Model::ask`] returns cancels the question.
///
/// ```
/// use std::time::Duration;
///
/// use baler_models::{Answer, AnswerFuture, Finish, MayRetry, Model, ModelInfo, Question};
///
/// /// A model that gives the same answer to every question.
/// #[derive(Debug)]
/// struct Constant(ModelInfo);
///
/// impl Model for Constant {
///     fn info(&self) -> &ModelInfo {
///         &self.0
///     }
///
///     fn ask<'a>(&'a self, _: &'a Question, _: Duration, _: MayRetry<'a>) -> AnswerFuture<'a> {
///         Box::pin(async { Ok(Answer::new("The tests pass.", Finish::Stop)) })
///     }
/// }
///
/// let model = Constant(ModelInfo::new("constant", 100_000, 4_000));
/// assert_eq!(model.info().context_window, 100_000);
/// ```
pub trait Model: fmt::Debug + Send + Sync {
    /// Returns what is known of the model.
    fn info(&self) -> &ModelInfo;

    /// Asks a question. Repeats requests that may succeed later, while `time` lasts and `may_retry` permits
    /// it.
    ///
    /// # Errors
    /// The future resolves to a [`ModelError`] if there is no answer.
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        time: Duration,
        may_retry: MayRetry<'a>,
    ) -> AnswerFuture<'a>;
}

/// The future that [`Model::ask`] returns.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, ModelError>> + Send + 'a>>;

/// Called before a request is sent again; `false` forbids it. Each request may be billed, so the host counts
/// each against its grant. `&|| true` always permits it.
pub type MayRetry<'a> = &'a (dyn Fn() -> bool + Send + Sync);

/// What is known of a model.
///
/// ```
/// use baler_models::{ModelInfo, Price};
///
/// let price: Price = "3/15".parse().expect("a price");
/// let info = ModelInfo::new("my-model", 200_000, 8_000).with_price(price);
/// assert_eq!(info.price, Some(price));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The model's name, as its provider knows it.
    pub name: String,
    /// The most tokens of question and answer together.
    pub context_window: u32,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
    /// The model's price; `None` if unknown.
    pub price: Option<Price>,
}

impl ModelInfo {
    /// Describes a model whose price is unknown. Both limits are in tokens.
    #[must_use]
    pub fn new(name: impl Into<String>, context_window: u32, max_output_tokens: u32) -> Self {
        Self {
            name: name.into(),
            context_window,
            max_output_tokens,
            price: None,
        }
    }

    /// Sets the price.
    #[must_use]
    pub fn with_price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }
}
