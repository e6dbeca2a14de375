//! What `baler doctor` checks: this installation, the programs that it could run, and the network between.

pub(crate) mod installation;
mod network;
pub(crate) mod programs;

use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    Ok,
    /// It works, but perhaps not as intended.
    Warning,
    /// It does not work.
    Wrong,
}

/// The result of a check.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    /// What was checked.
    pub(crate) name: String,
    pub(crate) state: State,
    /// What was found.
    pub(crate) found: String,
    /// What to do; `None` if nothing has to be done.
    pub(crate) remedy: Option<String>,
}

impl State {
    /// Returns the word for people.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Wrong => "wrong",
        }
    }
}

impl Check {
    fn ok(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    fn warning(
        name: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(name, found)
        }
    }

    fn wrong(name: impl Into<String>, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            state: State::Wrong,
            ..Self::warning(name, found, remedy)
        }
    }
}
