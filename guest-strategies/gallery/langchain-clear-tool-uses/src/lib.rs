//! LangChain's `ClearToolUsesEdit`: all but the newest tool outputs are cleared. The calls stay.
//!
//! **Source**: langchain 1.5.2, `langchain/agents/middleware/context_editing.py` (MIT).
//!
//! **Defaults**: `trigger` 100,000 tokens, `keep` 3, `clear-at-least` 0, no `exclude-tools`, `placeholder` `[cleared]`.
//!
//! **Here it differs**:
//! - `trigger` decides when to compact. When the host asks for a smaller conversation, outputs are cleared at any size.
//! - An output stays if the placeholder with the host's mark around it would not be shorter (about 45 tokens), if it
//!   has pictures, or if it is in a protected unit, such as one that the model has not answered.
//! - Arguments of calls are what the model wrote and cannot be changed: there is no `clear_tool_inputs`.
//! - If clearing does not reach the budget, the oldest units are removed. The original goes over it.

use baler_gallery::{Draft, Output, decide};
use baler_strategy::{Conversation, Decision, Failure, Report, Situation, Strategy};
use serde::Deserialize;

/// The strategy.
#[derive(Debug)]
pub struct LangchainClearToolUses;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// More tokens than these make it due.
    pub trigger: u32,
    /// How many of the newest outputs stay.
    pub keep: usize,
    /// If not 0, no more outputs are cleared than save so many tokens.
    pub clear_at_least: u32,
    /// Tools whose outputs stay.
    pub exclude_tools: Vec<String>,
    /// What stands for a cleared output.
    pub placeholder: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            trigger: 100_000,
            keep: 3,
            clear_at_least: 0,
            exclude_tools: Vec::new(),
            placeholder: "[cleared]".to_owned(),
        }
    }
}

impl Strategy for LangchainClearToolUses {
    type Config = Config;
    const NAME: &'static str = "langchain-clear-tool-uses";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Clears all but the newest tool outputs, as LangChain's ClearToolUsesEdit does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn should_compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let is_due = situation.used > config.trigger
            && cleared(conversation, situation, config).has_changes();
        let due = is_due.then(|| format!("more than {} tokens", config.trigger));
        let not_due = "there are fewer tokens than the trigger requires, or no output to clear";
        Ok(decide(situation, due, not_due))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        cleared(conversation, situation, config).report()
    }
}

fn cleared<'a>(
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    config: &Config,
) -> Draft<'a> {
    let mut draft = Draft::new(conversation, situation);
    let outputs = Output::all(conversation);
    let old = outputs.len().saturating_sub(config.keep);
    let mut saved: u32 = 0;
    for output in &outputs[..old] {
        if config.exclude_tools.contains(&output.content.name) {
            continue;
        }
        saved = saved.saturating_add(draft.replace(output, &*config.placeholder));
        if config.clear_at_least > 0 && saved >= config.clear_at_least {
            break;
        }
    }
    draft
}

#[cfg(test)]
mod tests;

baler_strategy::export!(LangchainClearToolUses);
