//! The tiers without a model.

use baler_strategy::{Conversation, Failure, Report, Situation, Strategy};

use super::{Config, choose};

/// The strategy.
#[derive(Debug)]
pub struct Tiered;

impl Strategy for Tiered {
    type Config = Config;
    const NAME: &'static str = "tiered";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Cuts old outputs to what matters in them, replaces older steps by a digest, and keeps the newest unchanged; only as far as the budget requires.";
    const CONFIG_SCHEMA: &'static str = include_str!("config.schema.json");
    const REASON_CODES: &'static [&'static str] = &[
        "repeated",
        "superseded",
        "cut",
        "parts-removed",
        "digested",
        "removed",
    ];
    const METRIC_NAMES: &'static [&'static str] = &[
        "outputs-cut",
        "parts-removed",
        "units-digested",
        "digest-tokens",
        "names-found",
        "names-kept",
    ];

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        choose(conversation, situation, config, &mut |_| None).map(|chosen| chosen.report)
    }
}
