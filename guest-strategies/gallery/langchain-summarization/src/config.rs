use baler_gallery_ask as ask;
use baler_strategy::{Conversation, Situation};
use serde::Deserialize;

/// How many of the newest messages stay if a fraction is configured and the window is not known.
const MESSAGES: u32 = 20;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// When to compact: as soon as one of these clauses is met.
    pub trigger: Vec<Clause>,
    /// How much of the newest part stays.
    pub keep: Size,
    /// The most tokens of the removed messages that the model reads. `None`: all.
    pub trim_tokens_to_summarize: Option<u32>,
}

/// Thresholds of which all must be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clause {
    /// Messages of the conversation.
    pub messages: Option<u32>,
    /// Tokens in use.
    pub tokens: Option<u32>,
    /// Share of the context window in use.
    pub fraction: Option<f64>,
}

/// A size of the newest part.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Messages.
    Messages(u32),
    /// Tokens.
    Tokens(u32),
    /// Share of the context window.
    Fraction(f64),
}

impl Default for Config {
    fn default() -> Self {
        Self {
            trigger: Vec::new(),
            keep: Size::Messages(MESSAGES),
            trim_tokens_to_summarize: Some(4_000),
        }
    }
}

impl Clause {
    pub(crate) fn is_met(&self, messages: u32, situation: &Situation) -> bool {
        let share = |fraction| ask::share_of_window(situation, fraction).map(|share| share.max(1));
        // Of a window that is not known, no share is reached.
        let fraction = self.fraction.map(|f| share(f).unwrap_or(u32::MAX));
        self.messages.is_none_or(|least| messages >= least)
            && self.tokens.is_none_or(|least| situation.used >= least)
            && fraction.is_none_or(|least| situation.used >= least)
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), String> {
        for clause in &self.trigger {
            if *clause == Clause::default() {
                return Err(
                    "each clause of `trigger` must have `messages`, `tokens` or `fraction`: found none of them"
                        .to_owned(),
                );
            }
            if clause.messages == Some(0) || clause.tokens == Some(0) {
                return Err("`trigger`: `messages` and `tokens` must be at least 1: 0".to_owned());
            }
            if let Some(fraction) = clause.fraction {
                ask::check_share("trigger: fraction", fraction)?;
            }
        }
        if self.trim_tokens_to_summarize == Some(0) {
            return Err("`trim-tokens-to-summarize` must be at least 1: 0".to_owned());
        }
        match self.keep {
            Size::Messages(0) | Size::Tokens(0) => {
                Err("`keep`: `messages` and `tokens` must be at least 1: 0".to_owned())
            }
            Size::Fraction(fraction) => ask::check_share("keep: fraction", fraction),
            Size::Messages(_) | Size::Tokens(_) => Ok(()),
        }
    }

    /// Returns the index of the first unit to keep.
    pub(crate) fn first_kept(
        &self,
        conversation: &Conversation<'_>,
        situation: &Situation,
    ) -> usize {
        let units = conversation.units();
        match self.keep {
            Size::Messages(messages) => ask::newest_messages(units, messages),
            Size::Tokens(tokens) => ask::newest_tokens(conversation, tokens.into()),
            Size::Fraction(fraction) => match ask::share_of_window(situation, fraction) {
                Some(tokens) => ask::newest_tokens(conversation, tokens.max(1).into()),
                None => ask::newest_messages(units, MESSAGES),
            },
        }
    }
}
