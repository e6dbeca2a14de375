//! Errors of lists and of components.

use baler_host::project::{ListedError, ProjectError};
use baler_host::strategy::LoadError;

use crate::error::{Error, Kind, Remedy};

impl Error {
    pub(crate) fn cancelled() -> Self {
        Self::new(Kind::Cancelled, "the call was cancelled".to_owned())
    }

    pub(crate) fn with_remedy(self, remedy: Remedy) -> Self {
        Self {
            remedy: Some(remedy),
            ..self
        }
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Host(error) => error.into(),
            error => Self::strategy(baler_host::with_causes(&error)),
        }
    }
}

impl From<ProjectError> for Error {
    fn from(error: ProjectError) -> Self {
        Self::new(Kind::Option, error.to_string())
    }
}

impl From<ListedError> for Error {
    fn from(error: ListedError) -> Self {
        Self::strategy(baler_host::with_causes(&error))
    }
}
