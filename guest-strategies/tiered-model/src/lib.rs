//! Reduces a conversation only as far as the budget requires, as `tiered` does. If old steps have to be removed, a
//! model describes what happened in them. Below follows what has to be exact: the user's rules, errors, to-do
//! lists and names.
//!
//! Without a usable answer the result is that of `tiered`.

mod config;
mod story;

#[cfg(test)]
mod tests;

use baler_strategy::{Conversation, Failure, Limits, Report, Situation, Strategy, Value};

pub use config::Config;

use story::StoryWriter;

/// The strategy.
#[derive(Debug)]
pub struct TieredModel;

impl Strategy for TieredModel {
    type Config = Config;
    const NAME: &'static str = "tiered-model";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Cuts old outputs to what matters in them, replaces older steps by a model's description above the facts that have to be exact, and keeps the newest unchanged; only as far as the budget requires.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &[
        "repeated",
        "superseded",
        "cut",
        "parts-removed",
        "digested",
        "removed",
        "summarized",
    ];
    const METRIC_NAMES: &'static [&'static str] = &[
        "outputs-cut",
        "parts-removed",
        "units-digested",
        "digest-tokens",
        "names-found",
        "names-kept",
        "summary",
        "units-summarized",
        "units-left-out",
        "summary-tokens",
        "unfounded-lines",
        "model-calls",
        "input-tokens",
        "output-tokens",
    ];
    const LIMITS: Limits = baler_strategy_core::summary::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let mut writer = StoryWriter::new(conversation, situation, config);
        let chosen = baler_strategy_core::tiered::choose(
            conversation,
            situation,
            &config.tiers(),
            &mut |removed| writer.write(removed),
        )?;
        let summary = match writer.was_wanted() {
            _ if chosen.is_summarised => "written",
            true => "none",
            false => "not-asked",
        };
        let report = chosen
            .report
            .with_metric("summary", Value::Text(summary.to_owned()));
        Ok(writer.add_to(report, chosen.is_summarised))
    }
}

baler_strategy::export!(TieredModel);
