//! Renders old turns as one text, which is joined to the task.
//!
//! The rules are those of ptc_runner's `SingleUserCoalesced`. The task comes first. The text then lists
//! tools, data and definitions, the form of the answer, what was called and printed, the last error, and how
//! many turns are left. The newest turns stay unchanged.

mod config;
mod context;
mod value;
mod order;
mod print;
mod signature;
mod limits;
mod turn;
mod material;
mod text;
mod choice;
mod stats;

#[cfg(test)]
mod tests;

use baler_strategy::{Conversation, Failure, Insertion, PlanBuilder, Report, Situation, Strategy};

use choice::{UnitOutcome, choose};
pub use config::Config;
use context::Context;
use stats::Stats;

/// The strategy.
#[derive(Debug)]
pub struct Coalesce;

impl Strategy for Coalesce {
    type Config = Config;
    const NAME: &'static str = "coalesce";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Renders old turns as one text that is joined to the task, and keeps the newest turns.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["task", "recent", "summary", "coalesced"];
    const METRIC_NAMES: &'static [&'static str] = Stats::NAMES;

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let context = Context::parse(&situation.context)?;
        let choice = match choose(conversation, situation, config, &context) {
            Ok(choice) => choice,
            Err(reason) => return Ok(Stats::default().report(Report::unchanged(reason))),
        };
        let mut builder = PlanBuilder::removing_all(choice.outcomes.len());
        for (index, outcome) in choice.outcomes.iter().enumerate() {
            if *outcome != UnitOutcome::Coalesced {
                builder.keep(index);
            }
            if let Some(code) = outcome.code() {
                builder.reason(index..index + 1, code);
            }
        }
        let text = Insertion::summary(choice.text).placed(choice.placement);
        builder.insert(choice.place, text);
        Ok(choice.stats.report(Report::compacted(builder.build()?)))
    }
}

baler_strategy::export!(Coalesce);
