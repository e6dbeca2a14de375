//! Why something cannot be read from a registry or a layout folder, or written to it.

use std::error::Error;
use std::time::Duration;

use baler_files::FileError;

use crate::Digest;
use crate::shown::shown;

/// Why something cannot be read from a registry or a layout folder, or written to it. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// It is not there.
    #[error("{place} does not have {what}: check the name, and whether it was pushed")]
    Missing {
        /// The registry's repository or the folder.
        place: String,
        /// What was asked for.
        what: String,
    },
    /// The registry refuses the user.
    #[error(
        "{host} refuses {what}: expected credentials that it accepts, found {found}; `docker login {host}` stores them where they are read"
    )]
    Unauthorized {
        /// The registry.
        host: String,
        /// What was asked for.
        what: String,
        /// What it was given.
        found: &'static str,
    },
    /// The registry answered with an unexpected status.
    #[error(
        "expected {host} to answer {expected} for {what}, found {found}{}",
        with_message(message)
    )]
    Status {
        /// The registry.
        host: String,
        /// What was asked for.
        what: String,
        /// The expected status.
        expected: u16,
        /// The status of the answer.
        found: u16,
        /// What the answer said. It is a text of the registry.
        message: String,
    },
    /// The registry sends the client to another server.
    #[error(
        "expected {host} itself to answer for {what}, found a redirect to {found}; it is not followed unless that host is allowed by name"
    )]
    Redirect {
        /// The registry.
        host: String,
        /// What was asked for.
        what: String,
        /// The other server, or the place that is no URL.
        found: String,
    },
    /// Content is longer than it may be.
    #[error("expected at most {limit} bytes of {what}, found {found}")]
    TooLarge {
        /// The content.
        what: String,
        /// The limit.
        limit: u64,
        /// What was announced or read.
        found: String,
    },
    /// Content is not as long as its descriptor says.
    #[error(
        "expected {expected} bytes of {what}, as its descriptor says, found {found}; do not use it"
    )]
    Size {
        /// The content.
        what: String,
        /// What the descriptor says.
        expected: u64,
        /// What was announced or read.
        found: String,
    },
    /// Content has another hash than its name or the registry says.
    #[error("expected {what} to be {expected}, found {found}; do not use it")]
    Digest {
        /// The content.
        what: String,
        /// What was asked for, or what the registry says that it sent.
        expected: Digest,
        /// The hash of what came.
        found: Digest,
    },
    /// Content does not have the form that it should have.
    #[error("expected {expected} as {what}, found {found}")]
    Invalid {
        /// The content.
        what: String,
        /// What was expected.
        expected: String,
        /// What was found. It may quote the content.
        found: String,
    },
    /// There are more entries than are looked at.
    #[error("expected at most {limit} {what}, found more; remove some at the registry")]
    TooMany {
        /// What there is too much of.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// The tag is that of another artifact.
    #[error(
        "the tag `{tag}` at {place} is taken: expected {expected} or none, found {found}; push under another version, because others may have locked this one"
    )]
    TagTaken {
        /// The registry's repository or the folder.
        place: String,
        /// The tag.
        tag: String,
        /// What was to be pushed.
        expected: Digest,
        /// What the tag means now.
        found: Digest,
    },
    /// It takes too long.
    #[error(
        "expected {what} from {host} within {limit:?}, found no end of it by then; try again later"
    )]
    Slow {
        /// The registry.
        host: String,
        /// What was asked for.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// The connection failed.
    #[error("cannot get {what} from {host}")]
    Connection {
        /// The registry.
        host: String,
        /// What was asked for.
        what: String,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The registry would be asked without encryption, or be sent a password so.
    #[error(
        "expected encrypted connections to {host}, found plain http, in which others can read {what}"
    )]
    PlainHttp {
        /// The registry or the server that makes its tokens.
        host: String,
        /// What others could read.
        what: &'static str,
    },
    /// A file or folder of a layout cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The credentials of the user cannot be read.
    #[error("cannot read the credentials for {host} from `{path}`: {problem}")]
    Credentials {
        /// The registry.
        host: String,
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
}

impl RegistryError {
    pub(crate) fn invalid(what: String, expected: String, found: String) -> Self {
        Self::Invalid {
            what,
            expected,
            found: shown(&found),
        }
    }
}

fn with_message(message: &str) -> String {
    match message {
        "" => String::new(),
        message => format!(" (it says: {message})"),
    }
}
