//! Replaces old tool outputs by short placeholders that say what was there.
//!
//! The calls are kept, so the model still knows what it did. If that does not reach the budget, steps that alone need
//! most of it are shortened, and the oldest units are removed.

mod config;
mod mask;
mod placeholder;
mod shorten;

#[cfg(test)]
mod tests;

use baler_strategy::{
    Conversation, Failure, FreeBudget, LargeSteps, PlanBuilder, Report, Situation, Strategy,
};

pub use config::Config;

/// The strategy.
#[derive(Debug)]
pub struct MaskToolOutputs;

impl Strategy for MaskToolOutputs {
    type Config = Config;
    const NAME: &'static str = "mask-tool-outputs";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Replaces the oldest tool outputs by placeholders and keeps the newest as they are.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["masked", "shortened", "removed"];
    const METRIC_NAMES: &'static [&'static str] =
        &["outputs-masked", "tokens-saved", "units-removed"];

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let mut whole = FreeBudget::of(situation);
        for unit in units {
            whole.charge(unit);
        }
        let mut room = whole;
        let mut masks = mask::choose(conversation, situation, config, &mut room);
        let mut large = LargeSteps::new(&FreeBudget::after_protected(situation, units));
        let mut removed = vec![false; units.len()];
        if config.then_drop && !room.is_within_limits() {
            // With a large step shortened, fewer outputs may have to be masked.
            room = whole;
            removed =
                shorten::shorten_large(conversation, situation, &masks, &mut large, &mut room);
            masks = mask::choose(conversation, situation, config, &mut room);
        }
        if config.then_drop {
            let removed = &mut removed;
            shorten::remove_oldest(units, situation, &masks, &mut large, removed, &mut room);
            large.lengthen(conversation, situation, &mut room);
        }
        masks.retain(|unit, _| !removed[*unit]);
        if masks.is_empty() && large.saved_tokens() == 0 && !removed.contains(&true) {
            return Ok(Report::unchanged("no tool output can be masked"));
        }
        if removed.iter().all(|removed| *removed) {
            return Ok(Report::unchanged("no unit fits the budget"));
        }
        let mut builder = PlanBuilder::keeping_all(units.len());
        for (unit, removed) in removed.iter().enumerate() {
            if *removed {
                builder.remove(unit).reason(unit..unit + 1, "removed");
            } else if masks.contains_key(&unit) {
                builder.reason(unit..unit + 1, "masked");
            } else if large.contains(unit) {
                builder.reason(unit..unit + 1, "shortened");
            }
        }
        let (mut outputs, mut tokens) = (0, 0);
        for (unit, masks) in masks {
            for mask in masks {
                outputs += 1;
                tokens += u64::from(mask.tokens);
                builder
                    .rewrite(unit)
                    .text(mask.message, mask.part, mask.text);
            }
        }
        large.add_to(&mut builder);
        let gone = removed.iter().filter(|removed| **removed).count();
        Ok(Report::compacted(builder.build()?)
            .with_count("outputs-masked", outputs)
            .with_count("tokens-saved", tokens)
            .with_count("units-removed", gone as u64))
    }
}

baler_strategy::export!(MaskToolOutputs);
