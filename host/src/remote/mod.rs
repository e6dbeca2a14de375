//! Strategies that run somewhere else, and this host as such a place for others.
//!
//! The host exchanges JSON texts with them and knows of no network: what carries the texts
//! implements [`Remote`]. Their forms are in `wire`, and `docs/serve.md` tells them. What comes
//! back is checked exactly as what a component hands over.

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

/// What [`Remote::ask`] gives: the answer's bytes.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, RemoteError>> + Send + 'a>>;

/// Carries questions to a strategy that runs somewhere else, and brings its answers.
///
/// It may take as long as it likes: the host stops waiting, by dropping the future, when the
/// strategy's time is up.
pub trait Remote: fmt::Debug + Send + Sync {
    /// A name for marks and receipts, such as its host and path. Other characters than letters,
    /// digits and `-_.` become `-`, and a name of more than 48 is cut: it ends in digits of a digest
    /// of the address, which tell it from others that begin alike.
    fn name(&self) -> &str;

    /// By what its faults are counted, such as its URL. Two strategies of the same address rest
    /// together.
    fn address(&self) -> &str;

    /// Asks, with a JSON text. An answer that has more than `most_bytes` must not be read
    /// whole: it is [`RemoteError::TooLarge`].
    fn ask(&self, question: Operation, request: String, most_bytes: usize) -> AnswerFuture<'_>;
}

/// What a strategy is asked, as in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Who it is, and how long it may take.
    Introspect,
    /// Whether it is time.
    ShouldCompact,
    /// For a plan.
    Compact,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Introspect, Self::ShouldCompact, Self::Compact];

    /// The name in the contract, which is also the last part of its URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Introspect => "introspect",
            Self::ShouldCompact => "should-compact",
            Self::Compact => "compact",
        }
    }

    /// The JSON Schema of what is asked.
    #[must_use]
    pub fn request_schema(self) -> serde_json::Value {
        match self {
            Self::Introspect => schemars::schema_for!(wire::WhoAreYou<'_>),
            Self::ShouldCompact | Self::Compact => schemars::schema_for!(wire::Ask<'_>),
        }
        .to_value()
    }

    /// The JSON Schema of what may be answered.
    #[must_use]
    pub fn answer_schema(self) -> serde_json::Value {
        match self {
            Self::Introspect => schemars::schema_for!(wire::Introspection),
            Self::ShouldCompact => schemars::schema_for!(wire::Decision),
            Self::Compact => schemars::schema_for!(wire::Report),
        }
        .to_value()
    }
}

/// Why a remote strategy gave no answer. It holds no word of the remote's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// Nothing was reached.
    Unreachable,
    /// No connection came about in time. The remote, or the way to it, may have had too much to do.
    ConnectTimeout,
    /// This process or machine had no descriptor, port or memory for a connection, so the remote
    /// was not asked. It is no fault of the remote's and never counts as one.
    NoRoom,
    /// The connection broke before the answer was whole.
    Connection,
    /// It refused, by this status of HTTP.
    Status(u16),
    /// What it answered is not the JSON that was asked for.
    Malformed,
    /// Its answer is larger than it may be.
    TooLarge,
}

/// How long a remote strategy may take that does not say how long it wants. It was two minutes
/// in the planck preset's first version, which was too short for models that people host
/// themselves; who wants that sets [`crate::Limits::time`].
pub(crate) const TIME: Duration = Duration::from_secs(600);

/// The most time for asking how long it wants.
const INTROSPECTION_TIME: Duration = Duration::from_secs(5);

/// How long what a remote strategy said of itself is believed.
const INTROSPECTION_AGE: Duration = Duration::from_secs(10);

/// Bytes that a remote strategy may tell of itself.
const INTROSPECTION_BYTES: usize = 1 << 20;

/// The contract that questions are asked by.
pub(crate) const CONTRACT: &str = "baler:compaction@0.1.0";
