//! What can go wrong in a strategy, told apart by type.
//!
//! There are three families, and each says who is to blame: a [`Fault`] is the guest's, a
//! [`DeclaredFailure`] failure is what a strategy says of itself, and a [`HostError`](crate::HostError) is ours or the
//! machine's and never counts against a guest.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// A strategy broke a limit or a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(
    tag = "fault",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
#[non_exhaustive]
pub enum Fault {
    /// It executed a trap.
    Trap {
        /// Which.
        trap: Trap,
    },
    /// It used up its fuel.
    OutOfFuel {
        /// The limit, in fuel, which is about one for each instruction.
        limit: u64,
    },
    /// It was not done in time, waiting included.
    Timeout {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// Its memories together wanted more than the limit, or it had too many.
    Memory {
        /// The limit in bytes.
        limit: u64,
        /// What it wanted, in bytes.
        wanted: u64,
    },
    /// It wanted more table elements than the limit.
    Table {
        /// The limit in elements of all tables together.
        limit: u64,
        /// What it wanted.
        wanted: u64,
    },
    /// It recursed too deeply.
    Stack {
        /// The limit in bytes.
        limit: u64,
    },
    /// What it handed over is more than the host takes.
    OutputTooLarge {
        /// What there is too much of.
        what: Quantity,
        /// The limit.
        limit: u64,
    },
    /// What it handed over cannot be read: a text that is not UTF-8 or lies outside of its
    /// memory, a handle that is not its own, a case that does not exist.
    OutputMalformed,
    /// Its plan breaks a rule of the contract.
    InvalidPlan(PlanFault),
    /// Its result is over the budget, although a smaller one is possible.
    OverBudget {
        /// What there is too much of.
        what: Quantity,
        /// The size of its result.
        result: u64,
        /// The limit.
        limit: u64,
    },
    /// Its result is not smaller than what came in.
    NoProgress {
        /// Tokens before.
        before: u32,
        /// Tokens of its result.
        after: u32,
    },
    /// Its result would break a rule of the wire format.
    InvalidResult {
        /// The first rule that it breaks.
        rule: baler_conversation::rules::Rule,
    },
    /// It runs somewhere else, and no answer came from there.
    Remote {
        /// Why.
        problem: RemoteProblem,
    },
}

/// Traps of WebAssembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trap {
    /// `unreachable`, which is also how a panic ends.
    Unreachable,
    /// A memory access out of bounds.
    MemoryOutOfBounds,
    /// A table access out of bounds, or an indirect call that does not fit.
    Table,
    /// A division by zero, or an overflow of one.
    Arithmetic,
    /// The component was left in a way that the component model forbids.
    ComponentModel,
    /// Another one.
    Other,
}

/// What a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// Bytes that one call hands over.
    LiftedBytes,
    /// Bytes of inserted and replacing texts of a plan together.
    InsertedBytes,
    /// Pieces of a plan.
    Pieces,
    /// Edits of a plan.
    Edits,
    /// Reasons and metrics of a report.
    Annotations,
    /// Calls of host functions.
    HostCalls,
    /// Tokens of a result.
    Tokens,
    /// Bytes of a result.
    Bytes,
    /// Pictures, documents and the like of a result.
    Media,
}

/// Which rule a plan breaks, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlanFault {
    /// The rule.
    pub rule: PlanRule,
    /// The piece, from 0; none where it is about the plan as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<usize>,
    /// The unit, where one is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<usize>,
}

/// The rules of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlanRule {
    /// A plan has at least one piece that leaves a message.
    Empty,
    /// A span has at least one unit.
    EmptySpan,
    /// Spans and rewrites name units that there are.
    OutOfRange,
    /// Units keep their order, and none comes twice.
    OutOfOrder,
    /// Instructions, pinned, pending and live units and the newest user message stay.
    DropsProtected,
    /// An edit names a part that there is.
    EditOutOfRange,
    /// The edits of a unit are in order, and no part is edited twice.
    EditOutOfOrder,
    /// Only parts that the policy allows are edited, and never those of a message with signed
    /// or encrypted parts.
    EditNotAllowed,
    /// A call or an output is never left out of a message.
    EditRemovesCall,
    /// A rewritten part costs fewer tokens than before, its mark included.
    EditGrows,
    /// Only roles that policy and format allow are given to inserted text.
    RoleNotAllowed,
    /// Inserted text joins a kept message of the user's or of instructions, of the same role.
    JoinsNothing,
    /// An insertion has a text.
    EmptyInsertion,
    /// Nothing is inserted in front of what its provider takes at the beginning only.
    PrecedesFirst,
    /// A reason names units that there are.
    ReasonOutOfRange,
}

/// What a strategy reports of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "declared", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeclaredFailure {
    /// The config makes no sense to it.
    BadConfig,
    /// Its model did not answer, or not usably.
    Model,
    /// Something else.
    Other,
}

/// What is wrong with the way to a remote strategy, in receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RemoteProblem {
    /// Nothing was reached.
    Unreachable,
    /// No connection came about in time.
    ConnectTimeout,
    /// The asking side had no descriptor, port or memory for a connection.
    NoRoom,
    /// The connection broke before the answer was whole.
    Connection,
    /// It refused, by this status of HTTP.
    Status(u16),
}

impl fmt::Display for RemoteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("there was no connection"),
            Self::ConnectTimeout => f.write_str("there was no connection in time"),
            Self::NoRoom => f.write_str(
                "it was not asked, since this process had no descriptor, port or memory left for a connection",
            ),
            Self::Connection => f.write_str("the connection broke"),
            Self::Status(status) => write!(f, "it refused with status {status}"),
        }
    }
}

impl Fault {
    /// A short, stable name: the value of `fault` in receipts.
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
            Self::Remote { .. } => "remote",
        }
    }

    /// What a person who runs the strategy can do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::OutOfFuel { .. } => {
                "raise the fuel limit if the strategy is known to need more, else report it to its author"
            }
            Self::Timeout { .. } => {
                "raise the time limit if the strategy is known to need more, else report it to its author"
            }
            Self::Memory { .. } | Self::Table { .. } => {
                "raise the memory limit if the strategy is known to need more, else report it to its author"
            }
            Self::OverBudget { .. } => "give it a larger budget or another config",
            Self::NoProgress { .. } => {
                "nothing was left to gain for this strategy; try another one or another config"
            }
            Self::Remote {
                problem: RemoteProblem::Status(401 | 403),
            } => "give the token that its server wants",
            Self::Remote {
                problem: RemoteProblem::NoRoom,
            } => "raise the limit of open files (`ulimit -n`), or do less at once",
            Self::Remote { .. } => "see to its server, and that the URL is the right one",
            Self::Trap { .. }
            | Self::Stack { .. }
            | Self::OutputTooLarge { .. }
            | Self::OutputMalformed
            | Self::InvalidPlan(_)
            | Self::InvalidResult { .. } => "report it to the strategy's author, with the receipt",
        }
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self::Timeout {
            limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trap { trap } => write!(f, "it trapped: {}", trap.words()),
            Self::OutOfFuel { limit } => write!(f, "it used up its fuel: {limit}"),
            Self::Timeout { limit_ms } => write!(f, "it was not done in time: {limit_ms} ms"),
            Self::Memory { limit, wanted } => {
                write!(
                    f,
                    "it wanted {wanted} bytes of memory, over its limit: {limit}"
                )
            }
            Self::Table { limit, wanted } => {
                write!(
                    f,
                    "it wanted {wanted} table elements, over its limit: {limit}"
                )
            }
            Self::Stack { limit } => {
                write!(f, "it recursed too deeply for its stack: {limit} bytes")
            }
            Self::OutputTooLarge { what, limit } => {
                write!(
                    f,
                    "it handed over too many {}, over the limit: {limit}",
                    what.words()
                )
            }
            Self::OutputMalformed => f.write_str("it handed over values that cannot be read"),
            Self::InvalidPlan(fault) => write!(f, "its plan is invalid: {fault}"),
            Self::OverBudget {
                what,
                result,
                limit,
            } => {
                write!(
                    f,
                    "its result has {result} {}, over the budget: {limit}",
                    what.words()
                )
            }
            Self::NoProgress { before, after } => {
                write!(
                    f,
                    "its result is not smaller: {before} tokens before, {after} after"
                )
            }
            Self::InvalidResult { rule } => {
                write!(
                    f,
                    "its result would break a rule of the wire format: {rule}"
                )
            }
            Self::Remote { problem } => write!(f, "no answer came from its server: {problem}"),
        }
    }
}

impl Trap {
    const fn words(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable code or a panic",
            Self::MemoryOutOfBounds => "memory access out of bounds",
            Self::Table => "wrong table access or indirect call",
            Self::Arithmetic => "division by zero or overflow",
            Self::ComponentModel => "it broke the component model's rules",
            Self::Other => "another trap",
        }
    }
}

impl Quantity {
    const fn words(self) -> &'static str {
        match self {
            Self::LiftedBytes => "bytes in one call",
            Self::InsertedBytes => "bytes of inserted text",
            Self::Pieces => "pieces of a plan",
            Self::Edits => "edits of a plan",
            Self::Annotations => "reasons and metrics",
            Self::HostCalls => "calls of the host",
            Self::Tokens => "tokens",
            Self::Bytes => "bytes",
            Self::Media => "pictures and documents",
        }
    }
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.rule {
            PlanRule::Empty => "it leaves no message",
            PlanRule::EmptySpan => "a span is empty",
            PlanRule::OutOfRange => "it names a unit that does not exist",
            PlanRule::OutOfOrder => "a unit comes out of order or twice",
            PlanRule::DropsProtected => "it drops a unit that must stay",
            PlanRule::EditOutOfRange => "it edits a part that does not exist",
            PlanRule::EditOutOfOrder => "edits are out of order or repeated",
            PlanRule::EditNotAllowed => "it edits a part that may not be changed",
            PlanRule::EditRemovesCall => "it removes a tool call or an output",
            PlanRule::EditGrows => "a rewritten part is not smaller than before",
            PlanRule::RoleNotAllowed => "it gives inserted text a role that is not allowed",
            PlanRule::JoinsNothing => "inserted text joins no kept message of its role",
            PlanRule::EmptyInsertion => "it inserts an empty text",
            PlanRule::PrecedesFirst => {
                "it inserts a text in front of a signed compaction, which its provider takes at the beginning only"
            }
            PlanRule::ReasonOutOfRange => "a reason names units that do not exist",
        };
        f.write_str(rule)?;
        if let Some(piece) = self.piece {
            write!(f, " (piece {piece})")?;
        }
        if let Some(unit) = self.unit {
            write!(f, " (unit {unit})")?;
        }
        Ok(())
    }
}

impl fmt::Display for DeclaredFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadConfig => "the strategy says that its config makes no sense",
            Self::Model => "the strategy says that its model did not answer usably",
            Self::Other => "the strategy says that it cannot do it",
        })
    }
}
