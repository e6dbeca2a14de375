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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(
    tag = "fault",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
#[non_exhaustive]
pub enum Fault {
    /// The component executed a trap.
    Trap {
        /// Kind of trap.
        trap: Trap,
    },
    /// The component used up its fuel.
    OutOfFuel {
        /// Limit in units of fuel, about one for each instruction.
        limit: u64,
    },
    /// The call exceeded its time limit. Waiting for the host counts.
    Timeout {
        /// Limit in milliseconds.
        limit_ms: u64,
    },
    /// The component requested more memory than the limit for all its memories together.
    Memory {
        /// Limit in bytes.
        limit: u64,
        /// Bytes that all memories together would have had.
        wanted: u64,
    },
    /// The component requested more table elements than the limit.
    Table {
        /// Limit in elements of all tables together.
        limit: u64,
        /// Elements that all tables together would have had.
        wanted: u64,
    },
    /// The component overflowed its stack.
    Stack {
        /// Limit in bytes.
        limit: u64,
    },
    /// The strategy passed more data to the host than the limit, or called the host too often.
    OutputTooLarge {
        /// Quantity that is over the limit.
        what: Quantity,
        /// Limit in the unit of that quantity.
        limit: u64,
    },
    /// The strategy passed values that cannot be decoded, such as text that is not UTF-8 or lies outside of
    /// its memory, or a variant case that does not exist.
    OutputMalformed,
    /// The plan breaks a rule of the contract.
    InvalidPlan(PlanFault),
    /// The result is over the budget, although a smaller result is possible.
    OverBudget {
        /// Quantity that is over the limit.
        what: Quantity,
        /// Size of the result, in the unit of that quantity.
        result: u64,
        /// Limit in the unit of that quantity.
        limit: u64,
    },
    /// The result is not smaller than the conversation.
    NoProgress {
        /// Tokens of the conversation.
        before: u32,
        /// Tokens of the result.
        after: u32,
    },
    /// The result breaks a rule of the wire format.
    InvalidResult {
        /// First broken rule.
        rule: baler_conversation::rules::Rule,
    },
    /// The strategy answered the same question in another way when it was asked again
    /// ([`Request::verify`](crate::Request::verify)).
    NotDeterministic {
        /// What differs.
        what: Difference,
    },
    /// A remote strategy did not answer.
    Remote {
        /// Reason.
        problem: RemoteProblem,
    },
}

/// In what two answers of a strategy to the same question differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Difference {
    /// The plan, the reason or the metrics.
    Answer,
    /// The log.
    Log,
    /// The fuel.
    Fuel,
}

/// Kinds of WebAssembly traps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trap {
    /// `unreachable` instruction, which also ends a panic.
    Unreachable,
    /// Memory access out of bounds, or not aligned.
    MemoryOutOfBounds,
    /// Table access out of bounds, or an indirect call of a null entry or of a function with another
    /// signature.
    Table,
    /// Division by zero, or an overflow of an integer division or conversion.
    Arithmetic,
    /// Entering or leaving the component in a way that the component model forbids.
    ComponentModel,
    /// End of the program, as by `exit`.
    Exit,
    /// Any other trap.
    Other,
}

/// Quantity that a limit bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// Bytes that one call passes to the host.
    LiftedBytes,
    /// Bytes of all inserted and replacement texts of a plan.
    InsertedBytes,
    /// Pieces of a plan.
    Pieces,
    /// Edits of a plan.
    Edits,
    /// Runs of all excerpts of a plan together.
    Runs,
    /// Reasons and metrics of a report.
    Annotations,
    /// Calls of host functions.
    HostCalls,
    /// Handles of resources that the host holds for the strategy.
    Handles,
    /// Tokens of a result.
    Tokens,
    /// Bytes of a result.
    Bytes,
    /// Media parts of a result, such as pictures and documents.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlanRule {
    /// A plan has at least one piece.
    Empty,
    /// A span has at least one unit.
    EmptySpan,
    /// Spans and rewrites name existing units.
    OutOfRange,
    /// Units keep their order, and no unit occurs twice.
    OutOfOrder,
    /// No protected unit is removed, such as instructions, pinned, pending, live and unseen units and the
    /// newest user message.
    DropsProtected,
    /// An edit names an existing part.
    EditOutOfRange,
    /// The edits of a unit are in order, and no part is edited twice.
    EditOutOfOrder,
    /// Only parts that the policy allows are edited, and no text or media of a message with signed or
    /// encrypted parts.
    EditNotAllowed,
    /// No edit removes a tool call or a tool output.
    EditRemovesCall,
    /// A rewritten part has fewer tokens than before, its mark included. An excerpt that saves nothing changes
    /// nothing instead.
    EditGrows,
    /// A run of an excerpt lies in the text of its part, and begins and ends between characters.
    ExcerptOutOfRange,
    /// The runs of an excerpt are in order and do not overlap.
    ExcerptOutOfOrder,
    /// A run of an excerpt has at least 16 bytes.
    ExcerptTooShort,
    /// Inserted text has a role that the policy and the format allow.
    RoleNotAllowed,
    /// Inserted text that joins a message joins a kept user message or instructions of the same role.
    JoinsNothing,
    /// Inserted text is not empty.
    EmptyInsertion,
    /// Nothing is inserted before a message that the provider accepts only at the beginning.
    PrecedesFirst,
    /// A reason names existing units.
    ReasonOutOfRange,
}

/// Failure that a strategy itself reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "declared", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeclaredFailure {
    /// The strategy rejects its config.
    BadConfig,
    /// The strategy got no usable answer from a model.
    Model,
    /// Any other failure.
    Other,
}

/// Reason why a remote strategy did not answer, in receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RemoteProblem {
    /// The server could not be reached.
    Unreachable,
    /// No connection was established in time.
    ConnectTimeout,
    /// The host had no file descriptor, port or memory for a connection.
    NoRoom,
    /// The connection broke before the answer was complete.
    Connection,
    /// The server refused the request with this HTTP status.
    Status(u16),
}

impl std::error::Error for RemoteProblem {}

impl fmt::Display for RemoteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("it could not be reached"),
            Self::ConnectTimeout => f.write_str("no connection was established in time"),
            Self::NoRoom => f.write_str(
                "this process had no file descriptor, port or memory left for a connection",
            ),
            Self::Connection => f.write_str("the connection broke before the answer was complete"),
            Self::Status(status) => write!(f, "it refused the request with HTTP status {status}"),
        }
    }
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
                "raise the fuel limit if the strategy needs more by design; otherwise report this to its author"
            }
            Self::Timeout { .. } => {
                "raise the time limit if the strategy needs more by design; otherwise report this to its author"
            }
            Self::Memory { .. } | Self::Table { .. } => {
                "raise the memory limit if the strategy needs more by design; otherwise report this to its author"
            }
            Self::OverBudget { .. } => {
                "raise the budget, change the strategy's config if it has one, or report this to its author"
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

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trap { trap } => write!(f, "it trapped: {}", trap.description()),
            Self::OutOfFuel { limit } => write!(f, "it used up its fuel: the limit is {limit}"),
            Self::Timeout { limit_ms } => write!(f, "it exceeded its time limit of {limit_ms} ms"),
            Self::Memory { limit, wanted } => {
                write!(
                    f,
                    "it requested {wanted} bytes of memory; the limit is {limit}"
                )
            }
            Self::Table { limit, wanted } => {
                write!(
                    f,
                    "it requested {wanted} table elements; the limit is {limit}"
                )
            }
            Self::Stack { limit } => {
                write!(f, "it overflowed its stack; the limit is {limit} bytes")
            }
            Self::OutputTooLarge { what, limit } => {
                write!(f, "it exceeded its limit of {limit} {}", what.description())
            }
            Self::OutputMalformed => f.write_str("it passed values that cannot be decoded"),
            Self::InvalidPlan(fault) => write!(f, "its plan is invalid: {fault}"),
            Self::OverBudget {
                what,
                result,
                limit,
            } => {
                write!(
                    f,
                    "its result has {result} {}; the limit is {limit}",
                    what.description()
                )
            }
            Self::NoProgress { before, after } => {
                write!(
                    f,
                    "its result is not smaller than the conversation: {before} tokens before, {after} after"
                )
            }
            Self::InvalidResult { rule } => {
                write!(f, "its result breaks a rule of the wire format: {rule}")
            }
            Self::NotDeterministic { what } => {
                let what = match what {
                    Difference::Answer => "with another plan, reason or metric",
                    Difference::Log => "with another log",
                    Difference::Fuel => "with another use of fuel",
                };
                write!(f, "it answered the same question twice, {what}")
            }
            Self::Remote { problem } => write!(f, "its server did not return a result: {problem}"),
        }
    }
}

impl Trap {
    const fn description(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable code or a panic",
            Self::MemoryOutOfBounds => "memory access out of bounds",
            Self::Table => "invalid table access or indirect call",
            Self::Arithmetic => "division by zero or overflow",
            Self::ComponentModel => "a rule of the component model was broken",
            Self::Exit => "the strategy ended its program",
            Self::Other => "another trap",
        }
    }
}

impl Quantity {
    const fn description(self) -> &'static str {
        match self {
            Self::LiftedBytes => "bytes passed to the host in one call",
            Self::InsertedBytes => "bytes of inserted text",
            Self::Pieces => "pieces in a plan",
            Self::Edits => "edits in a plan",
            Self::Runs => "runs of excerpts in a plan",
            Self::Annotations => "reasons and metrics",
            Self::HostCalls => "host calls",
            Self::Handles => "handles of resources",
            Self::Tokens => "tokens",
            Self::Bytes => "bytes",
            Self::Media => "pictures and documents",
        }
    }
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.rule {
            PlanRule::Empty => "it has no pieces",
            PlanRule::EmptySpan => "a span is empty",
            PlanRule::OutOfRange => "it names a unit that does not exist",
            PlanRule::OutOfOrder => "a unit is out of order or occurs twice",
            PlanRule::DropsProtected => "it removes a protected unit",
            PlanRule::EditOutOfRange => "it edits a part that does not exist",
            PlanRule::EditOutOfOrder => "edits are out of order or repeated",
            PlanRule::EditNotAllowed => "it edits a part that must not be changed",
            PlanRule::EditRemovesCall => "an edit removes a tool call or a tool output",
            PlanRule::EditGrows => {
                "the new text of a part, in its mark, does not have fewer tokens than the old one"
            }
            PlanRule::ExcerptOutOfRange => {
                "a run of an excerpt is outside of its text or splits a character"
            }
            PlanRule::ExcerptOutOfOrder => "the runs of an excerpt are out of order or overlap",
            PlanRule::ExcerptTooShort => "a run of an excerpt has fewer than 16 bytes",
            PlanRule::RoleNotAllowed => "inserted text has a role that is not allowed",
            PlanRule::JoinsNothing => "inserted text joins no kept message of its role",
            PlanRule::EmptyInsertion => "it inserts an empty text",
            PlanRule::PrecedesFirst => {
                "it inserts a text before a signed compaction, which the provider accepts only at the beginning"
            }
            PlanRule::ReasonOutOfRange => "a reason names units that do not exist",
        };
        f.write_str(rule)?;
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

impl std::error::Error for DeclaredFailure {}

impl fmt::Display for DeclaredFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadConfig => "the strategy reports that its config is invalid",
            Self::Model => "the strategy reports that it got no usable answer from a model",
            Self::Other => "the strategy reports a failure",
        })
    }
}
