//! The model that strategies may ask.

use std::sync::Arc;
use std::time::Duration;

use baler_host::model::{
    Answer, AnswerFuture, Finish, MayRetry, Model as HostModel, ModelError, ModelGrant, ModelInfo,
    ModelLimits, Question,
};
use baler_models::clients::{ChoiceError, Client, KeySource, ModelChoice};

use super::function::{self, Function, Subject};
use crate::error::Error;
use crate::options::{Options, count, text};

/// Maximum characters of an exception in the error of a model.
const MESSAGE: usize = 200;

/// What strategies may ask.
#[derive(Debug, Clone)]
pub enum Model {
    /// A model that baler asks itself, such as `openai:gpt-5-mini`.
    Named(String),
    /// A function of the caller.
    Function(Arc<dyn Function>),
}

impl Model {
    /// Returns the grant of the model, with those options that are about it.
    pub(crate) fn grant(self, options: &mut Options) -> Result<ModelGrant, Error> {
        let window = options.take("model_window", count)?;
        let output = options.take("model_max_output", count)?;
        let calls = options.take("model_calls", count)?;
        let key = options.take("model_key", text)?;
        let limits = ModelLimits::default();
        let limits = limits.with_calls(calls.unwrap_or(limits.calls));
        let model: Arc<dyn HostModel> = match self {
            Self::Named(name) => {
                let choice: ModelChoice = name
                    .parse()
                    .map_err(|error: ChoiceError| Error::option("model", error))?;
                let source = key.map(|key| key.parse::<KeySource>()).transpose();
                let source = source.map_err(|error| Error::option("model", error))?;
                let client = Client::builder(choice)
                    .key(source)
                    .context_window(window)
                    .max_output_tokens(output)
                    .build()
                    .map_err(|error| Error::option("model", error))?;
                Arc::new(client)
            }
            Self::Function(function) => Arc::new(Asked {
                function,
                info: ModelInfo::new(
                    "function",
                    window.unwrap_or(128_000),
                    output.unwrap_or(4_096),
                ),
            }),
        };
        Ok(ModelGrant::new(model).with_limits(limits))
    }
}

/// A model that is a function of the caller.
#[derive(Debug)]
struct Asked {
    function: Arc<dyn Function>,
    info: ModelInfo,
}

impl HostModel for Asked {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question,
        _time: Duration,
        _may_retry: MayRetry<'a>,
    ) -> AnswerFuture<'a> {
        let subject = Subject::Model {
            instructions: question.instructions.clone(),
            prompt: question.prompt.clone(),
            max_output_tokens: question.max_output_tokens,
        };
        Box::pin(async move {
            let answer = function::ask(&self.function, subject).await;
            let text =
                answer.map_err(|told| ModelError::Refused(told.chars().take(MESSAGE).collect()))?;
            Ok(Answer::new(text, Finish::Stop))
        })
    }
}
