//! Python callables as models and as strategies.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baler_host::model::{
    Answer, AnswerFuture, Finish, MayRetry, Model, ModelError, ModelInfo, Question,
};
use baler_host::remote::{self, Operation, Remote, RemoteError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tokio::sync::oneshot::{self, Sender};

use crate::errors;

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
        Box::pin(ask_model(call, question))
    }
}

async fn ask_model(call: Arc<Py<PyAny>>, question: Question) -> Result<Answer, ModelError> {
    let Question {
        instructions,
        prompt,
        max_output_tokens,
        ..
    } = question;
    let answer = in_thread(&call, |py| {
        (instructions, prompt, max_output_tokens).into_pyobject(py)
    })
    .await;
    let answer = answer.map_err(|error| {
        let told: String = error.to_string().chars().take(MESSAGE).collect();
        ModelError::Refused(told)
    })?;
    let text: PyResult<String> = Python::attach(|py| answer.extract(py));
    let text = text
        .map_err(|_| ModelError::InvalidAnswer("expected a text from the callable".to_owned()))?;
    Ok(Answer::new(text, Finish::Stop))
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
            let answer = in_thread(&call, |py| (question.name(), request).into_pyobject(py)).await;
            let answer = answer.map_err(|_| RemoteError::Malformed)?;
            let answer: PyResult<String> = Python::attach(|py| answer.extract(py));
            let answer = answer.map_err(|_| RemoteError::Malformed)?;
            if answer.len() > most_bytes {
                return Err(RemoteError::TooLarge);
            }
            Ok(answer.into_bytes())
        })
    }
}

/// Takes what a callable returned, in the thread that called it.
#[pyclass(frozen, module = "baler._baler")]
struct Reply(Mutex<Option<Sender<PyResult<Py<PyAny>>>>>);

#[pymethods]
impl Reply {
    /// Takes the result.
    fn returned(&self, value: Py<PyAny>) {
        self.send(Ok(value));
    }

    /// Takes the exception.
    fn raised(&self, error: Bound<'_, PyAny>) {
        self.send(Err(PyErr::from_value(error)));
    }
}

impl Reply {
    fn send(&self, result: PyResult<Py<PyAny>>) {
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.take() {
            // Nobody waits any more if a time limit was reached.
            let _ = sender.send(result);
        }
    }
}

/// Calls Python in a thread of its own, which a time limit can leave behind. It is a daemon thread of Python's:
/// these end with the interpreter, wherever they are.
async fn in_thread(
    call: &Py<PyAny>,
    arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>>,
) -> PyResult<Py<PyAny>> {
    let (sender, receiver) = oneshot::channel();
    Python::attach(|py| {
        let reply = Reply(Mutex::new(Some(sender)));
        let threads = py.import("baler._threads")?;
        threads
            .call_method1("start", (call, arguments(py)?, reply))
            .map(drop)
    })?;
    receiver
        .await
        .unwrap_or_else(|_| Err(errors::host("the thread of a callable ended".to_owned())))
}
