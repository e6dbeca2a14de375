//! OpenHands' `ObservationMaskingCondenser`: observations outside of the attention window are masked.
//!
//! **Source**: openhands-ai 1.6.0, `openhands/memory/condenser/impl/observation_masking_condenser.py` (MIT).
//!
//! **Defaults**: `attention-window` 100 events, by `ObservationMaskingCondenserConfig`. (That of the class alone is 5.)
//!
//! **Here it differs**:
//! - The call stays, and its output becomes `<MASKED>`. In the original, a masked observation no longer belongs to its
//!   call, so that OpenHands sends `<MASKED>` as a message of the user and, with calls of tools, drops the call.
//! - An output stays if the placeholder with the host's mark around it would not be shorter (about 45 tokens), if it
//!   has pictures, or if it is in a protected unit, such as one that the model has not answered.
//! - If that does not reach the budget, the oldest units are removed. The original has no budget.

use std::num::NonZeroUsize;

use baler_gallery::{Draft, Events, Output};
use baler_strategy::{Conversation, Failure, Report, Situation, Strategy};
use serde::Deserialize;

/// The strategy.
#[derive(Debug)]
pub struct OpenhandsMask;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// In how many of the newest events observations stay.
    pub attention_window: NonZeroUsize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            attention_window: NonZeroUsize::MIN.saturating_add(99),
        }
    }
}

impl Strategy for OpenhandsMask {
    type Config = Config;
    const NAME: &'static str = "openhands-mask";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Masks outputs outside of the attention window, as OpenHands' ObservationMaskingCondenser does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let events = Events::of(conversation);
        let window = events.count().saturating_sub(config.attention_window.get());
        let mut draft = Draft::new(conversation, situation);
        for output in Output::all(conversation) {
            if events.of_output(output.unit, output.number) < window {
                draft.replace(&output, "<MASKED>");
            }
        }
        draft.report()
    }
}

#[cfg(test)]
mod tests;

baler_strategy::export!(OpenhandsMask);
