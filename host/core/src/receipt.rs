//! Receipts: what the host did, and why.
//!
//! They hold counts, names, content hashes and declared codes. A strategy's free-text messages are in one
//! field, which is off by default (invariant I9).

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

/// Record of one compaction: what was done, and why. It never holds text of the conversation.
///
/// As JSON ([`serde::Serialize`]) it follows [`Receipt::schema`].
///
/// ```
/// use baler_host::receipt::{Outcome, Unchanged};
/// use baler_host::{Budget, Host, Request};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::builder().build()?;
/// let conversation = host.read(r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello!"}]}"#)?;
/// let request = Request::new(Budget::Tokens(1_000));
/// let compaction = host.compact(&conversation, &[], &request).await?;
/// let receipt = compaction.receipt();
/// assert_eq!(receipt.outcome, Outcome::Unchanged(Unchanged::WithinBudget));
/// assert_eq!(receipt.tokens.before, receipt.tokens.after);
/// assert!(receipt.attempts.is_empty());                       // no strategy was asked
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Receipt {
    /// Version of this format: `1`.
    pub receipt: u32,
    /// The result: `outcome`, and `why` if nothing was compacted.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Name of the strategy that made the result; absent if nothing was compacted.
    pub strategy: Option<String>,
    /// Whether a fallback made the result: a strategy other than the first of the chain.
    pub fell_back: bool,
    /// The attempts of the strategies, in order.
    pub attempts: Vec<Attempt>,
    /// The list of strategies (`baler.toml`) that the host is under; absent if there is none.
    pub project: Option<ProjectUse>,
    /// Wire format of the conversation.
    pub format: Format,
    /// What counted the tokens: a vocabulary, and the factor for its counts if that is not 1.
    pub tokenizer: String,
    /// Why the compaction was requested: `threshold`, `overflow`, `manual` or `scheduled`.
    pub trigger: String,
    /// Whether the compaction was required, so that the host did not accept `unchanged` from a strategy.
    pub required: bool,
    /// Tokens before and after, and the budget.
    pub tokens: Tokens,
    /// The requested limits that are below what must stay: `tokens`, `bytes`, `media`. The result is then the
    /// smallest legal one, and may exceed these limits.
    pub below_floor: Vec<Quantity>,
    /// Bytes of the document.
    pub bytes: BeforeAfter,
    /// Number of messages.
    pub messages: BeforeAfter,
    /// The effect on the provider's prompt cache; absent if its content is not known.
    pub cache: Option<CacheEffect>,
    /// Number of units by outcome.
    pub units: Units,
    /// The same of the units that hold words of the user; absent if nothing was compacted.
    pub user_words: Option<UserWords>,
    /// The strategy's reasons for units, as codes that it declares.
    pub reasons: Vec<ReasonCode>,
    /// References of the removed and rewritten units in the archive; absent without an archive.
    pub archive: Option<Vec<Archived>>,
    /// The reference by which [`crate::Archive::undo`] restores the original document, byte for byte; absent
    /// without an archive, and if nothing was changed.
    pub undo: Option<String>,
    /// Number of failures that strategies declared in a row, this compaction included.
    pub failures_in_a_row: u32,
    /// The repairs of broken rules, which come before the compaction. All sizes and units `before` are those
    /// of the repaired conversation. At most the first 1,000, in the order of messages.
    pub repairs: Vec<Repair>,
    /// Number of repairs of each kind, listed or not.
    pub repair_counts: RepairCounts,
    /// The messages that these repairs changed or removed. At most the first 1,000; `undo` restores all.
    pub originals: Vec<Original>,
    /// Number of such messages, listed or not.
    pub original_count: usize,
    /// The rules that the conversation breaks, after these repairs if there are any. At most the first 1,000
    /// places, errors before warnings.
    pub violations: Vec<Violation>,
    /// Number of places with a broken rule, listed or not.
    pub violation_counts: ViolationCounts,
    /// Wall-clock time of the whole compaction, in microseconds.
    pub time_us: u64,
    /// The time of each stage, for the strategy that made the result.
    pub stages: Stages,
}

/// The list of strategies (`baler.toml`) that a host is under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ProjectUse {
    /// SHA-256 of the list, as `sha256:` and hex digits.
    pub content_hash: ContentHash,
    /// Whether the user trusts the list: named it, or trusted it with this content.
    pub trusted: bool,
    /// The settings of its policy, and of the strategies that were tried, that differ from their defaults, such as
    /// `policy.plans.excerpts`. They count where the caller did not set the same.
    pub settings: Vec<String>,
    /// The same of an untrusted list for what it may not set. Nothing of it counts.
    pub withheld: Vec<String>,
}

/// Wall-clock time of each stage, in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Stages {
    /// Running the strategy, its sandbox included.
    pub strategy_us: u64,
    /// Checking its plan.
    pub check_us: u64,
    /// Applying the plan.
    pub apply_us: u64,
    /// Reading, counting and validating the result.
    pub verify_us: u64,
    /// Storing removed content in the archive.
    pub archive_us: u64,
}

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
#[non_exhaustive]
pub enum Outcome {
    /// The conversation is smaller now.
    Compacted,
    /// The conversation was repaired, but not compacted.
    Repaired(Unchanged),
    /// The conversation is byte-identical to the input.
    Unchanged(Unchanged),
}

impl Outcome {
    /// Returns the name in receipts.
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
    /// The conversation is within its budget.
    WithinBudget,
    /// Nothing may be removed: everything is protected.
    AtFloor,
    /// The input broke a rule of its wire format.
    InvalidInput,
    /// The request continues a conversation that the provider stored, so the document holds only a part of
    /// it.
    StoredByProvider,
    /// The request asks the provider to compact the conversation, and the provider needs all of it for that.
    ProviderCompacts,
    /// The strategy declined: nothing should be done.
    StrategyDeclined,
    /// The strategy declared a failure, and the compaction can wait.
    StrategyFailed,
    /// No strategy made the conversation smaller within its limits.
    NoProgress,
    /// The deadline of the request passed.
    OutOfTime,
}

impl Unchanged {
    /// Returns the reason as a sentence for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::WithinBudget => "the conversation is within its budget",
            Self::AtFloor => "all units are protected",
            Self::InvalidInput => "the conversation breaks a rule of its format",
            Self::StoredByProvider => {
                "the request continues a conversation that the provider stored (`previous_response_id`, `conversation` or `thread`), which baler cannot see"
            }
            Self::ProviderCompacts => {
                "the request asks the provider to compact the conversation (`compaction_trigger` or `compaction`), for which the provider needs all of it"
            }
            Self::StrategyDeclined => "the strategy declined",
            Self::StrategyFailed => "the strategy declared a failure, and the compaction can wait",
            Self::NoProgress => "no strategy made the conversation smaller within its limits",
            Self::OutOfTime => "the deadline of the request passed",
        }
    }
}

/// One strategy's attempt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Attempt {
    /// Name of the strategy in the host.
    pub strategy: String,
    /// The component; absent for a strategy that is none.
    pub component: Option<ComponentInfo>,
    /// The result of the attempt.
    pub result: AttemptResult,
    /// The resources that the attempt used.
    pub usage: Usage,
    /// The use of a model; absent if the strategy asked none.
    pub model: Option<ModelUsage>,
    /// What came of asking the strategy twice; absent if that was not requested, and if it gave no answer.
    pub verification: Option<Verification>,
    /// The strategy's own metrics whose names it declares; the first one of each name.
    pub metrics: Vec<Metric>,
    /// The strategy's free-text messages, limited in length; only if the request asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "words")]
    pub free_text: Option<FreeText>,
}

/// Facts about a component.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ComponentInfo {
    /// SHA-256 of the component file, as `sha256:` and hex digits.
    pub content_hash: ContentHash,
    /// The contract that the component implements, with its version.
    pub contract: String,
    /// What the component has access to.
    pub permissions: Vec<Permission>,
    /// Size of the component file in bytes.
    pub bytes: usize,
}

/// The result of a strategy's attempt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "result")]
#[non_exhaustive]
pub enum AttemptResult {
    /// The host applied its plan.
    Accepted,
    /// The strategy declined: nothing should be done.
    Declined,
    /// The strategy broke a rule or a limit.
    Fault {
        /// The rule or limit.
        fault: Fault,
    },
    /// The strategy declared a failure.
    Failure {
        /// The kind of failure.
        failure: DeclaredFailure,
    },
    /// The host or the machine failed, not the strategy.
    Host {
        /// The error message.
        error: String,
    },
    /// The strategy was not run, because it faulted too often and is in quarantine.
    Quarantined,
    /// The strategy was not run, because its gate admitted no further call.
    Busy,
}

impl AttemptResult {
    /// Returns a short, stable name; for a fault, the code of the fault.
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

/// What came of asking a strategy a second time ([`Request::verify`](crate::Request::verify)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verification {
    /// Both answers, logs and uses of fuel were the same.
    Same,
    /// They differed: the fault says in what.
    Different,
    /// The second call was cut off by the time limit or by the machine, so that nothing could be compared.
    CutOff,
    /// The strategy was asked only once: it asked a model, which may answer in another way.
    AskedModel,
}

/// The resources that a strategy's attempt used.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Usage {
    /// Fuel; absent if the strategy is no component, and if it is unknown, as after a timeout.
    pub fuel: Option<u64>,
    /// Wall-clock time, in microseconds.
    pub time_us: u64,
    /// Peak size of the component's memories, in bytes.
    pub memory_bytes: u64,
    /// Number of calls of host functions.
    pub host_calls: u64,
    /// Number of log lines that the host kept.
    pub log_lines: u64,
    /// Number of log lines above the limit, which were discarded.
    pub log_lines_dropped: u64,
}

/// A strategy's free-text messages. They are untrusted.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct FreeText {
    /// The reason for declining, or the message of a failure.
    pub reason: Option<String>,
    /// The log lines.
    pub log: Vec<LogLine>,
}

/// A line that a strategy logged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LogLine {
    /// The severity.
    pub level: LogLevel,
    /// The text, without control characters.
    pub text: String,
}

/// Sizes in tokens, overhead included.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Tokens {
    /// Tokens before the compaction.
    pub before: u32,
    /// Tokens of the result.
    pub after: u32,
    /// The tokens that the result should fit in.
    pub budget: u32,
    /// Tokens of the smallest possible result. A text that may be shortened counts as 400 tokens.
    pub floor: u32,
    /// Tokens of the system prompt, tool definitions and instructions, which always stay.
    pub overhead: u32,
    /// Whether the budget is below the floor, so that the result is the smallest legal one.
    pub below_floor: bool,
}

/// The effect of a compaction on the provider's prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct CacheEffect {
    /// Tokens in the cache before the compaction, system prompt and tools included.
    pub tokens_cached: u32,
    /// Cached tokens that the result cannot use, because something before them changed.
    pub tokens_thrown_away: u32,
    /// Tokens by which each later request is smaller.
    pub tokens_saved: u32,
    /// Number of requests after which the compaction has paid for itself, if a cached token costs a tenth of
    /// a fresh one; 0 if the compaction costs nothing.
    pub pays_after_requests: u32,
}

/// A size before and after.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub struct BeforeAfter {
    /// The size before the compaction.
    pub before: usize,
    /// The size of the result.
    pub after: usize,
}

/// Number of units by outcome, and of other changes.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Units {
    /// Units before the compaction.
    pub before: usize,
    /// Units that were kept.
    pub kept: usize,
    /// Units that are in the result with some parts changed.
    pub rewritten: usize,
    /// Units that were removed.
    pub removed: usize,
    /// Texts that were inserted.
    pub inserted: usize,
    /// Thinking blocks that were removed from units in the result: because the provider refuses thinking
    /// after a changed beginning, or because a strategy removed thinking of finished turns.
    pub thinking_removed: usize,
    /// Texts that the host shortened because they were too large for the budget: tool outputs that the model has
    /// not seen, words of the user that nobody pinned by their index, and tool outputs beside such words.
    pub texts_shortened: usize,
    /// Pictures that the host left out because the provider refuses the request for their size.
    pub pictures_left_out: usize,
}

/// Number of units with words of the user (messages, remarks beside tool outputs, answers through a tool) by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct UserWords {
    /// Units that were kept.
    pub kept: usize,
    /// Units that are in the result with some parts changed or shortened.
    pub rewritten: usize,
    /// Units that were removed, because they did not fit the user's share of the budget.
    pub removed: usize,
}

/// A strategy's reason for a run of units, as a code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ReasonCode {
    /// Index of the first unit, before the compaction.
    pub first: u32,
    /// Number of units.
    pub count: u32,
    /// The code; `undeclared` if the strategy's introspection does not list it.
    pub code: String,
}

/// A unit in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Archived {
    /// Index of the unit, before the compaction.
    pub unit: usize,
    /// Reference of the unit in the archive.
    pub reference: String,
}

/// A message that a repair changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Original {
    /// Number of the message in the input, counted from 1.
    pub message: usize,
    /// Reference of the original message in the archive; absent without an archive.
    pub reference: Option<String>,
}

impl Receipt {
    /// Returns the JSON Schema of receipts, as indented JSON text.
    #[must_use]
    pub fn schema() -> String {
        format!("{:#}", schemars::schema_for!(Self).to_value())
    }
}
