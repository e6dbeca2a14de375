//! OpenHands' `RecentEventsCondenser`: the first events and the most recent ones.
//!
//! **Source**: openhands-ai 1.6.0, `openhands/memory/condenser/impl/recent_events_condenser.py` (MIT).
//!
//! **Defaults**: `keep-first` 1 and `max-events` 100, by `RecentEventsCondenserConfig`. (`max_events` of the class alone is
//! 10.)
//!
//! **Here it differs**:
//! - Events become units by the rule of [`Events::keep`]. Protected units stay in addition: the task, the user's words,
//!   calls and outputs that the model has not answered. OpenHands puts only system prompt and task back.
//! - No event comes twice. The original repeats the first events if there are fewer than `max_events`, and keeps
//!   everything if `keep_first` is not below `max_events`.
//! - If the result exceeds the budget, the oldest units are removed. The original has no budget.

use std::num::NonZeroUsize;

use baler_gallery::{Draft, Events};
use baler_strategy::{Conversation, Failure, Report, Situation, Strategy};
use serde::Deserialize;

/// The strategy.
#[derive(Debug)]
pub struct OpenhandsRecent;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the first events stay.
    pub keep_first: usize,
    /// How many events stay, these included.
    pub max_events: NonZeroUsize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            keep_first: 1,
            max_events: NonZeroUsize::MIN.saturating_add(99),
        }
    }
}

impl Strategy for OpenhandsRecent {
    type Config = Config;
    const NAME: &'static str = "openhands-recent";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Keeps the first and the most recent events, as OpenHands' RecentEventsCondenser does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let events = Events::of(conversation);
        let tail = config.max_events.get().saturating_sub(config.keep_first);
        let recent = events.count().saturating_sub(tail);
        let stays = |event| event < config.keep_first || event >= recent;
        let mut draft = Draft::new(conversation, situation);
        draft.retain(|unit, _| events.keep(unit, stays));
        draft.report()
    }
}

#[cfg(test)]
mod tests;

baler_strategy::export!(OpenhandsRecent);
