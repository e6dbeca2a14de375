//! The host's model, for strategies that ask it.

use crate::Failure;
use crate::bindings::baler::compaction::model;

pub use model::{Completion, Finish, Info as ModelInfo, ModelError, Request as ModelRequest};

/// The model that a strategy may ask; [`Conversation::model`](crate::Conversation::model) gives it.
#[derive(Clone)]
pub struct Model<'a> {
    info: ModelInfo,
    answers: &'a dyn Answers,
}

impl std::fmt::Debug for Model<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Model<'_> {
    /// What is known of the model.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Asks one question, without history and without tools. The host bounds the time, and
    /// retries where that helps.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        self.answers.complete(request)
    }
}

/// What answers a [`Model`]: the host, or a [`testing::ScriptedModel`].
///
/// [`testing::ScriptedModel`]: crate::testing::ScriptedModel
pub trait Answers {
    /// What is known of the model; none where there is none.
    fn info(&self) -> Option<ModelInfo>;
    /// The answer to one question.
    ///
    /// # Errors
    /// Why there is no answer.
    fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError>;
}

/// The model behind `answers`, or that of the host.
pub(crate) fn of<'a>(answers: Option<&'a dyn Answers>) -> Option<Model<'a>> {
    let answers = answers.or_else(host)?;
    Some(Model {
        info: answers.info()?,
        answers,
    })
}

/// Outside the sandbox there is no host.
#[cfg(not(target_family = "wasm"))]
fn host<'a>() -> Option<&'a dyn Answers> {
    None
}

#[cfg(target_family = "wasm")]
fn host<'a>() -> Option<&'a dyn Answers> {
    struct Host;

    impl Answers for Host {
        fn info(&self) -> Option<ModelInfo> {
            model::available()
        }

        fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
            model::complete(request)
        }
    }

    Some(&Host)
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Model(match error {
            ModelError::Unavailable(why) => format!("the model did not answer: {why}"),
            ModelError::TooLong(fits) => {
                format!("the request is too long for the model: {fits} tokens would fit")
            }
            ModelError::Refused(why) => format!("the provider refused the request: {why}"),
            ModelError::Spent(why) => format!("what was granted to the model is used up: {why}"),
            ModelError::Other(why) => format!("the model failed: {why}"),
        })
    }
}
