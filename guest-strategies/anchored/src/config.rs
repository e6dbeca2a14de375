#[cfg(test)]
mod tests;

use serde::Deserialize;

/// The context window in tokens that is assumed if it is not known.
const WINDOW: u32 = 128_000;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest turns stay unchanged. Fractions are cut off; less than 0 counts as 0.
    pub preserve_turns: f64,
    /// The most tokens of older user messages that are kept.
    pub max_retained_user_tokens: u32,
    /// The share of the context window from which on to compact.
    pub threshold: f64,
    /// The instruction to the model. `None`: the strategy's own.
    pub instructions: Option<String>,
    /// The role of the summary.
    pub role: SummaryRole,
    /// The most tokens of the model's answer and of the summary.
    pub max_output_tokens: u32,
}

/// The role of the summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryRole {
    /// Always allowed.
    #[default]
    User,
    /// Only in OpenAI's formats, and only if the host's policy `summary-role` allows it.
    Developer,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            preserve_turns: 2.0,
            max_retained_user_tokens: 8_192,
            threshold: 0.9,
            instructions: None,
            role: SummaryRole::User,
            max_output_tokens: 4_096,
        }
    }
}

impl Config {
    /// Checks the ranges of all fields.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            let threshold = self.threshold;
            return Err(format!(
                "`threshold` must be over 0 and at most 1: {threshold}"
            ));
        }
        if self.max_output_tokens < 64 {
            let tokens = self.max_output_tokens;
            return Err(format!("`max-output-tokens` must be at least 64: {tokens}"));
        }
        if let Some(text) = &self.instructions
            && text.trim().is_empty()
        {
            return Err(
                "`instructions` must not be blank: leave it out for the default".to_owned(),
            );
        }
        Ok(())
    }

    pub(crate) fn turns(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "that is what is meant: truncated, and 0 for what is less"
        )]
        let turns = self.preserve_turns as usize;
        turns
    }

    /// Whether so many tokens of a window (0: of one that is not known) are enough to compact.
    pub(crate) fn is_reached(&self, used: u32, window: u32) -> bool {
        let window = if window == 0 { WINDOW } else { window };
        f64::from(used) >= f64::from(window) * self.threshold
    }

    pub(crate) fn instructions(&self) -> &str {
        self.instructions
            .as_deref()
            .unwrap_or(include_str!("instructions.txt").trim_ascii_end())
    }
}
