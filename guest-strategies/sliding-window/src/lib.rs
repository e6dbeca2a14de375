//! Keeps the newest part of a conversation and removes the rest.
//!
//! Protected units are always kept in addition to the window, and earlier summaries as long as the budget
//! allows. The window ends at the first unit that does not fit. A step that alone needs most of the budget does not end
//! it: its outputs are shortened, or the window passes over it.

mod config;

mod window;

#[cfg(test)]
mod tests;

use baler_strategy::{Conversation, Failure, PlanBuilder, Report, Situation, Strategy};

pub use config::{Config, Keep};
use window::{UnitOutcome, Window};

/// The strategy.
#[derive(Debug)]
pub struct SlidingWindow;

impl Strategy for SlidingWindow {
    type Config = Config;
    const NAME: &'static str = "sliding-window";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Keeps the newest units, messages or tokens, besides protected units, and removes the rest.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["window", "shortened", "aside", "removed"];
    const METRIC_NAMES: &'static [&'static str] = &["units-kept", "units-removed", "window-tokens"];

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let (outcomes, large) = match window::choose(conversation, situation, config.keep) {
            Window::Of(outcomes, large) => (outcomes, large),
            Window::Everything => {
                return Ok(Report::unchanged("the window holds the whole conversation"));
            }
            Window::Nothing => {
                return Ok(Report::unchanged("the newest unit does not fit the budget"));
            }
        };
        let mut builder = PlanBuilder::removing_all(units.len());
        let mut kept = 0;
        let mut first = 0;
        for run in outcomes.chunk_by(|outcome, next| outcome == next) {
            let range = first..first + run.len();
            first = range.end;
            let code = match run[0] {
                UnitOutcome::Window => "window",
                UnitOutcome::Shortened => "shortened",
                UnitOutcome::Aside => "aside",
                UnitOutcome::Removed => "removed",
            };
            builder.reason(range.clone(), code);
            if run[0] != UnitOutcome::Removed {
                kept += range.len() as u64;
                builder.keep_range(range);
            }
        }
        large.add_to(&mut builder);
        let in_window = units
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| matches!(outcome, UnitOutcome::Window | UnitOutcome::Shortened));
        let tokens: u64 = in_window.map(|(unit, _)| u64::from(unit.tokens)).sum();
        let tokens = tokens - large.saved_tokens();
        Ok(Report::compacted(builder.build()?)
            .with_count("units-kept", kept)
            .with_count("units-removed", units.len() as u64 - kept)
            .with_count("window-tokens", tokens))
    }
}

baler_strategy::export!(SlidingWindow);
