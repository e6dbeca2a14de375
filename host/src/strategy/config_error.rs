//! Why a config cannot be used.

use super::IntrospectError;
use super::MAX_CONFIG_BYTES;

/// A config cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not JSON.
    #[error("the config is not JSON: {0}")]
    NotJson(String),
    /// It is too large to be checked.
    #[error("the config has {bytes} bytes; the most is {}", MAX_CONFIG_BYTES)]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The strategy takes none.
    #[error("`{strategy}` takes no config")]
    NotTaken {
        /// The strategy.
        strategy: String,
    },
    /// It does not obey the strategy's schema.
    #[error("the config of `{strategy}` is wrong: {}", problems.join("; "))]
    Invalid {
        /// The strategy.
        strategy: String,
        /// Where, and what is allowed there.
        problems: Vec<String>,
    },
    /// The strategy itself does not take it.
    #[error("the config of `{strategy}` is wrong: {words}")]
    Declared {
        /// The strategy.
        strategy: String,
        /// Its own words, which can hold whatever it was ever shown.
        words: String,
    },
    /// The strategy's schema cannot be used.
    #[error("`{strategy}` declares a config schema that cannot be used: {what}")]
    Schema {
        /// The strategy.
        strategy: String,
        /// Why not.
        what: String,
    },
    /// The strategy could not be asked for its schema.
    #[error("`{strategy}` could not be asked for its config schema: {error}")]
    NoIntrospection {
        /// The strategy.
        strategy: String,
        /// What happened.
        error: Box<IntrospectError>,
    },
}

impl ConfigError {
    /// What is wrong, without what a strategy says of it in words of its own. One that serves
    /// many can put into these what another of its users showed it. Its schema is quoted: that it
    /// tells to everybody who asks who it is.
    #[must_use]
    pub fn without_free_text(&self) -> String {
        match self {
            Self::Declared { strategy, .. } => {
                format!("the strategy `{strategy}` does not take this config")
            }
            Self::NoIntrospection { strategy, error } => format!(
                "`{strategy}` could not be asked for its config schema: {}",
                error.without_free_text()
            ),
            error => error.to_string(),
        }
    }
}
