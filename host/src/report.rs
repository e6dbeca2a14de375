//! What strategies say, besides plans.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;

/// What came of a strategy's `compact`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    pub(crate) answer: Answer,
    pub(crate) metrics: Vec<Metric>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Compacted(Plan),
    /// Nothing should be done, and why.
    Unchanged(String),
}

/// A strategy's answer to whether it is time, with its reason in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is.
    Compact(String),
    /// It is not.
    Wait(String),
    /// It has no opinion.
    HostDecides,
}

/// A figure of a strategy's own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: MetricValue,
}

/// The value of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MetricValue {
    /// A number of things.
    Count(u32),
    /// A share or another number.
    Ratio(f64),
    /// Yes or no.
    Flag(bool),
    /// A word.
    Text(String),
}

/// Who a strategy says it is. All of it is its own claim.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Introspection {
    /// Short, in kebab-case.
    pub name: String,
    /// Its version.
    pub version: String,
    /// One sentence.
    pub description: String,
    /// JSON Schema of its config; empty where it takes none.
    pub config_schema: String,
    /// The codes that its reasons use.
    pub reason_codes: Vec<String>,
    /// The names of its metrics.
    pub metric_names: Vec<String>,
    /// The time that it asks for.
    pub timeout_ms: Option<u32>,
    /// The memory that it asks for.
    pub memory_mib: Option<u32>,
    /// The fuel that it asks for.
    pub fuel: Option<u64>,
    /// What else it tells.
    pub metadata: Vec<Metric>,
}

/// How urgent a strategy's log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogLevel {
    /// For its author.
    Debug,
    /// For who wants to know.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
}

/// What a component may reach, by what it imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Permission {
    /// Read the conversation that is to be compacted.
    Conversation,
    /// Count tokens.
    Tokenizer,
    /// Write log lines.
    Log,
    /// Ask the host's model, where the user grants that.
    Model,
}

impl Permission {
    /// The name in receipts and listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Tokenizer => "tokenizer",
            Self::Log => "log",
            Self::Model => "model",
        }
    }

    pub(crate) fn of_import(name: &str) -> Option<Self> {
        match name.split_once('@')?.0 {
            "baler:compaction/history" => Some(Self::Conversation),
            "baler:compaction/tokenizer" => Some(Self::Tokenizer),
            "baler:compaction/log" => Some(Self::Log),
            "baler:compaction/model" => Some(Self::Model),
            _ => None,
        }
    }
}
