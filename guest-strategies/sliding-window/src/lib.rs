//! Keeps the newest part of a conversation and drops the rest.
//!
//! What has to stay stays beside the window: protected units always, earlier summaries as
//! long as the budget allows. The window ends at the first unit that does not fit, so it has
//! no holes.

mod config;

mod window;

#[cfg(test)]
mod tests;

use baler_strategy::{Conversation, Draft, Failure, Report, Situation, Strategy};

pub use config::{Config, Keep};
use window::{Place, Window};

/// The strategy.
#[derive(Debug)]
pub struct SlidingWindow;

impl Strategy for SlidingWindow {
    type Config = Config;
    const NAME: &'static str = "sliding-window";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Keeps the newest units, messages or tokens, beside what has to stay, and drops the rest.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["window", "aside", "dropped"];
    const METRIC_NAMES: &'static [&'static str] = &["units-kept", "units-dropped", "window-tokens"];

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let places = match window::choose(units, situation, config.keep) {
            Window::Of(places) => places,
            Window::Everything => {
                return Ok(Report::unchanged("the window holds the whole conversation"));
            }
            Window::Nothing => return Ok(Report::unchanged("not even the newest unit fits")),
        };
        let mut draft = Draft::dropping(units.len());
        let mut kept = 0;
        let mut first = 0;
        for run in places.chunk_by(|place, next| place == next) {
            let range = first..first + run.len();
            first = range.end;
            let code = match run[0] {
                Place::Window => "window",
                Place::Aside => "aside",
                Place::Dropped => "dropped",
            };
            draft.reason(range.clone(), code);
            if run[0] != Place::Dropped {
                kept += range.len() as u64;
                draft.keep_range(range);
            }
        }
        let in_window = units
            .iter()
            .zip(&places)
            .filter(|(_, place)| **place == Place::Window);
        let tokens = in_window.map(|(unit, _)| u64::from(unit.tokens)).sum();
        Ok(Report::compacted(draft.build()?)
            .with_count("units-kept", kept)
            .with_count("units-dropped", units.len() as u64 - kept)
            .with_count("window-tokens", tokens))
    }
}

baler_strategy::export!(SlidingWindow);
