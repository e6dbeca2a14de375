use serde::de::DeserializeOwned;

use crate::{Conversation, Decision, Failure, Report, Situation};

/// A compaction strategy.
///
/// Only [`compact`](Self::compact), the config type and the constants `NAME`, `VERSION` and `DESCRIPTION`
/// are required. A strategy keeps no state between calls and must return the same plan for the same input.
pub trait Strategy {
    /// The config, read from a JSON object. An empty text or `{}` gives the default.
    ///
    /// Derive `Deserialize` with `#[serde(default, deny_unknown_fields)]`, so that a misspelt field is an
    /// error. A strategy without config uses [`NoConfig`](crate::NoConfig).
    type Config: DeserializeOwned + Default;

    /// The name of the strategy: short, in kebab-case.
    const NAME: &'static str;
    /// The version of the strategy, in semantic versioning.
    const VERSION: &'static str;
    /// What the strategy does, in one sentence.
    const DESCRIPTION: &'static str;
    /// The JSON Schema of the config, empty if there is none. The host validates a config against it before
    /// each call.
    const CONFIG_SCHEMA: &'static str = "";
    /// The reason codes that plans may use, in kebab-case.
    const REASON_CODES: &'static [&'static str] = &[];
    /// The names of the metrics that reports may contain, in kebab-case.
    const METRIC_NAMES: &'static [&'static str] = &[];
    /// The resource limits that the strategy requests.
    const LIMITS: Limits = Limits::OF_THE_HOST;

    /// Checks what the type [`Config`](Self::Config) cannot express, such as ranges.
    ///
    /// # Errors
    /// Returns a message for people that names the field, the allowed values and the value found.
    fn check(_config: &Self::Config) -> Result<(), String> {
        Ok(())
    }

    /// Decides whether to compact now. The host may call this before every request, so it should be cheap.
    /// By default, the host decides.
    ///
    /// # Errors
    /// Returns a declared failure if the strategy cannot decide.
    fn should_compact(
        _conversation: &Conversation<'_>,
        _situation: &Situation,
        _config: &Self::Config,
    ) -> Result<Decision, Failure> {
        Ok(Decision::HostDecides)
    }

    /// Returns the plan for this conversation, or the reason to leave it unchanged.
    ///
    /// # Errors
    /// Returns a declared failure if the strategy cannot make a plan. That is not a fault; a panic is one.
    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Self::Config,
    ) -> Result<Report, Failure>;
}

/// The resource limits that a strategy requests. The host's policy caps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The wall-clock time of one call, in milliseconds. `None`: the host's default.
    pub timeout_ms: Option<u32>,
    /// The memory, in MiB. `None`: the host's default.
    pub memory_mib: Option<u32>,
    /// The fuel of one call, roughly in executed instructions. `None`: the host's default.
    pub fuel: Option<u64>,
}

impl Limits {
    /// The host's default for each limit.
    pub const OF_THE_HOST: Self = Self {
        timeout_ms: None,
        memory_mib: None,
        fuel: None,
    };
}
