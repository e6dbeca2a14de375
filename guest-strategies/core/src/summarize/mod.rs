//! Lets a model summarise the older part of a conversation and keeps the newest part.
//!
//! The summary replaces the older part and the summaries of earlier compactions. If the model gives no
//! summary, the strategy declares a failure.

mod config;
mod window;

#[cfg(test)]
mod tests;

use crate::summary::{Question, UnitOutcome};
use baler_strategy::{
    Conversation, Decision, Failure, FreeBudget, Insertion, Limits, PlanBuilder, Report, Situation,
    Strategy,
};

pub use config::{Config, Earlier, Preset};
pub use window::{newest_messages, newest_tokens};

/// The strategy.
#[derive(Debug)]
pub struct Summarize;

impl Strategy for Summarize {
    type Config = Config;
    const NAME: &'static str = "summarize";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Lets a model summarise the older part of the conversation and keeps the newest part.";
    const CONFIG_SCHEMA: &'static str = include_str!("config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["summarized", "earlier", "kept"];
    const METRIC_NAMES: &'static [&'static str] = &crate::summary::METRICS;
    const LIMITS: Limits = crate::summary::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn should_compact(
        _: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let used = u64::from(situation.used);
        Ok(match config.threshold(situation) {
            None => Decision::HostDecides,
            Some(threshold) if used >= threshold => {
                Decision::Compact(format!("{used} of {threshold} tokens are in use"))
            }
            Some(threshold) => {
                Decision::Wait(format!("only {used} of {threshold} tokens are in use"))
            }
        })
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let header = config
            .header()
            .map_or_else(String::new, |header| format!("{header}\n\n"));
        let framing = conversation.count(&header);
        let longest = config.max_output_tokens();
        let reserve = crate::summary::reserve(
            situation,
            &FreeBudget::after_protected(situation, units),
            framing,
            longest,
        );
        let wanted = window::wanted(conversation, situation, config.keep());
        let outcomes = window::outcomes(units, situation, wanted, reserve);
        let with = |wanted: UnitOutcome| -> Vec<usize> {
            let outcomes = outcomes.iter().enumerate();
            outcomes
                .filter(|(_, outcome)| **outcome == wanted)
                .map(|(unit, _)| unit)
                .collect()
        };
        let summarized = with(UnitOutcome::Summarized);
        if summarized.is_empty() {
            return Ok(Report::unchanged(
                "there is nothing to summarise except units that are kept",
            ));
        }
        let at = crate::summary::summary_position(&outcomes);
        let Some(room) =
            crate::summary::max_summary_tokens(situation, units, &outcomes, at, framing)?
        else {
            return Ok(Report::unchanged(
                "a summary would not be shorter than the units that it replaces",
            ));
        };
        let mut so_far =
            crate::summary::earlier_summaries(conversation, &with(UnitOutcome::Earlier), &header);
        let carried = carried(conversation, config, room.min(longest), &mut so_far);
        let question = Question {
            instruction: config.prompt(),
            wishes: crate::summary::wishes(situation),
            so_far: so_far.as_deref(),
            form: config.form(),
            max_output_tokens: longest,
            max_tokens: room
                .min(longest)
                .saturating_sub(conversation.count(&carried)),
        };
        let shown = crate::summary::with_messages_between(conversation, &summarized);
        let summary = crate::summary::summarize(conversation, &shown, &question)?;
        let mut builder = PlanBuilder::removing_all(units.len());
        for (unit, outcome) in outcomes.iter().enumerate() {
            let code = match outcome {
                UnitOutcome::Kept => "kept",
                UnitOutcome::Earlier => "earlier",
                UnitOutcome::Summarized => "summarized",
            };
            builder.reason(unit..unit + 1, code);
            if *outcome == UnitOutcome::Kept {
                builder.keep(unit);
            }
        }
        let text = format!("{header}{carried}{}", summary.text);
        builder.insert(at, Insertion::summary(text));
        Ok(summary.add_to(Report::compacted(builder.build()?), summarized.len()))
    }
}

/// Returns the earlier summaries to insert above the new one, if the config says so and they leave half of
/// `room`. They are then taken from `so_far`, so the model is not asked to merge them. Otherwise returns an
/// empty text.
fn carried(
    conversation: &Conversation<'_>,
    config: &Config,
    room: u32,
    so_far: &mut Option<String>,
) -> String {
    if config.earlier() == Earlier::Carry
        && let Some(text) = so_far.take_if(|text| conversation.count(text) < room / 2)
    {
        return text + "\n\n";
    }
    String::new()
}
