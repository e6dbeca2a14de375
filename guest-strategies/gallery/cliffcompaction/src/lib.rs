//! CliffCompaction: all but the newest steps become a summary by rules, without a model: what the model said, its calls
//! cut short, and short results. Long results are left out.
//!
//! **Source**: cliffcompaction 0.1.0, `cliff.py` (the rule), `engine.py` (its trigger, and harsher knobs while the result is
//! too large) and `dialects/` (the words) (MIT).
//!
//! **Defaults**: `threshold-tokens` 200,000, `keep-recent` 3, `thought-max-chars` 0 (any length), `cmd-max-chars` 150,
//! `result-max-chars` 500, `human-max-chars` 20,000, `keep-thinking`, `thinking-max-chars` 0.
//!
//! **Here it differs**:
//! - Protected units in the compacted part, such as the user's words, stay as they are behind the summary, which does not
//!   repeat them.
//! - The original is a proxy that compacts again what it compacted before, and drops the earlier summary each time. A
//!   long history that it sees for the first time, it compacts in several such cycles. Here each call is one cycle.
//! - While the result exceeds the budget, its ladder is climbed: one recent step; then thoughts of 300 characters and
//!   no thinking; then the oldest parts of the summary go, which the original does only after the provider refused
//!   a request, or with `strict`. In the end the oldest units are removed.

mod rung;
mod summary;

use baler_gallery::{Draft, decide};
use baler_strategy::{
    Conversation, Decision, Failure, Report, Situation, Strategy, Unit, UnitKind,
};
use serde::Deserialize;

use rung::Rung;

/// The strategy.
#[derive(Debug)]
pub struct Cliffcompaction;

/// The config. `config.schema.json` is its JSON Schema. Where the most characters are 0, any number stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// More tokens than these make a compaction due.
    pub threshold_tokens: u32,
    /// How many of the newest steps stay, each with what follows it.
    pub keep_recent: usize,
    /// The most characters of what the model said in a step.
    pub thought_max_chars: usize,
    /// The most characters of a call's arguments.
    pub cmd_max_chars: usize,
    /// Longer results are left out.
    pub result_max_chars: usize,
    /// The most characters of a message of the user.
    pub human_max_chars: usize,
    /// Whether thinking is in the summary.
    pub keep_thinking: bool,
    /// The most characters of what the model thought in a step.
    pub thinking_max_chars: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            threshold_tokens: 200_000,
            keep_recent: 3,
            thought_max_chars: 0,
            cmd_max_chars: 150,
            result_max_chars: 500,
            human_max_chars: 20_000,
            keep_thinking: true,
            thinking_max_chars: 0,
        }
    }
}

impl Strategy for Cliffcompaction {
    type Config = Config;
    const NAME: &'static str = "cliffcompaction";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Makes a summary of all but the newest steps by rules, as CliffCompaction does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn should_compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let is_due = situation.used > config.threshold_tokens
            && Cut::of(conversation.units(), config.keep_recent).is_some();
        let due = is_due.then(|| format!("more than {} tokens", config.threshold_tokens));
        let not_due = "there are fewer tokens than the threshold, or no older step";
        Ok(decide(situation, due, not_due))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let mut draft = Draft::new(conversation, situation);
        for rung in Rung::ALL {
            draft = rung
                .draft(conversation, situation, *config)
                .unwrap_or(draft);
            if draft.fits() {
                break;
            }
        }
        draft.report()
    }
}

/// Where the compacted part begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    start: usize,
    end: usize,
}

impl Cut {
    /// Returns the part between what comes before the first step, and the newest `keep` steps; `None` if there is no step in it
    /// that may be removed. An earlier summary belongs to the part, but is no reason to compact it.
    fn of(units: &[Unit], keep: usize) -> Option<Self> {
        let is_step = |unit: &Unit| unit.kind == UnitKind::Step;
        let first = units.iter().position(is_step)?;
        let head = units[..first].iter();
        let start = first
            - head
                .rev()
                .take_while(|unit| unit.kind == UnitKind::Summary)
                .count();
        let steps = (0..units.len()).filter(|index| is_step(&units[*index]));
        let end = match keep {
            0 => units.len(),
            keep => steps.rev().nth(keep - 1)?,
        };
        let mut part = units[start..end].iter();
        part.any(|unit| is_step(unit) && !unit.is_protected())
            .then_some(Self { start, end })
    }
}

#[cfg(test)]
mod tests;

baler_strategy::export!(Cliffcompaction);
