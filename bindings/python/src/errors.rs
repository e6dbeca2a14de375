//! Raises the exceptions that `baler._errors` defines.

use baler_embedding::{Error, Kind, Remedy};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Returns the exception for an error.
pub(crate) fn raised(error: Error) -> PyErr {
    let mut message = error.to_string();
    if let Some(remedy) = error.remedy {
        message.push_str(match remedy {
            Remedy::GrantModel => {
                ": load it with `may_ask_model=True`, or list it in `baler.toml` with `grant = [\"model\"]`, if you trust \
                 it with the conversation and the cost"
            }
            Remedy::GiveModel => ": give one, such as `baler.Host(model=\"openai:gpt-5-mini\")`",
            Remedy::LoadFile => ". Load a file with `baler.Strategy.load(path)`",
            Remedy::GiveArchive => ": create it with a state folder or with `archive=`",
        });
    }
    of(error.kind, message)
}

/// What was given is not a conversation.
pub(crate) fn conversation(message: String) -> PyErr {
    of(Kind::Conversation, message)
}

fn of(kind: Kind, message: String) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Python::attach(|py| {
        let module = MODULE.get_or_try_init(py, || py.import("baler._errors").map(Bound::unbind));
        let class = module
            .and_then(|module| module.bind(py).getattr(kind.class()))
            .and_then(|class| Ok(class.cast_into::<PyType>()?));
        match class {
            Ok(class) => PyErr::from_type(class, message),
            Err(error) => error,
        }
    })
}
