//! Errors of configs.

use super::IntrospectError;
use super::MAX_CONFIG_BYTES;
use crate::error::{Cause, with_causes};

/// Error of a config, or of the schema that it is checked against.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The config is not JSON.
    #[error("the config is not JSON")]
    NotJson(#[source] Cause),
    /// The config is larger than 64 KiB.
    #[error("the config has {bytes} bytes; the maximum is {}", MAX_CONFIG_BYTES)]
    TooLarge {
        /// Size of the config in bytes.
        bytes: usize,
    },
    /// The strategy accepts no config.
    #[error("`{strategy}` accepts no config")]
    NotTaken {
        /// Name of the strategy.
        strategy: String,
    },
    /// The config does not match the strategy's schema.
    #[error("the config of `{strategy}` is invalid: {}", problems.join("; "))]
    Invalid {
        /// Name of the strategy.
        strategy: String,
        /// Problems, each with its place and what is allowed there.
        problems: Vec<String>,
    },
    /// The strategy itself rejects the config.
    #[error("the config of `{strategy}` is invalid: {free_text}")]
    Declared {
        /// Name of the strategy.
        strategy: String,
        /// Free-text message of the strategy. It may quote anything that the strategy ever saw.
        free_text: String,
    },
    /// The strategy's schema cannot be used.
    #[error("`{strategy}` declares a config schema that cannot be used")]
    Schema {
        /// Name of the strategy.
        strategy: String,
        /// Reason.
        #[source]
        problem: SchemaProblem,
    },
    /// The strategy did not return its schema.
    #[error("`{strategy}` did not return its config schema")]
    NoIntrospection {
        /// Name of the strategy.
        strategy: String,
        /// Error of the introspection.
        #[source]
        source: Box<IntrospectError>,
    },
}

/// Reason why the schema that a strategy declares cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// The schema is too large.
    #[error("it has more than {max} bytes")]
    TooLarge {
        /// Maximum size in bytes.
        max: usize,
    },
    /// The schema is not JSON.
    #[error("it is not JSON")]
    NotJson(#[source] Cause),
    /// The schema has a keyword that could harm the host.
    #[error("`$ref`, `unevaluatedProperties` and `unevaluatedItems` are not supported")]
    Unsupported,
    /// Checking the config would take too many comparisons.
    #[error("its values times those of the config are {work}; the maximum is {max}")]
    TooMuchWork {
        /// Number of values of the schema, times that of the config.
        work: usize,
        /// Maximum of that product.
        max: usize,
    },
    /// The schema has too many patterns.
    #[error("it has {patterns} patterns; the maximum is {max}")]
    TooManyPatterns {
        /// Number of patterns.
        patterns: usize,
        /// Maximum number of patterns.
        max: usize,
    },
    /// Matching the patterns with the config would take too long.
    #[error(
        "its patterns ({patterns}) times the bytes of the config ({bytes}) are {work}; the maximum is {max}"
    )]
    TooMuchMatching {
        /// Number of patterns.
        patterns: usize,
        /// Size of the config in bytes.
        bytes: usize,
        /// Product of both.
        work: usize,
        /// Maximum of that product.
        max: usize,
    },
    /// The validator rejects the schema, with this message. It may quote a part of the schema.
    #[error("{0}")]
    Rejected(String),
}

impl ConfigError {
    /// Returns the message with its causes, but without free text of the strategy. A strategy that serves
    /// several clients could quote the data of another client there. Its schema is quoted, since it declares
    /// that to every client.
    #[must_use]
    pub fn without_free_text(&self) -> String {
        match self {
            Self::Declared { strategy, .. } => {
                format!("the strategy `{strategy}` rejects this config")
            }
            Self::NoIntrospection { source, .. } => {
                format!("{self}: {}", source.without_free_text())
            }
            error => with_causes(error),
        }
    }
}
