//! Python callables as models and as strategies.

use std::sync::Arc;
use std::time::Duration;

use baler_host::model::{
    Answer, AnswerFuture, Finish, MayRetry, Model, ModelError, ModelInfo, Question,
};
use baler_host::remote::{self, Operation, Remote, RemoteError};
use pyo3::prelude::*;

/// Maximum characters of an exception in the error of a model.
const MESSAGE: usize = 200;

/// A model that is a Python callable: `(instructions, prompt, max_output_tokens) -> str`.
#[derive(Debug)]
pub(crate) struct PyModel {
    pub(crate) call: Arc<Py<PyAny>>,
    pub(crate) info: ModelInfo,
}

impl Model for PyModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question,
        _time: Duration,
        _may_retry: MayRetry<'a>,
    ) -> AnswerFuture<'a> {
        let call = Arc::clone(&self.call);
        let question = question.clone();
        Box::pin(async move {
            in_thread(move || ask_model(&call, question))
                .await
                .unwrap_or_else(|| Err(ModelError::Refused("the thread ended".to_owned())))
        })
    }
}

fn ask_model(call: &Py<PyAny>, question: Question) -> Result<Answer, ModelError> {
    let Question {
        instructions,
        prompt,
        max_output_tokens,
        ..
    } = question;
    Python::attach(|py| {
        let answer = call.call1(py, (instructions, prompt, max_output_tokens));
        let answer = answer.map_err(|error| {
            let told: String = error.to_string().chars().take(MESSAGE).collect();
            ModelError::Refused(told)
        })?;
        let text: String = answer.extract(py).map_err(|_| {
            ModelError::InvalidAnswer("expected a text from the callable".to_owned())
        })?;
        Ok(Answer::new(text, Finish::Stop))
    })
}

/// A strategy that is a Python callable: `(operation, request) -> answer`, both as JSON. Its plans are checked
/// like those of any strategy.
#[derive(Debug)]
pub(crate) struct PyStrategy {
    pub(crate) call: Arc<Py<PyAny>>,
    pub(crate) name: String,
    /// Unique in this process, because faults are counted by it.
    pub(crate) address: String,
}

impl Remote for PyStrategy {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> &str {
        &self.address
    }

    fn ask(
        &self,
        question: Operation,
        request: String,
        most_bytes: usize,
    ) -> remote::AnswerFuture<'_> {
        let call = Arc::clone(&self.call);
        Box::pin(async move {
            let answer = in_thread(move || {
                Python::attach(|py| {
                    let answer = call.call1(py, (question.name(), request));
                    let answer = answer.and_then(|answer| answer.extract::<String>(py));
                    answer.map_err(|_| RemoteError::Malformed)
                })
            });
            let answer = answer.await.ok_or(RemoteError::NoRoom)??;
            if answer.len() > most_bytes {
                return Err(RemoteError::TooLarge);
            }
            Ok(answer.into_bytes())
        })
    }
}

/// Calls Python in a thread of its own, which a time limit can leave behind; `None` if the thread ended early.
async fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
