#[cfg(test)]
mod tests;

use crate::summary::Form;
use baler_strategy::Situation;
use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema. An absent field is that of the
/// preset, or else the default.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The system whose defaults apply to absent fields.
    pub preset: Option<Preset>,
    /// Keeps the newest units with this many messages.
    pub keep_last_messages: Option<u32>,
    /// Keeps this many of the newest units.
    pub keep_last_units: Option<u32>,
    /// Keeps the newest units that fit this share of the context window.
    pub keep_share: Option<f64>,
    /// The tokens in use from which on to compact.
    pub trigger_tokens: Option<u32>,
    /// The share of the context window from which on to compact.
    pub trigger_share: Option<f64>,
    /// The instruction to the model. `None`: the strategy's own.
    pub prompt: Option<String>,
    /// The text above the summary.
    pub header: Option<String>,
    /// How earlier summaries are included.
    pub earlier_summaries: Option<Earlier>,
    /// The most tokens of the model's answer and of the summary.
    pub max_output_tokens: Option<u32>,
}

/// A system whose defaults can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// `Planck.Agent.Compactor`
    Planck,
    /// `Puck.Compaction.Summarize`
    Puck,
}

/// How earlier summaries are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Earlier {
    /// The model reads them and writes one summary of everything.
    Merge,
    /// They stay word for word above the new summary, as long as the budget allows.
    Carry,
}

/// How much of the newest part is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Keep {
    Messages(u32),
    Units(u32),
    Share(f64),
}

impl Config {
    /// Checks the ranges of all fields.
    pub(crate) fn check(&self) -> Result<(), String> {
        one_of(
            "at most one of `keep-last-messages`, `keep-last-units` and `keep-share`",
            &[
                self.keep_last_messages.is_some(),
                self.keep_last_units.is_some(),
                self.keep_share.is_some(),
            ],
        )?;
        one_of(
            "at most one of `trigger-tokens` and `trigger-share`",
            &[self.trigger_tokens.is_some(), self.trigger_share.is_some()],
        )?;
        for (name, number) in [
            ("keep-last-messages", self.keep_last_messages),
            ("keep-last-units", self.keep_last_units),
            ("trigger-tokens", self.trigger_tokens),
        ] {
            if number == Some(0) {
                return Err(format!("`{name}` must be at least 1: 0"));
            }
        }
        if let Some(tokens) = self.max_output_tokens
            && tokens < 64
        {
            return Err(format!("`max-output-tokens` must be at least 64: {tokens}"));
        }
        for (name, share) in [
            ("keep-share", self.keep_share),
            ("trigger-share", self.trigger_share),
        ] {
            if let Some(share) = share
                && !(share > 0.0 && share <= 1.0)
            {
                return Err(format!("`{name}` must be over 0 and at most 1: {share}"));
            }
        }
        for (name, text) in [("prompt", &self.prompt), ("header", &self.header)] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err(format!(
                    "`{name}` must not be blank: leave it out for the default"
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn keep(&self) -> Keep {
        let messages = self.keep_last_messages.map(Keep::Messages);
        let units = self.keep_last_units.map(Keep::Units);
        let share = self.keep_share.map(Keep::Share);
        messages.or(units).or(share).unwrap_or(match self.preset {
            None => Keep::Share(0.1),
            Some(Preset::Planck) => Keep::Messages(10),
            Some(Preset::Puck) => Keep::Messages(3),
        })
    }

    /// Returns the tokens from which on to compact, `None` if neither the config nor the host defines them.
    pub(crate) fn threshold(&self, situation: &Situation) -> Option<u64> {
        if let Some(tokens) = self.trigger_tokens {
            return Some(u64::from(tokens));
        }
        let preset = (self.preset == Some(Preset::Planck)).then_some(0.8);
        let share = self.trigger_share.or(preset)?;
        (situation.context_window > 0).then(|| share_of(situation.context_window, share))
    }

    pub(crate) fn prompt(&self) -> &str {
        self.prompt.as_deref().unwrap_or(match self.preset {
            None => include_str!("prompts/default.txt").trim_ascii_end(),
            Some(Preset::Planck) => include_str!("prompts/planck.txt").trim_ascii_end(),
            Some(Preset::Puck) => include_str!("prompts/puck.txt").trim_ascii_end(),
        })
    }

    pub(crate) fn header(&self) -> Option<&str> {
        let preset = (self.preset == Some(Preset::Puck)).then_some("[Conversation Summary]");
        self.header.as_deref().or(preset)
    }

    pub(crate) fn earlier(&self) -> Earlier {
        self.earlier_summaries.unwrap_or(match self.preset {
            None | Some(Preset::Puck) => Earlier::Merge,
            Some(Preset::Planck) => Earlier::Carry,
        })
    }

    pub(crate) fn form(&self) -> Form {
        match self.preset {
            None => Form::Tagged,
            Some(Preset::Planck) => Form::Bare,
            Some(Preset::Puck) => Form::OneMessage,
        }
    }

    pub(crate) fn max_output_tokens(&self) -> u32 {
        self.max_output_tokens.unwrap_or(4_096)
    }
}

/// Returns a share of `tokens`, truncated. The product is computed in double precision.
pub(crate) fn share_of(tokens: u32, share: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "truncation is meant, and neither factor is negative"
    )]
    let product = (f64::from(tokens) * share) as u64;
    product
}

fn one_of(rule: &str, given: &[bool]) -> Result<(), String> {
    match given.iter().filter(|given| **given).count() {
        0 | 1 => Ok(()),
        number => Err(format!("{rule} may be given: {number} are")),
    }
}
