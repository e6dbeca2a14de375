use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest steps stay unchanged, as long as the budget allows.
    pub recent: u32,
    /// Outputs of fewer tokens are not cut.
    pub min_tokens: u32,
    /// The instruction to the model. `None`: the strategy's own.
    pub prompt: Option<String>,
    /// The most tokens of the model's answer and of the summary.
    pub max_output_tokens: u32,
}

impl Default for Config {
    fn default() -> Self {
        let baler_strategy_core::tiered::Config { recent, min_tokens } =
            baler_strategy_core::tiered::Config::default();
        Self {
            recent,
            min_tokens,
            prompt: None,
            max_output_tokens: 4_096,
        }
    }
}

impl Config {
    /// Checks the ranges of all fields.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.max_output_tokens < 64 {
            let tokens = self.max_output_tokens;
            return Err(format!("`max-output-tokens` must be at least 64: {tokens}"));
        }
        if self
            .prompt
            .as_ref()
            .is_some_and(|text| text.trim().is_empty())
        {
            return Err("`prompt` must not be blank: leave it out for the default".to_owned());
        }
        Ok(())
    }

    /// Returns the part of the config that `tiered` has as well.
    pub(crate) const fn tiers(&self) -> baler_strategy_core::tiered::Config {
        baler_strategy_core::tiered::Config {
            recent: self.recent,
            min_tokens: self.min_tokens,
        }
    }

    pub(crate) fn prompt(&self) -> &str {
        self.prompt
            .as_deref()
            .unwrap_or(include_str!("prompts/default.txt").trim_ascii_end())
    }
}
