//! What Microsoft Agent Framework's `SummarizationStrategy` does: keeps the newest groups of messages and lets a model
//! summarise the oldest.
//!
//! **Source**: agent-framework-core 1.23.0, `agent_framework/_compaction.py` (MIT). Written anew from its behaviour; the
//! instruction asks for the same in other words.
//!
//! **Defaults**: `target-count` 4 messages stay, more than `target-count` + `threshold` (2) messages trigger, the model reads
//! at most 8,000 tokens (`max-summary-input-tokens`), and writes at most five sentences.
//!
//! **Cut**: as many of the newest groups stay as have `target-count` messages; a step with its outputs is one group. Of the
//! older groups the oldest that fit the 8,000 tokens are summarised, and those between stay for a later compaction. A group
//! that alone is larger is passed over.
//!
//! **Here it differs**: Words of the user that the host protects stay. If what is kept does not fit the budget, its oldest
//! groups are summarised too, whatever the 8,000 tokens say. The summary is a message of the user, because no strategy may
//! write one of the model, and comes after what it replaces. Fewer messages than the trigger are compacted too if
//! they do not fit the budget.

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Form, Task};
use baler_strategy::{
    Conversation, Decision, Failure, Limits, Report, Situation, Strategy, Unit, UnitKind,
};
use serde::Deserialize;

const TASK: &str = "Write a clear and complete summary of this conversation in at most five sentences. Tell what both the \
    user and the assistant contributed, so that the conversation can go on from it, and put first what matters most. Keep \
    every detail of an earlier summary. Add no criticism, correction, interpretation or guess, and nothing that was not said.";

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest messages stay.
    pub target_count: u32,
    /// How many messages more than that do not trigger yet.
    pub threshold: u32,
    /// The most tokens of instruction and messages that the model reads. `None`: all.
    pub max_summary_input_tokens: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target_count: 4,
            threshold: 2,
            max_summary_input_tokens: Some(8_000),
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct AgentFramework;

impl Strategy for AgentFramework {
    type Config = Config;
    const NAME: &'static str = "agent-framework";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Keeps the newest messages; a model summarises the oldest (Microsoft Agent Framework's SummarizationStrategy).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = ask::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        match (config.target_count, config.max_summary_input_tokens) {
            (0, _) => Err("`target-count` must be at least 1: 0".to_owned()),
            (_, Some(0)) => Err("`max-summary-input-tokens` must be at least 1: 0".to_owned()),
            _ => Ok(()),
        }
    }

    fn should_compact(
        conversation: &Conversation<'_>,
        _: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let (messages, most) = (messages(conversation.units()), config.most());
        Ok(if messages > most {
            Decision::Compact(format!("{messages} messages are more than {most}"))
        } else {
            Decision::Wait(format!("{messages} messages are at most {most}"))
        })
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let selected = match messages(units) > config.most() {
            true => {
                let kept = ask::newest_messages(units, config.target_count);
                oldest(&units[..kept], config.room(conversation))
            }
            false => Vec::new(),
        };
        let mut wanted = ask::newest_first(conversation, 0);
        wanted.retain(|unit| selected.binary_search(unit).is_err());
        let task = Task {
            form: Form::Bare,
            ..Task::new(TASK, &[])
        };
        ask::compact(conversation, situation, &wanted, task)
    }
}

impl Config {
    /// The most messages that do not trigger.
    fn most(&self) -> u32 {
        self.target_count.saturating_add(self.threshold)
    }

    fn room(&self, conversation: &Conversation<'_>) -> u32 {
        self.max_summary_input_tokens.map_or(u32::MAX, |tokens| {
            tokens.saturating_sub(conversation.count(TASK))
        })
    }
}

/// Returns the number of messages, instructions not counted.
fn messages(units: &[Unit]) -> u32 {
    let units = units.iter();
    let units = units.filter(|unit| unit.kind != UnitKind::Instructions);
    units.map(|unit| unit.messages).sum()
}

/// Returns the oldest units that fit `room`, from the first that fits on.
fn oldest(units: &[Unit], room: u32) -> Vec<usize> {
    let mut selected = Vec::new();
    let mut left = room;
    for (index, unit) in units.iter().enumerate() {
        match left.checked_sub(unit.tokens) {
            _ if unit.kind == UnitKind::Instructions => {}
            Some(rest) => {
                left = rest;
                selected.push(index);
            }
            None if selected.is_empty() => {}
            None => break,
        }
    }
    selected
}

baler_strategy::export!(AgentFramework);
