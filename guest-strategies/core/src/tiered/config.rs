use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest steps stay unchanged, as long as the budget allows.
    pub recent: u32,
    /// Outputs of fewer tokens are not cut.
    pub min_tokens: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            recent: 3,
            min_tokens: 60,
        }
    }
}
