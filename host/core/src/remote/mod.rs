//! Remote strategies, and this host as a remote strategy for other hosts.
//!
//! The host exchanges JSON texts with a remote strategy through [`Remote`]; it does no networking itself.
//! `docs/serve.md` describes the texts, and `wire` defines them. The host checks answers exactly like those
//! of a component.

mod answer_error;
mod connected;
mod convert;
mod value;
pub(crate) mod vocabulary;
pub(crate) mod wire;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub use answer_error::AnswerError;
pub(crate) use connected::Connected;

/// The future of [`Remote::ask`]: the answer's bytes.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, RemoteError>> + Send + 'a>>;

/// Transport to a strategy that runs somewhere else.
///
/// It needs no timeout: the host drops the future when the strategy's time is up.
///
/// ```
/// use std::sync::Arc;
/// use baler_host::Strategy;
/// use baler_host::remote::{AnswerFuture, Operation, Remote, RemoteError};
///
/// #[derive(Debug)]
/// struct Unplugged;
///
/// impl Remote for Unplugged {
///     fn name(&self) -> &str { "unplugged" }
///     fn address(&self) -> &str { "http://unplugged" }
///     fn ask(&self, _question: Operation, _request: String, _most_bytes: usize) -> AnswerFuture<'_> {
///         Box::pin(async { Err(RemoteError::Unreachable) })       // or send `_request`, and return the answer
///     }
/// }
///
/// let strategy = Strategy::remote(Arc::new(Unplugged));
/// assert_eq!(strategy.address(), Some("http://unplugged"));
/// ```
pub trait Remote: fmt::Debug + Send + Sync {
    /// Returns a name for marks and receipts, such as the server's host and path. Characters other than
    /// letters, digits and `-_.` become `-`. A name of more than 48 characters is cut, and ends in digits of
    /// the address's content hash, so that it stays unique.
    fn name(&self) -> &str;

    /// Returns the address, such as a URL. Faults are counted by address: two strategies with the same
    /// address are quarantined together.
    fn address(&self) -> &str;

    /// Sends a question, as JSON text, and returns the answer. An answer of more than `most_bytes` bytes must
    /// not be read to its end; return [`RemoteError::TooLarge`] instead.
    fn ask(&self, question: Operation, request: String, most_bytes: usize) -> AnswerFuture<'_>;
}

/// An operation of a strategy, as in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Describes the strategy, and how much time it needs.
    Introspect,
    /// Decides whether to compact now.
    ShouldCompact,
    /// Returns a plan.
    Compact,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 3] = [Self::Introspect, Self::ShouldCompact, Self::Compact];

    /// Returns the name in the contract, which is also the last part of the URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Introspect => "introspect",
            Self::ShouldCompact => "should-compact",
            Self::Compact => "compact",
        }
    }

    /// Returns the JSON Schema of the request, as JSON text.
    #[must_use]
    pub fn request_schema(self) -> String {
        match self {
            Self::Introspect => schemars::schema_for!(wire::IntrospectRequest<'_>),
            Self::ShouldCompact | Self::Compact => schemars::schema_for!(wire::StrategyRequest<'_>),
        }
        .to_value()
        .to_string()
    }

    /// Returns the JSON Schema of the answer, as JSON text.
    #[must_use]
    pub fn answer_schema(self) -> String {
        match self {
            Self::Introspect => schemars::schema_for!(wire::Introspection),
            Self::ShouldCompact => schemars::schema_for!(wire::Decision),
            Self::Compact => schemars::schema_for!(wire::Report),
        }
        .to_value()
        .to_string()
    }
}

/// Why a remote strategy gave no answer. It holds no text of the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The server cannot be reached.
    Unreachable,
    /// The connection timed out. The server or the network may be overloaded.
    ConnectTimeout,
    /// This process or machine had no descriptor, port or memory for a connection, so the remote was not
    /// asked. It never counts as a fault of the remote.
    NoRoom,
    /// The connection broke before the answer was whole.
    Connection,
    /// The server refused the request with this HTTP status.
    Status(u16),
    /// The answer is not JSON of the expected form.
    Malformed,
    /// The answer exceeds its size limit.
    TooLarge,
}

/// Time limit of a remote strategy that declares no timeout. Two minutes proved too short for models that
/// people host themselves; [`crate::Limits::time`] sets a lower limit.
pub(crate) const TIME: Duration = Duration::from_secs(600);

/// Time limit of an introspection.
const INTROSPECTION_TIME: Duration = Duration::from_secs(5);

/// How long an introspection is cached.
const INTROSPECTION_AGE: Duration = Duration::from_secs(10);

/// The most bytes of an introspection.
const INTROSPECTION_BYTES: usize = 1 << 20;

/// The contract of questions and answers.
pub(crate) const CONTRACT: &str = "baler:compaction@0.1.0";
