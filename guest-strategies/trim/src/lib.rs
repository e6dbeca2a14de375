//! Keeps the first request and the newest turns, under pressure of turns or tokens.
//!
//! The rules are those of ptc_runner's `:trim`, without its defects: units are never split,
//! the newest request and the newest calls survive, and the result fits the budget.

mod config;
mod counter;
mod pressure;
mod choice;

#[cfg(test)]
mod tests;

use baler_strategy::{
    Conversation, Decision, Failure, PlanBuilder, Report, Situation, Strategy, Value,
};

use choice::{Choice, UnitOutcome, choose, turns_from};
pub use config::{Config, TokenCounter, Trigger};
use counter::{Costs, messages};
use pressure::Pressure;

/// The strategy.
#[derive(Debug)]
pub struct Trim;

impl Strategy for Trim {
    type Config = Config;
    const NAME: &'static str = "trim";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Under pressure of turns or tokens, keeps the first request and the newest turns.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &[
        "initial",
        "recent",
        "batch",
        "shortened",
        "summary",
        "removed",
    ];
    const METRIC_NAMES: &'static [&'static str] = &[
        "enabled",
        "triggered",
        "strategy",
        "reason",
        "messages-before",
        "messages-after",
        "estimated-tokens-before",
        "estimated-tokens-after",
        "kept-initial-user",
        "kept-recent-turns",
        "over-budget",
    ];

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn should_compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let costs = Costs::of(conversation, situation, config.token_counter);
        let pressure = pressure::of_trigger(conversation, situation, config, &costs)?;
        if let Some(pressure) = pressure
            && choose(conversation, situation, config).is_a_trim(conversation.units(), situation)
        {
            return Ok(Decision::Compact(pressure.name().to_owned()));
        }
        if pressure::of_host(conversation, situation).is_some() {
            return Ok(Decision::HostDecides);
        }
        let reason = match pressure {
            Some(pressure) => format!("{}, but nothing to remove", pressure.name()),
            None => NO_PRESSURE.to_owned(),
        };
        Ok(Decision::Wait(reason))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let costs = Costs::of(conversation, situation, config.token_counter);
        let pressure = pressure::of_trigger(conversation, situation, config, &costs)?
            .or_else(|| pressure::of_host(conversation, situation));
        let unchanged = |reason: String| {
            let report = Report::unchanged(reason);
            Ok(figures(
                report,
                conversation,
                config,
                &costs,
                pressure,
                None,
            ))
        };
        let Some(pressure) = pressure else {
            return unchanged(NO_PRESSURE.to_owned());
        };
        let choice = choose(conversation, situation, config);
        if !choice.is_a_trim(conversation.units(), situation) {
            return unchanged(format!("{}, but nothing to remove", pressure.name()));
        }
        let mut builder = PlanBuilder::removing_all(choice.outcomes.len());
        for (index, outcome) in choice.outcomes.iter().enumerate() {
            if *outcome != UnitOutcome::Removed {
                builder.keep(index);
            }
            if let Some(code) = choice.code(index) {
                builder.reason(index..index + 1, code);
            }
        }
        choice.large.add_to(&mut builder);
        let report = Report::compacted(builder.build()?);
        Ok(figures(
            report,
            conversation,
            config,
            &costs,
            Some(pressure),
            Some(&choice),
        ))
    }
}

const NO_PRESSURE: &str = "there are fewer turns and tokens than the trigger requires";

/// Adds the metrics, the same eleven for every outcome.
fn figures(
    report: Report,
    conversation: &Conversation<'_>,
    config: &Config,
    costs: &Costs,
    pressure: Option<Pressure>,
    choice: Option<&Choice>,
) -> Report {
    let units = conversation.units();
    let stays = |index| choice.is_none_or(|choice| choice.stays(index));
    let saved = choice.map_or(0, |choice| choice.large.saved_tokens());
    let tokens_after = costs.of_kept(stays).saturating_sub(saved);
    let limit = config.trigger.tokens;
    let is_over = limit.is_some_and(|limit| tokens_after > u64::from(limit.get()));
    report
        .with_metric("enabled", Value::Flag(true))
        .with_metric("triggered", Value::Flag(choice.is_some()))
        .with_metric("strategy", Value::Text("trim".to_owned()))
        .with_metric(
            "reason",
            Value::Text(pressure.map_or("none", Pressure::name).to_owned()),
        )
        .with_count("messages-before", messages(units, |_| true))
        .with_count("messages-after", messages(units, stays))
        .with_count("estimated-tokens-before", costs.of_kept(|_| true))
        .with_count("estimated-tokens-after", tokens_after)
        .with_metric(
            "kept-initial-user",
            Value::Flag(choice.is_some_and(Choice::keeps_initial)),
        )
        .with_count(
            "kept-recent-turns",
            turns_from(units, choice.map_or(0, |choice| choice.start)),
        )
        .with_metric("over-budget", Value::Flag(choice.is_some() && is_over))
}

baler_strategy::export!(Trim);
