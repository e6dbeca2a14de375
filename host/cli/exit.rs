//! How a run ends: exit codes, and failures that know theirs.

use std::process::ExitCode;

use baler_host::HostError;

use crate::resource_limits;
use crate::visible::line;

/// The exit codes of `baler compact`, for its help text.
pub(crate) const OF_COMPACT: &str = "\
Exit codes:
  0  compacted; or, with --repair, only repaired; or within its budget already: it is written as
     it was
  1  baler failed: a file cannot be written, standard output was closed before everything was
     written, the sandbox cannot be created, no more files can be opened
  2  invalid usage: an unknown option or name, a config or strategy file that cannot be used
  3  unchanged although it exceeds its budget: everything is protected, or the strategy declined or
     declared a failure. The conversation is written as it was: use it, or, if it is too large for
     the model, run again with --required, with another --strategy, or with fewer units in --pin
  4  compacted by a fallback, not by the first strategy: use the result, and see standard error
     for what the first strategy did
  5  invalid input: the conversation has errors, with --repair errors that cannot be repaired (it
     is written unchanged), or it cannot be read (nothing is written)";

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    HostFailed = 1,
    WrongUse = 2,
    Unchanged = 3,
    FellBack = 4,
    WrongInput = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a run ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    /// What stands below the message, in baler's own words.
    more: String,
}

impl Failure {
    /// The person who called is to blame.
    pub(crate) fn wrong_use(error: impl Into<anyhow::Error>) -> Self {
        Self::blaming(Exit::WrongUse, error.into())
    }

    /// The conversation is to blame.
    pub(crate) fn wrong_input(error: impl Into<anyhow::Error>) -> Self {
        Self::blaming(Exit::WrongInput, error.into())
    }

    /// A failure with this exit code, or of baler itself if the process ran out of descriptors.
    fn blaming(exit: Exit, error: anyhow::Error) -> Self {
        if resource_limits::is_cause_of(&error) {
            return error.into();
        }
        Self {
            exit,
            error,
            more: String::new(),
        }
    }

    /// Adds lines below the message, which must not hold untrusted text.
    pub(crate) fn with_more(self, more: impl Into<String>) -> Self {
        let more = more.into();
        Self { more, ..self }
    }

    /// The message, causes included, on one line; and what stands below it.
    pub(crate) fn message(&self) -> String {
        let message = line(&format!("{:#}", self.error));
        format!("{message}{}", self.more)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            exit: Exit::HostFailed,
            error,
            more: String::new(),
        }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        anyhow::Error::from(error).into()
    }
}
