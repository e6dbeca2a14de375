use serde::Deserialize;

/// The config; `config.schema.json` says the same as JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest steps stay as they are, as long as there is room.
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
    /// A guess by what stands in the conversation.
    #[default]
    Auto,
    /// Files, commands, logs: numbers are mostly lines and sizes.
    Coding,
    /// A service whose tools give back data: numbers are mostly ids and amounts.
    Service,
    /// Talk without tools: what was said matters, and not which names came up.
    Chat,
}

impl Work {
    /// What was said about it; None where it is to be guessed.
    pub(crate) const fn digest_work(self) -> Option<baler_digest::Work> {
        match self {
            Self::Auto => None,
            Self::Coding => Some(baler_digest::Work::Coding),
            Self::Service => Some(baler_digest::Work::Service),
            Self::Chat => Some(baler_digest::Work::Chat),
        }
    }
}
