//! Python callables that baler asks: models, `(instructions, prompt, max_output_tokens) -> str`, and strategies,
//! `(operation, request) -> answer`, both as JSON.

use std::sync::{Arc, Mutex, PoisonError};

use baler_embedding::{Function, Question, Subject};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A Python callable.
#[derive(Debug)]
pub(crate) struct Callable(Py<PyAny>);

impl Callable {
    pub(crate) fn function(callable: Py<PyAny>) -> Arc<dyn Function> {
        Arc::new(Self(callable))
    }
}

impl Function for Callable {
    /// Calls it in a thread of its own, which a time limit can leave behind. It is a daemon thread of Python's: these end
    /// with the interpreter, wherever they are.
    fn ask(&self, question: Question) {
        Python::attach(|py| {
            let arguments = match arguments(py, &question.subject) {
                Ok(arguments) => arguments,
                Err(error) => return question.answer(Err(error.to_string())),
            };
            let reply = Reply(Mutex::new(Some(question)));
            let started = py
                .import("baler._threads")
                .and_then(|threads| threads.call_method1("start", (&self.0, arguments, reply)));
            // Then the question was dropped, which is an answer.
            drop(started);
        });
    }
}

fn arguments<'py>(py: Python<'py>, subject: &Subject) -> PyResult<Bound<'py, PyTuple>> {
    match subject {
        Subject::Model {
            instructions,
            prompt,
            max_output_tokens,
        } => (instructions, prompt, max_output_tokens).into_pyobject(py),
        Subject::Strategy { operation, request } => (operation.name(), request).into_pyobject(py),
    }
}

/// Takes what a callable returned, in the thread that called it.
#[pyclass(frozen, module = "baler._baler")]
struct Reply(Mutex<Option<Question>>);

#[pymethods]
impl Reply {
    /// Takes the result.
    fn returned(&self, value: Bound<'_, PyAny>) {
        let text: PyResult<String> = value.extract();
        self.send(text.map_err(|_| "expected a text from the callable".to_owned()));
    }

    /// Takes the exception.
    fn raised(&self, error: Bound<'_, PyAny>) {
        self.send(Err(PyErr::from_value(error).to_string()));
    }
}

impl Reply {
    fn send(&self, answer: Result<String, String>) {
        let mut question = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(question) = question.take() {
            question.answer(answer);
        }
    }
}
