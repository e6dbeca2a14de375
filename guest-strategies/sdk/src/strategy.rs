use serde::de::DeserializeOwned;

use crate::{Conversation, Decision, Failure, Report, Situation};

/// A compaction strategy.
///
/// Only [`compact`](Self::compact) and the three constants that say who it is are required.
/// A strategy keeps nothing between calls and must give the same plan for the same input.
pub trait Strategy {
    /// The config, read from JSON. An empty text or `{}` gives the default.
    ///
    /// Derive `Deserialize` with `#[serde(default, deny_unknown_fields)]`, so that a mistyped
    /// field is an error. A strategy without config takes [`NoConfig`](crate::NoConfig).
    type Config: DeserializeOwned + Default;

    /// Short, in kebab-case.
    const NAME: &'static str;
    /// The strategy's own version, as in semver.
    const VERSION: &'static str;
    /// One sentence.
    const DESCRIPTION: &'static str;
    /// JSON Schema of the config. The host checks a config by it before it calls.
    const CONFIG_SCHEMA: &'static str = "";
    /// The codes that the plans' reasons use.
    const REASON_CODES: &'static [&'static str] = &[];
    /// The names of the metrics in the reports.
    const METRIC_NAMES: &'static [&'static str] = &[];
    /// The limits that the strategy asks for.
    const LIMITS: Limits = Limits::OF_THE_HOST;

    /// Checks what the types of [`Config`](Self::Config) cannot, such as ranges. The message
    /// names the field and what is allowed.
    ///
    /// # Errors
    /// What is wrong with the config, for people.
    fn check(_config: &Self::Config) -> Result<(), String> {
        Ok(())
    }

    /// Whether it is time to compact. The host may ask before every request, so this should
    /// be cheap. By default the host decides.
    ///
    /// # Errors
    /// What keeps the strategy from an answer.
    fn should_compact(
        _conversation: &Conversation<'_>,
        _situation: &Situation,
        _config: &Self::Config,
    ) -> Result<Decision, Failure> {
        Ok(Decision::HostDecides)
    }

    /// The plan for this conversation, or why nothing should be done.
    ///
    /// # Errors
    /// What keeps the strategy from an answer. This is not a fault; a panic is one.
    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Self::Config,
    ) -> Result<Report, Failure>;
}

/// Limits that a strategy asks for. The host's policy caps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time of one call in milliseconds.
    pub timeout_ms: Option<u32>,
    /// Memory in MiB.
    pub memory_mib: Option<u32>,
    /// Instructions, roughly.
    pub fuel: Option<u64>,
}

impl Limits {
    /// Whatever the host gives.
    pub const OF_THE_HOST: Self = Self {
        timeout_ms: None,
        memory_mib: None,
        fuel: None,
    };
}
