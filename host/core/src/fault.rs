//! Failures of strategies.
//!
//! A failure has one of three types, by its cause. A [`Fault`] is caused by the strategy. A
//! [`DeclaredFailure`] is reported by the strategy itself. A [`HostError`](crate::HostError) is caused by the
//! host or the machine, and never counts against a strategy.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// Failure of a strategy that broke a limit or a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(
    tag = "fault",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
#[non_exhaustive]
pub enum Fault {
    /// The component executed a trap.
    #[error("it trapped: {trap}")]
    Trap {
        /// Kind of trap.
        trap: Trap,
    },
    /// The component used up its fuel.
    #[error("it used up its fuel: the limit is {limit}")]
    OutOfFuel {
        /// Limit in units of fuel, about one for each instruction.
        limit: u64,
    },
    /// The call exceeded its time limit. Waiting for the host counts.
    #[error("it exceeded its time limit of {limit_ms} ms")]
    Timeout {
        /// Limit in milliseconds.
        limit_ms: u64,
    },
    /// The component requested more memory than the limit for all its memories together.
    #[error("it requested {} MiB of memory together; the limit is {} MiB", wanted.div_ceil(1 << 20), limit >> 20)]
    Memory {
        /// Limit in bytes.
        limit: u64,
        /// Bytes that all memories together would have had.
        wanted: u64,
    },
    /// The component requested more table elements than the limit.
    #[error("it requested {wanted} table elements; the limit is {limit}")]
    Table {
        /// Limit in elements of all tables together.
        limit: u64,
        /// Elements that all tables together would have had.
        wanted: u64,
    },
    /// The component overflowed its stack.
    #[error("it overflowed its stack; the limit is {limit} bytes")]
    Stack {
        /// Limit in bytes.
        limit: u64,
    },
    /// The strategy passed more data to the host than the limit, or called the host too often.
    #[error("it exceeded its limit of {limit} {what}")]
    OutputTooLarge {
        /// Quantity that is over the limit.
        what: Quantity,
        /// Limit in the unit of that quantity.
        limit: u64,
    },
    /// The strategy passed values that cannot be decoded, such as text that is not UTF-8 or lies outside of
    /// its memory, or a variant case that does not exist.
    #[error("it passed values that cannot be decoded")]
    OutputMalformed,
    /// The plan breaks a rule of the contract.
    #[error("its plan is invalid: {0}")]
    InvalidPlan(PlanFault),
    /// The result is over the budget, although a smaller result is possible.
    #[error("its result has {result} {what}; the limit is {limit}")]
    OverBudget {
        /// Quantity that is over the limit.
        what: Quantity,
        /// Size of the result, in the unit of that quantity.
        result: u64,
        /// Limit in the unit of that quantity.
        limit: u64,
    },
    /// The result is not smaller than the conversation.
    #[error(
        "its result is not smaller than the conversation: {before} tokens before, {after} after"
    )]
    NoProgress {
        /// Tokens of the conversation.
        before: u32,
        /// Tokens of the result.
        after: u32,
    },
    /// The result breaks a rule of the wire format.
    #[error("its result breaks a rule of the wire format: {rule}")]
    InvalidResult {
        /// First broken rule.
        rule: baler_conversation::rules::Rule,
    },
    /// The strategy answered the same question in another way when it was asked again
    /// ([`Request::verify`](crate::Request::verify)).
    #[error("it answered the same question twice, {what}")]
    NotDeterministic {
        /// What differs.
        what: Difference,
    },
    /// A remote strategy did not answer.
    #[error("its server did not return a result: {problem}")]
    Remote {
        /// Reason.
        problem: RemoteProblem,
    },
}

/// In what two answers of a strategy to the same question differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Difference {
    /// The plan, the reason or the metrics.
    #[error("with another plan, reason or metric")]
    Answer,
    /// The log.
    #[error("with another log")]
    Log,
    /// The fuel.
    #[error("with another use of fuel")]
    Fuel,
}

/// Kinds of WebAssembly traps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trap {
    /// `unreachable` instruction, which also ends a panic.
    #[error("unreachable code or a panic")]
    Unreachable,
    /// Memory access out of bounds, or not aligned.
    #[error("memory access out of bounds")]
    MemoryOutOfBounds,
    /// Table access out of bounds, or an indirect call of a null entry or of a function with another
    /// signature.
    #[error("invalid table access or indirect call")]
    Table,
    /// Division by zero, or an overflow of an integer division or conversion.
    #[error("division by zero or overflow")]
    Arithmetic,
    /// Entering or leaving the component in a way that the component model forbids.
    #[error("a rule of the component model was broken")]
    ComponentModel,
    /// End of the program, as by `exit`.
    #[error("the strategy ended its program")]
    Exit,
    /// Any other trap.
    #[error("another trap")]
    Other,
}

/// Quantity that a limit bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// Bytes that one call passes to the host.
    #[error("bytes passed to the host in one call")]
    LiftedBytes,
    /// Bytes of all inserted and replacement texts of a plan.
    #[error("bytes of inserted text")]
    InsertedBytes,
    /// Pieces of a plan.
    #[error("pieces in a plan")]
    Pieces,
    /// Edits of a plan.
    #[error("edits in a plan")]
    Edits,
    /// Runs of all excerpts of a plan together.
    #[error("runs of excerpts in a plan")]
    Runs,
    /// Reasons and metrics of a report.
    #[error("reasons and metrics")]
    Annotations,
    /// Calls of host functions.
    #[error("host calls")]
    HostCalls,
    /// Handles of resources that the host holds for the strategy.
    #[error("handles of resources")]
    Handles,
    /// Tokens of a result.
    #[error("tokens")]
    Tokens,
    /// Bytes of a result.
    #[error("bytes")]
    Bytes,
    /// Media parts of a result, such as pictures and documents.
    #[error("pictures and documents")]
    Media,
}

/// Rule that a plan breaks, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlanFault {
    /// Broken rule.
    pub rule: PlanRule,
    /// Index of the piece, from 0; `None` if the fault concerns the whole plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<usize>,
    /// Index of the unit, from 0; `None` if the fault concerns no single unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<usize>,
    /// Index of the message in its unit, from 0, if the fault concerns a single edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// Index of the part in its message, from 0, if the fault concerns a single edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
}

/// Rules that every plan must obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlanRule {
    /// A plan has at least one piece.
    #[error("it has no pieces")]
    Empty,
    /// A span has at least one unit.
    #[error("a span is empty")]
    EmptySpan,
    /// Spans and rewrites name existing units.
    #[error("it names a unit that does not exist")]
    OutOfRange,
    /// Units keep their order, and no unit occurs twice.
    #[error("a unit is out of order or occurs twice")]
    OutOfOrder,
    /// No protected unit is removed, such as instructions, pinned, pending, live and unseen units and the
    /// newest user message.
    #[error("it removes a protected unit")]
    DropsProtected,
    /// An edit names an existing part.
    #[error("it edits a part that does not exist")]
    EditOutOfRange,
    /// The edits of a unit are in order, and no part is edited twice.
    #[error("edits are out of order or repeated")]
    EditOutOfOrder,
    /// Only parts that the policy allows are edited, and no text or media of a message with signed or
    /// encrypted parts.
    #[error("it edits a part that must not be changed")]
    EditNotAllowed,
    /// No edit removes a tool call or a tool output.
    #[error("an edit removes a tool call or a tool output")]
    EditRemovesCall,
    /// A rewritten part has fewer tokens than before, its mark included. An excerpt that saves nothing changes
    /// nothing instead.
    #[error("the new text of a part, in its mark, does not have fewer tokens than the old one")]
    EditGrows,
    /// A run of an excerpt lies in the text of its part, and begins and ends between characters.
    #[error("a run of an excerpt is outside of its text or splits a character")]
    ExcerptOutOfRange,
    /// The runs of an excerpt are in order and do not overlap.
    #[error("the runs of an excerpt are out of order or overlap")]
    ExcerptOutOfOrder,
    /// A run of an excerpt has at least 16 bytes.
    #[error("a run of an excerpt has fewer than 16 bytes")]
    ExcerptTooShort,
    /// Inserted text has a role that the policy and the format allow.
    #[error("inserted text has a role that is not allowed")]
    RoleNotAllowed,
    /// Inserted text that joins a message joins a kept user message or instructions of the same role.
    #[error("inserted text joins no kept message of its role")]
    JoinsNothing,
    /// Inserted text is not empty.
    #[error("it inserts an empty text")]
    EmptyInsertion,
    /// Nothing is inserted before a message that the provider accepts only at the beginning.
    #[error(
        "it inserts a text before a signed compaction, which the provider accepts only at the beginning"
    )]
    PrecedesFirst,
    /// A reason names existing units.
    #[error("a reason names units that do not exist")]
    ReasonOutOfRange,
}

/// Failure that a strategy itself reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "declared", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeclaredFailure {
    /// The strategy rejects its config.
    #[error("the strategy reports that its config is invalid")]
    BadConfig,
    /// The strategy got no usable answer from a model.
    #[error("the strategy reports that it got no usable answer from a model")]
    Model,
    /// Any other failure.
    #[error("the strategy reports a failure")]
    Other,
}

/// Reason why a remote strategy did not answer, in receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RemoteProblem {
    /// The server could not be reached.
    #[error("it could not be reached")]
    Unreachable,
    /// No connection was established in time.
    #[error("no connection was established in time")]
    ConnectTimeout,
    /// The host had no file descriptor, port or memory for a connection.
    #[error("this process had no file descriptor, port or memory left for a connection")]
    NoRoom,
    /// The connection broke before the answer was complete.
    #[error("the connection broke before the answer was complete")]
    Connection,
    /// The server refused the request with this HTTP status.
    #[error("it refused the request with HTTP status {0}")]
    Status(u16),
}

impl Fault {
    /// Returns a short, stable name: the value of `fault` in receipts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Trap { .. } => "trap",
            Self::OutOfFuel { .. } => "out-of-fuel",
            Self::Timeout { .. } => "timeout",
            Self::Memory { .. } => "memory",
            Self::Table { .. } => "table",
            Self::Stack { .. } => "stack",
            Self::OutputTooLarge { .. } => "output-too-large",
            Self::OutputMalformed => "output-malformed",
            Self::InvalidPlan(_) => "invalid-plan",
            Self::OverBudget { .. } => "over-budget",
            Self::NoProgress { .. } => "no-progress",
            Self::InvalidResult { .. } => "invalid-result",
            Self::NotDeterministic { .. } => "not-deterministic",
            Self::Remote { .. } => "remote",
        }
    }

    /// Returns what a user of the strategy can do about the fault.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::OutOfFuel { .. } => {
                "report this to its author; if it needs more by design, raise the fuel limit"
            }
            Self::Timeout { .. } => {
                "report this to its author; if it needs more by design, raise the time limit"
            }
            Self::Memory { .. } | Self::Table { .. } => {
                "report this to its author; if it needs more by design, raise the memory limit"
            }
            Self::OverBudget { .. } => {
                "report this to its author, change the strategy's config if it has one, or raise the budget"
            }
            Self::NoProgress { .. } => {
                "this strategy found nothing more to remove; try another strategy or another config"
            }
            Self::Remote {
                problem: RemoteProblem::Status(401 | 403),
            } => "pass the token that its server expects",
            Self::Remote {
                problem: RemoteProblem::NoRoom,
            } => "raise the limit of open files (`ulimit -n`), or run fewer compactions at once",
            Self::Remote { .. } => "check that its server runs, and that the URL is correct",
            Self::Trap { .. }
            | Self::Stack { .. }
            | Self::OutputTooLarge { .. }
            | Self::OutputMalformed
            | Self::InvalidPlan(_)
            | Self::NotDeterministic { .. }
            | Self::InvalidResult { .. } => {
                "report this to the strategy's author, with the receipt"
            }
        }
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self::Timeout {
            limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        let places = [
            ("piece", self.piece),
            ("unit", self.unit),
            ("message", self.message),
            ("part", self.part),
        ];
        let places: Vec<String> = places
            .into_iter()
            .filter_map(|(what, index)| Some(format!("{what} {}", index?)))
            .collect();
        if !places.is_empty() {
            write!(f, " ({})", places.join(", "))?;
        }
        Ok(())
    }
}
