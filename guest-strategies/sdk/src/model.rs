//! The host's model, for strategies that ask it.

use crate::Failure;
use crate::bindings::baler::compaction::model;

pub use model::{Completion, Finish, Info as ModelInfo, ModelError, Request as ModelRequest};

/// The model that a strategy may ask, from [`Conversation::model`](crate::Conversation::model).
#[derive(Clone)]
pub struct Model<'a> {
    info: ModelInfo,
    answers: &'a dyn ModelSource,
}

impl std::fmt::Debug for Model<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Model<'_> {
    /// Returns the name of the model and its limits in tokens. A limit that is not known is 0.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Asks one question, without history and without tools, and returns the answer. The host limits the
    /// time and retries errors that may be temporary.
    ///
    /// # Errors
    /// Returns the reason why there is no answer.
    pub fn ask(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        self.answers.complete(request)
    }
}

/// What a [`Model`] gets its answers from: the host, or a [`testing::ScriptedModel`].
///
/// [`testing::ScriptedModel`]: crate::testing::ScriptedModel
pub trait ModelSource {
    /// Returns the name and the limits of the model, `None` if there is no model.
    fn info(&self) -> Option<ModelInfo>;
    /// Answers one question.
    ///
    /// # Errors
    /// Returns the reason why there is no answer.
    fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError>;
}

/// Returns the model of `answers`, or else the model of the host.
pub(crate) fn of<'a>(answers: Option<&'a dyn ModelSource>) -> Option<Model<'a>> {
    let answers = answers.or_else(host)?;
    Some(Model {
        info: answers.info()?,
        answers,
    })
}

/// Native code has no host.
#[cfg(not(target_family = "wasm"))]
fn host<'a>() -> Option<&'a dyn ModelSource> {
    None
}

#[cfg(target_family = "wasm")]
fn host<'a>() -> Option<&'a dyn ModelSource> {
    struct Host;

    impl ModelSource for Host {
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
