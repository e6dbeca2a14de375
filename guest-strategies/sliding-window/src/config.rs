use std::num::NonZeroU32;

use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much of the newest part of the conversation stays.
    pub keep: Keep,
}

/// How much of the newest part of the conversation stays. Protected units and summaries do
/// not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// As much as fits the budget.
    #[default]
    Budget,
    /// At most this many units.
    Units(NonZeroU32),
    /// Units with at most this many messages in total.
    Messages(NonZeroU32),
    /// Units with at most this many tokens in total.
    Tokens(NonZeroU32),
}

impl Keep {
    /// Returns the limit of the window, and how much of it a unit with these messages and tokens uses.
    pub(crate) fn measure(self, messages: u32, tokens: u32) -> (u64, u64) {
        match self {
            Self::Budget => (u64::MAX, 0),
            Self::Units(units) => (units.get().into(), 1),
            Self::Messages(limit) => (limit.get().into(), messages.into()),
            Self::Tokens(limit) => (limit.get().into(), tokens.into()),
        }
    }
}
