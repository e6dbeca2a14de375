//! Errors of configs.

use super::IntrospectError;
use super::MAX_CONFIG_BYTES;

/// Error of a config, or of the schema that it is checked against.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The config is not JSON.
    #[error("the config is not JSON: {0}")]
    NotJson(String),
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
    #[error("the config of `{strategy}` is invalid: {words}")]
    Declared {
        /// Name of the strategy.
        strategy: String,
        /// Free-text message of the strategy. It may quote anything that the strategy ever saw.
        words: String,
    },
    /// The strategy's schema cannot be used.
    #[error("`{strategy}` declares a config schema that cannot be used: {what}")]
    Schema {
        /// Name of the strategy.
        strategy: String,
        /// Reason.
        what: String,
    },
    /// The strategy did not return its schema.
    #[error("`{strategy}` did not return its config schema: {error}")]
    NoIntrospection {
        /// Name of the strategy.
        strategy: String,
        /// Error of the introspection.
        error: Box<IntrospectError>,
    },
}

impl ConfigError {
    /// Returns the message without free text of the strategy. A strategy that serves several clients could
    /// quote the data of another client there. Its schema is quoted, since it declares that to every client.
    #[must_use]
    pub fn without_free_text(&self) -> String {
        match self {
            Self::Declared { strategy, .. } => {
                format!("the strategy `{strategy}` rejects this config")
            }
            Self::NoIntrospection { strategy, error } => format!(
                "`{strategy}` did not return its config schema: {}",
                error.without_free_text()
            ),
            error => error.to_string(),
        }
    }
}
