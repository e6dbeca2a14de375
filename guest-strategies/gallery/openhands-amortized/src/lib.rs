//! OpenHands' `AmortizedForgettingCondenser`: when there are too many events, the middle is forgotten, so that half of
//! the largest size is left.
//!
//! **Source**: openhands-ai 1.6.0, `openhands/memory/condenser/impl/amortized_forgetting_condenser.py` (MIT).
//!
//! **Defaults**: `max-size` 100 and `keep-first` 1, by `AmortizedForgettingCondenserConfig`. (`keep_first` of the class alone
//! is 0.)
//!
//! **Here it differs**:
//! - More than `max-size` events make a compaction due. When the host asks for a smaller conversation, that is a request
//!   for condensation as OpenHands makes one after an error of the provider: events are forgotten at any size.
//! - Events become units by the rule of [`Events::keep`]. Protected units stay in addition: the task, the user's words,
//!   calls and outputs that the model has not answered.
//! - If the result exceeds the budget, the oldest units are removed. The original has no budget.

use baler_gallery::{Draft, Events, decide};
use baler_strategy::{Conversation, Decision, Failure, Report, Situation, Strategy};
use serde::Deserialize;

/// The strategy.
#[derive(Debug)]
pub struct OpenhandsAmortized;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The most events before some are forgotten.
    pub max_size: usize,
    /// How many of the first events stay.
    pub keep_first: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_size: 100,
            keep_first: 1,
        }
    }
}

impl Strategy for OpenhandsAmortized {
    type Config = Config;
    const NAME: &'static str = "openhands-amortized";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Forgets the middle when there are too many events, as OpenHands' AmortizedForgettingCondenser does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn check(config: &Config) -> Result<(), String> {
        let half = config.max_size / 2;
        if config.keep_first < half {
            return Ok(());
        }
        Err(format!(
            "`keep-first` must be less than half of `max-size` ({half}): {}",
            config.keep_first
        ))
    }

    fn should_compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let events = Events::of(conversation);
        let is_due = events.count() > config.max_size
            && forgetting(conversation, situation, config, &events).has_changes();
        let due = is_due.then(|| format!("more than {} events", config.max_size));
        let not_due = "there are no more events than `max-size`, or only protected ones";
        Ok(decide(situation, due, not_due))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let events = Events::of(conversation);
        forgetting(conversation, situation, config, &events).report()
    }
}

fn forgetting<'a>(
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    config: &Config,
    events: &Events,
) -> Draft<'a> {
    let tail = (config.max_size / 2).saturating_sub(config.keep_first);
    let recent = events.count().saturating_sub(tail);
    let mut draft = Draft::new(conversation, situation);
    draft.retain(|unit, _| events.keep(unit, |event| event < config.keep_first || event >= recent));
    draft
}

#[cfg(test)]
mod tests;

baler_strategy::export!(OpenhandsAmortized);
