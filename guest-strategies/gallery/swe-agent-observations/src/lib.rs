//! SWE-agent's history processor `last_n_observations`: all but the newest observations are elided.
//!
//! **Source**: SWE-agent 1.1.0, `sweagent/agent/history_processors.py`, `LastNObservations` (MIT).
//!
//! **Defaults**: `polling` 1. `n` has no default there, and is 5 in the paper and in each of its configs that use the
//! processor. The first observation always stays: in SWE-agent it is the task. Here it is the first message of the user, or
//! the first output if the model began.
//!
//! **Here it differs**:
//! - Tags of observations, which other parts of SWE-agent set, are names of tools here: `keep-output-of` and
//!   `remove-output-of`. By default there are none.
//! - An output stays if the placeholder with the host's mark around it would not be shorter (about 55 tokens), if it
//!   has pictures, or if it is in a protected unit, such as one that the model has not answered.
//! - If that does not reach the budget, the oldest units are removed. The original has no budget.

use std::num::NonZeroUsize;

use baler_gallery::{Draft, Output};
use baler_strategy::{Conversation, Failure, Report, Situation, Strategy, UnitKind};
use serde::Deserialize;

/// The strategy.
#[derive(Debug)]
pub struct SweAgentObservations;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest observations stay.
    pub n: NonZeroUsize,
    /// In which steps this number grows before it is `n` again, so that a provider's cache lasts so long.
    pub polling: NonZeroUsize,
    /// Tools whose outputs always stay.
    pub keep_output_of: Vec<String>,
    /// Tools whose outputs are always elided.
    pub remove_output_of: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            n: NonZeroUsize::MIN.saturating_add(4),
            polling: NonZeroUsize::MIN,
            keep_output_of: Vec::new(),
            remove_output_of: Vec::new(),
        }
    }
}

impl Strategy for SweAgentObservations {
    type Config = Config;
    const NAME: &'static str = "swe-agent-observations";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Elides all but the newest observations, as SWE-agent's last_n_observations does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let outputs = Output::all(conversation);
        let kinds = conversation.units().iter().map(|unit| unit.kind);
        let first = kinds
            .into_iter()
            .find(|kind| *kind != UnitKind::Instructions);
        // The observations that are no outputs.
        let task = usize::from(first == Some(UnitKind::User));
        let polling = config.polling.get();
        let observations = (outputs.len() + task) / polling * polling;
        let old = observations.saturating_sub(config.n.get());
        let mut draft = Draft::new(conversation, situation);
        for (number, output) in outputs.iter().enumerate() {
            let number = number + task;
            let is_old = number > 0 && number < old;
            let is_of = |tools: &[String]| tools.contains(&output.content.name);
            if (is_old && !is_of(&config.keep_output_of)) || is_of(&config.remove_output_of) {
                let lines = lines(&output.content.text);
                draft.replace(
                    output,
                    format!("Old environment output: ({lines} lines omitted)"),
                );
            }
        }
        draft.report()
    }
}

/// Counts lines as Python's `splitlines` does.
fn lines(text: &str) -> usize {
    const BREAKS: &[char] = &[
        '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}',
        '\u{2029}',
    ];
    let text = text.replace("\r\n", "\n");
    let breaks = text.matches(BREAKS).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with(BREAKS))
}

#[cfg(test)]
mod tests;

baler_strategy::export!(SweAgentObservations);
