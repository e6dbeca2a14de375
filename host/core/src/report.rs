//! What strategies report, besides plans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// A strategy's response to `compact`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    pub(crate) answer: Answer,
    pub(crate) metrics: Vec<Metric>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Compacted(Plan),
    /// Nothing should be done, with the reason in free text.
    Unchanged(String),
}

/// A strategy's decision whether to compact now, with its reason in free text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Compact now.
    Compact(String),
    /// Do not compact yet.
    Wait(String),
    /// The strategy leaves the decision to the host.
    HostDecides,
}

/// A strategy's own metric.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Metric {
    /// The name of the metric.
    pub name: String,
    /// The value of the metric.
    pub value: MetricValue,
}

/// The value of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MetricValue {
    /// A count.
    Count(u32),
    /// A share, or another number.
    Ratio(f64),
    /// A boolean.
    Flag(bool),
    /// A text.
    Text(String),
}

/// A strategy's description of itself. All of it is the strategy's own claim.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Introspection {
    /// A short name in kebab-case.
    pub name: String,
    /// The strategy's version.
    pub version: String,
    /// A description in one sentence.
    pub description: String,
    /// JSON Schema of the config; empty if the strategy accepts none.
    pub config_schema: String,
    /// The codes of its reasons.
    pub reason_codes: Vec<String>,
    /// The names of its metrics.
    pub metric_names: Vec<String>,
    /// The time that a call needs, in milliseconds.
    pub timeout_ms: Option<u32>,
    /// The memory that a call needs, in MiB.
    pub memory_mib: Option<u32>,
    /// The fuel that a call needs.
    pub fuel: Option<u64>,
    /// Further facts.
    pub metadata: Vec<Metric>,
}

/// The severity of a strategy's log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogLevel {
    /// For the strategy's author.
    Debug,
    /// For information.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
}

/// What a component has access to, by its imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Permission {
    /// Reads the conversation that is compacted.
    Conversation,
    /// Counts tokens.
    Tokenizer,
    /// Writes log lines.
    Log,
    /// Asks a model, if the strategy was granted one.
    Model,
    /// Uses WASI, with nothing behind it: no arguments, environment, files or network, clocks that show no time,
    /// the same random bytes in each call, and output that goes to the log.
    Wasi,
}

impl Permission {
    /// Returns the name in receipts and listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Tokenizer => "tokenizer",
            Self::Log => "log",
            Self::Model => "model",
            Self::Wasi => "wasi",
        }
    }

    #[cfg(feature = "sandbox")]
    pub(crate) fn of_import(name: &str) -> Option<Self> {
        match name.split_once('@')?.0 {
            "baler:compaction/history" => Some(Self::Conversation),
            "baler:compaction/tokenizer" => Some(Self::Tokenizer),
            "baler:compaction/log" => Some(Self::Log),
            "baler:compaction/model" => Some(Self::Model),
            name if name.starts_with("wasi:") => Some(Self::Wasi),
            _ => None,
        }
    }
}
