//! Receipts: what the host did, and why. Counts, names, digests and declared codes; what a
//! strategy says in words stands in one field, which is off by default (invariant I9).

pub use crate::changes::{Changes, Origin, UnitChange, UnitOutcome};
pub use crate::content_hash::ContentHash;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use baler_conversation::Format;
use baler_conversation::repairs::{Repair, RepairCounts};
use baler_conversation::rules::{Violation, ViolationCounts};

use crate::fault::{DeclaredFailure, Fault, Quantity};
use crate::model::ModelUsage;
use crate::report::{LogLevel, Metric, Permission};

/// What became of one request for a compaction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Receipt {
    /// Version of this form: `1`.
    pub receipt: u32,
    /// What came of it: `outcome`, and where nothing was compacted, `why`.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The strategy whose result it is; none where nothing was compacted.
    pub strategy: Option<String>,
    /// Whether that is another one than the first of the chain, whatever their names.
    pub fell_back: bool,
    /// What was tried, in order.
    pub attempts: Vec<Attempt>,
    /// Wire format of the conversation.
    pub format: Format,
    /// What counted the tokens: a vocabulary, and what its counts are multiplied by where that is
    /// not 1.
    pub tokenizer: String,
    /// Why the host was asked.
    pub trigger: String,
    /// Whether `unchanged` was no answer.
    pub required: bool,
    /// Tokens.
    pub tokens: Tokens,
    /// Of which limits the asked one is below what has to stay: `tokens`, `bytes`, `media`. The
    /// result is then the smallest that is legal, and may be over them.
    pub below_floor: Vec<Quantity>,
    /// Bytes of the document.
    pub bytes: BeforeAfter,
    /// Number of messages.
    pub messages: BeforeAfter,
    /// What it means for the provider's cache; none where it is not known what that holds.
    pub cache: Option<CacheEffect>,
    /// What became of the units.
    pub units: Units,
    /// Why, as far as the strategy said so by codes that it declares.
    pub reasons: Vec<ReasonCode>,
    /// What left, where it can be had back; none without an archive.
    pub archive: Option<Vec<Archived>>,
    /// The reference by which the archive gives back the document that came in, byte for byte
    /// ([`crate::Archive::undo`]); none without an archive, and where nothing was changed.
    pub undo: Option<String>,
    /// Failures that strategies declared in a row, this call included.
    pub failures_in_a_row: u32,
    /// What was mended before all else, because it broke a rule. All sizes and units before
    /// are those of the repaired conversation. Of more than 1,000 the first by message.
    pub repairs: Vec<Repair>,
    /// How much was mended, listed or not.
    pub repair_counts: RepairCounts,
    /// The messages that these repairs changed or left out. Of more than 1,000 the first; `undo`
    /// gives back all.
    pub originals: Vec<Original>,
    /// How many such messages there are, listed or not.
    pub original_count: usize,
    /// Rules that the conversation broke when it came in, or after these repairs. Of more than
    /// 1,000 places the first, errors before warnings.
    pub violations: Vec<Violation>,
    /// At how many places it broke them, listed or not.
    pub violation_counts: ViolationCounts,
    /// Time on the clock, in microseconds.
    pub time_us: u64,
    /// Where that time went, for the strategy whose result it is.
    pub stages: Stages,
}

/// Time on the clock of each stage, in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Stages {
    /// The strategy itself, its sandbox included.
    pub strategy_us: u64,
    /// Checking its plan.
    pub check_us: u64,
    /// Carrying it out.
    pub apply_us: u64,
    /// Reading, counting and checking the result.
    pub verify_us: u64,
    /// Storing what left.
    pub archive_us: u64,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
#[non_exhaustive]
pub enum Outcome {
    /// The conversation is smaller now.
    Compacted,
    /// It was repaired, and beyond that is as it came in.
    Repaired(Unchanged),
    /// It is as it came in.
    Unchanged(Unchanged),
}

impl Outcome {
    /// The name in receipts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::Repaired(_) => "repaired",
            Self::Unchanged(_) => "unchanged",
        }
    }
}

/// Why a conversation was not compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unchanged {
    /// It is within its budget.
    WithinBudget,
    /// Nothing of it may be dropped: it is all instructions, pinned, pending or newest.
    AtFloor,
    /// It broke a rule of its format when it came in.
    InvalidInput,
    /// It goes on from what the provider stored, so that the document shows only a part of it.
    StoredByProvider,
    /// It asks the provider itself to compact it, which needs all of it for that.
    ProviderCompacts,
    /// The strategy says that nothing should be done.
    StrategyDeclined,
    /// The strategy reported a failure, and the compaction can wait.
    StrategyFailed,
    /// Nothing that was tried made it smaller and kept to the limits.
    NoProgress,
    /// The deadline of the request passed.
    OutOfTime,
}

impl Unchanged {
    /// In words, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::WithinBudget => "it is within its budget",
            Self::AtFloor => "all of it has to stay",
            Self::InvalidInput => "it breaks a rule of its format",
            Self::StoredByProvider => {
                "it goes on from what the provider stored (`previous_response_id`, `conversation` or `thread`), which baler cannot see"
            }
            Self::ProviderCompacts => {
                "it asks its provider to compact it (`compaction_trigger` or `compaction`), which needs all of it"
            }
            Self::StrategyDeclined => "the strategy says that nothing should be done",
            Self::StrategyFailed => "the strategy reported a failure, and the compaction can wait",
            Self::NoProgress => "nothing that was tried made it smaller and kept to the limits",
            Self::OutOfTime => "the compaction was not done in time",
        }
    }
}

/// One strategy's turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Attempt {
    /// The name under which the host knows it.
    pub strategy: String,
    /// `native`, or the component.
    pub component: Option<ComponentInfo>,
    /// What came of it.
    pub result: AttemptResult,
    /// What it used.
    pub usage: Usage,
    /// What it asked a model; none where it asked nothing.
    pub model: Option<ModelUsage>,
    /// Its own figures, as far as it declares their names; of each name the first.
    pub metrics: Vec<Metric>,
    /// What it said in words, bounded; only where the request asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "words")]
    pub free_text: Option<FreeText>,
}

/// What is known of a component.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ComponentInfo {
    /// SHA-256 of the file, as `sha256:` and hex digits.
    #[serde(rename = "digest")]
    pub content_hash: ContentHash,
    /// The contract that it is made for.
    pub contract: String,
    /// What it may reach.
    pub permissions: Vec<Permission>,
    /// Bytes of the file.
    pub bytes: usize,
}

/// What came of a strategy's turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "result")]
#[non_exhaustive]
pub enum AttemptResult {
    /// Its plan was carried out.
    Accepted,
    /// It said that nothing should be done.
    Declined,
    /// It faulted.
    Fault {
        /// How.
        fault: Fault,
    },
    /// It reported a failure.
    Failure {
        /// Of which kind.
        failure: DeclaredFailure,
    },
    /// The host or the machine failed; it is not to blame.
    Host {
        /// What happened.
        error: String,
    },
    /// It had faulted too often and rests.
    Quarantined,
    /// As many of its calls ran as its gate lets in, so it was not asked.
    Busy,
}

impl AttemptResult {
    /// A short, stable name: for a fault its own code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Fault { fault } => fault.code(),
            Self::Failure { .. } => "failure",
            Self::Host { .. } => "host",
            Self::Quarantined => "quarantined",
            Self::Busy => "busy",
        }
    }
}

/// What a strategy's turn used.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Usage {
    /// Fuel; none for a native strategy, and where it cannot be known, as after a timeout.
    pub fuel: Option<u64>,
    /// Time on the clock, in microseconds.
    pub time_us: u64,
    /// The most bytes that its memories had.
    pub memory_bytes: u64,
    /// Calls of host functions.
    pub host_calls: u64,
    /// Log lines that the host kept.
    pub log_lines: u64,
    /// Log lines over the limit.
    pub log_lines_dropped: u64,
}

/// What a strategy said in words. None of it is to be believed, or shown without care.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct FreeText {
    /// Its reason for declining, or its failure.
    pub reason: Option<String>,
    /// Its log.
    pub log: Vec<LogLine>,
}

/// A line that a strategy logged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LogLine {
    /// How urgent.
    pub level: LogLevel,
    /// The text, without control characters.
    pub text: String,
}

/// Tokens, overhead included.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Tokens {
    /// Before.
    pub before: u32,
    /// After.
    pub after: u32,
    /// What the result should fit in.
    pub budget: u32,
    /// The smallest result that there can be, where each shortened output is counted as the 400 tokens that it may have.
    pub floor: u32,
    /// System prompt, tools and instructions, which stay.
    pub overhead: u32,
    /// The budget is below the floor, so the result is the smallest that is legal.
    pub below_floor: bool,
}

/// What a compaction means for the provider's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct CacheEffect {
    /// Tokens that were in the cache, system prompt and tools included.
    pub tokens_cached: u32,
    /// Tokens of these that the result cannot use again, because something changed in front of
    /// them.
    pub tokens_thrown_away: u32,
    /// Tokens that each later request is smaller by.
    pub tokens_saved: u32,
    /// Requests after which a cached token at a tenth of the price of a fresh one has paid for
    /// the compaction; 0 where it costs nothing.
    pub pays_after_requests: u32,
}

/// A size before and after.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct BeforeAfter {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

/// What became of the units.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Units {
    /// How many there were.
    pub before: usize,
    /// Stayed as they were.
    pub kept: usize,
    /// Stayed with some parts changed.
    pub rewritten: usize,
    /// Left.
    pub removed: usize,
    /// Texts that were inserted.
    pub inserted: usize,
    /// Blocks of thinking that went from units that stayed: because the provider refuses thinking
    /// behind a changed beginning, or because a strategy left that of finished turns out.
    pub thinking_removed: usize,
    /// Outputs that the model has not seen and that the host shortened, since they were too large
    /// for the budget.
    pub outputs_shortened: usize,
}

/// A code for a run of units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ReasonCode {
    /// The first unit, by its index before.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// The code; `undeclared` for one that the strategy's introspection does not list.
    pub code: String,
}

/// A unit that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Archived {
    /// The unit, by its index before.
    pub unit: usize,
    /// Its reference.
    pub reference: String,
}

/// A message that a repair changed or left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Original {
    /// The message's number, from 1, in the conversation that came in.
    pub message: usize,
    /// The reference under which it is stored as it came in; none without an archive.
    pub reference: Option<String>,
}

impl Receipt {
    /// The JSON Schema of receipts.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}
