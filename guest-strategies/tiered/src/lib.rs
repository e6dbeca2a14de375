//! Reduces a conversation only as far as the budget asks, what is least likely to be needed
//! first: outputs that a later one makes needless, then what old outputs hold beside errors and
//! names, then pictures and thinking that may go, then old steps, which a digest stands for.
//!
//! The newest steps, the user's newest message, instructions and pending work stay word for
//! word as long as there is any room for them.

mod choice;
mod config;
mod material;
mod reduce;

#[cfg(test)]
mod tests;

use baler_strategy::{Conversation, Failure, Report, Situation, Strategy};

pub use config::{Config, Work};

/// The strategy.
#[derive(Debug)]
pub struct Tiered;

impl Strategy for Tiered {
    type Config = Config;
    const NAME: &'static str = "tiered";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Cuts old outputs to what matters in them, hands older steps over in words, and keeps the newest as they are; only as far as the budget asks.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] =
        &["repeated", "superseded", "cut", "removed", "digested"];
    const METRIC_NAMES: &'static [&'static str] = &[
        "outputs-cut",
        "parts-removed",
        "units-digested",
        "digest-tokens",
        "names-found",
        "names-kept",
        "rules-found",
        "rules-kept",
        "work",
    ];

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        choice::choose(conversation, situation, config)
    }
}

baler_strategy::export!(Tiered);
