//! Keeps the newest turns and, as anchors, older messages of the user; a model summarises the
//! rest.
//!
//! The user's requests stay in the user's own words. If the model gives no summary, the strategy declares a
//! failure.

mod config;

mod split;

#[cfg(test)]
mod tests;

use baler_strategy::{
    Conversation, Decision, Failure, FreeBudget, Insertion, Limits, PlanBuilder, Report, Role,
    Situation, Strategy, UnitKind,
};
use baler_strategy_core::summary::{Form, Question};

pub use config::{Config, SummaryRole};
use split::{Split, UnitClass};

/// The text for a host to insert if it has to remove the older part without a summary.
pub const PLACEHOLDER: &str = "(Earlier conversation omitted due to length)";

/// The last line of the prompt.
const CLOSING: &str = "Summarize the conversation.";

/// The strategy.
#[derive(Debug)]
pub struct Anchored;

impl Strategy for Anchored {
    type Config = Config;
    const NAME: &'static str = "anchored";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Keeps the newest turns and older user messages; a model summarises the rest.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] =
        &["preserved", "anchor", "protected", "earlier", "summarized"];
    const METRIC_NAMES: &'static [&'static str] = &baler_strategy_core::summary::METRICS;
    const LIMITS: Limits = baler_strategy_core::summary::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn should_compact(
        _: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let used = situation.used;
        let share = config.threshold;
        Ok(if config.is_reached(used, situation.context_window) {
            Decision::Compact(format!("{used} tokens are {share} of the window or more"))
        } else {
            Decision::Wait(format!("{used} tokens are less than {share} of the window"))
        })
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let framing = conversation.count(&framed(""));
        let longest = config.max_output_tokens;
        let beside = FreeBudget::after_protected(situation, units);
        let reserve = baler_strategy_core::summary::reserve(situation, &beside, framing, longest);
        let Some(split) = split::split(conversation, situation, config, reserve) else {
            return Ok(Report::unchanged(
                "there are no turns older than those to preserve",
            ));
        };
        let summarized = split.units_of(UnitClass::Summarized);
        if summarized.is_empty() {
            return Ok(Report::unchanged(
                "there is nothing to summarise except units that are kept",
            ));
        }
        let outcomes = split.outcomes();
        let at = position_after_anchors(conversation, &split);
        let Some(room) = baler_strategy_core::summary::max_summary_tokens(
            situation, units, &outcomes, at, framing,
        )?
        else {
            return Ok(Report::unchanged(
                "a summary would not be shorter than the units that it replaces",
            ));
        };
        let so_far = baler_strategy_core::summary::earlier_summaries(
            conversation,
            &split.units_of(UnitClass::Earlier),
            "",
        );
        let question = Question {
            instruction: config.instructions(),
            wishes: baler_strategy_core::summary::wishes(situation),
            so_far: so_far.as_deref(),
            form: Form::Closing(CLOSING),
            max_output_tokens: longest,
            max_tokens: room.min(longest),
        };
        let summary =
            baler_strategy_core::summary::summarize(conversation, &summarized, &question)?;
        let mut builder = PlanBuilder::removing_all(units.len());
        for (unit, class) in split.classes.iter().enumerate() {
            let code = match class {
                UnitClass::Preserved => "preserved",
                UnitClass::Anchor => "anchor",
                UnitClass::Protected => "protected",
                UnitClass::Earlier => "earlier",
                UnitClass::Summarized => "summarized",
            };
            builder.reason(unit..unit + 1, code);
            if !matches!(class, UnitClass::Earlier | UnitClass::Summarized) {
                builder.keep(unit);
            }
        }
        let role = match config.role {
            SummaryRole::User => Role::User,
            SummaryRole::Developer => Role::Developer,
        };
        let insertion = Insertion::summary(framed(&summary.text));
        builder.insert(at, Insertion { role, ..insertion });
        Ok(summary.add_to(Report::compacted(builder.build()?), summarized.len()))
    }
}

fn framed(summary: &str) -> String {
    format!("<context_summary>\n{summary}\n</context_summary>")
}

/// Returns where the summary is inserted: after the removed units and the anchors that follow them. Other
/// kept units, such as pending calls, stay after the summary.
fn position_after_anchors(conversation: &Conversation<'_>, split: &Split) -> usize {
    let after = baler_strategy_core::summary::summary_position(&split.outcomes());
    let kept = conversation
        .units()
        .get(after..split.cut)
        .unwrap_or_default();
    let anchors = kept
        .iter()
        .take_while(|unit| unit.kind == UnitKind::User)
        .count();
    after + anchors
}

baler_strategy::export!(Anchored);
