//! Raises the exceptions that `baler._errors` defines.

use baler_host::HostError;
use baler_host::archive::ArchiveError;
use baler_host::compactor::{OptionError, ResumeError};
use baler_host::conversation::ReadError;
use baler_host::project::{ListedError, ProjectError};
use baler_host::strategy::{ConfigError, IntrospectError, LoadError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Returns an exception of the class with this name.
fn of(class: &'static str, message: String) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Python::attach(|py| {
        let module = MODULE.get_or_try_init(py, || py.import("baler._errors").map(Bound::unbind));
        let raised = module
            .and_then(|module| module.bind(py).getattr(class))
            .and_then(|class| Ok(class.cast_into::<PyType>()?));
        match raised {
            Ok(class) => PyErr::from_type(class, message),
            Err(error) => error,
        }
    })
}

/// What was given is not a conversation.
pub(crate) fn conversation(message: String) -> PyErr {
    of("ConversationError", message)
}

/// An option has a value that is not allowed.
pub(crate) fn option(message: String) -> PyErr {
    of("OptionError", message)
}

/// A strategy cannot be used.
pub(crate) fn strategy(message: String) -> PyErr {
    of("StrategyError", message)
}

/// The host or the machine failed.
pub(crate) fn host(message: String) -> PyErr {
    of("HostError", message)
}

/// Another thread ended the call.
pub(crate) fn cancelled() -> PyErr {
    of("CancelledError", "the call was cancelled".to_owned())
}

/// Gives errors of the host the exception that Python programs catch.
pub(crate) trait Raise {
    fn raise(self) -> PyErr;
}

impl Raise for ReadError {
    fn raise(self) -> PyErr {
        conversation(self.to_string())
    }
}

impl Raise for HostError {
    fn raise(self) -> PyErr {
        match self {
            Self::Archive(error) => error.raise(),
            Self::NoSuchUnit { .. } => option(self.to_string()),
            error => host(baler_host::with_causes(&error)),
        }
    }
}

impl Raise for ArchiveError {
    fn raise(self) -> PyErr {
        of("ArchiveError", self.to_string())
    }
}

impl Raise for LoadError {
    fn raise(self) -> PyErr {
        match self {
            Self::Host(error) => error.raise(),
            error => strategy(baler_host::with_causes(&error)),
        }
    }
}

impl Raise for ConfigError {
    fn raise(self) -> PyErr {
        of("ConfigError", baler_host::with_causes(&self))
    }
}

impl Raise for IntrospectError {
    fn raise(self) -> PyErr {
        match self {
            Self::Host(error) => error.raise(),
            error => strategy(baler_host::with_causes(&error)),
        }
    }
}

impl Raise for ProjectError {
    fn raise(self) -> PyErr {
        option(self.to_string())
    }
}

impl Raise for ListedError {
    fn raise(self) -> PyErr {
        strategy(baler_host::with_causes(&self))
    }
}

impl Raise for OptionError {
    fn raise(self) -> PyErr {
        option(self.to_string())
    }
}

impl Raise for ResumeError {
    fn raise(self) -> PyErr {
        conversation(baler_host::with_causes(&self))
    }
}
