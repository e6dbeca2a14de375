use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest steps stay unchanged, as long as the budget allows.
    pub recent: u32,
    /// What kind of work the conversation is about.
    pub work: Work,
    /// Outputs of fewer tokens are not cut.
    pub min_tokens: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            recent: 3,
            work: Work::Auto,
            min_tokens: 60,
        }
    }
}

/// What kind of work a conversation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Derived from the content of the conversation.
    #[default]
    Auto,
    /// Files, commands, logs. Most numbers are line numbers and sizes.
    Coding,
    /// A service whose tools return data. Most numbers are ids and amounts.
    Service,
    /// Talk without tools. What was said matters more than which names occurred.
    Chat,
}

impl Work {
    /// Returns the kind of work for the digest, `None` if it is to be derived.
    pub(crate) const fn digest_work(self) -> Option<baler_digest::Work> {
        match self {
            Self::Auto => None,
            Self::Coding => Some(baler_digest::Work::Coding),
            Self::Service => Some(baler_digest::Work::Service),
            Self::Chat => Some(baler_digest::Work::Chat),
        }
    }
}
