//! Checks, and their failures.

use std::fmt;

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The conversation can be read.
    Read,
    /// A conversation that grew is the same as one that was read.
    Grown,
    /// A conversation that the host finds valid obeys the rules in `sound`.
    Disagree,
    /// The result breaks no rule that the input obeys.
    Rules,
    /// Kept messages and unchanged conversations are byte-identical.
    Verbatim,
    /// Instructions, the newest request and pending calls are kept.
    Lost,
    /// The user's messages are kept if all of them fit into their share of the budget.
    Words,
    /// The result is smaller, and its tokens are counted correctly.
    Size,
    /// The result is within the budget, or at the floor.
    Budget,
    /// Compacting the result again with the same budget changes nothing.
    Again,
}

impl Check {
    /// All checks, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Grown,
        Self::Disagree,
        Self::Rules,
        Self::Verbatim,
        Self::Lost,
        Self::Words,
        Self::Size,
        Self::Budget,
        Self::Again,
    ];

    /// Returns the name of its column in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Grown => "grown",
            Self::Disagree => "disagree",
            Self::Rules => "rules",
            Self::Verbatim => "verbatim",
            Self::Lost => "lost",
            Self::Words => "words",
            Self::Size => "size",
            Self::Budget => "budget",
            Self::Again => "again",
        }
    }
}

/// A failed check, with what is needed to repeat it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The name of the set.
    pub set: String,
    /// The id of the conversation.
    pub id: String,
    /// The number of messages of the cut.
    pub cut: usize,
    /// The name of the strategy; empty if none ran.
    pub strategy: String,
    /// The budget as a share, in percent; 0 if there was none.
    pub percent: u32,
    /// The failed check.
    pub check: Check,
    /// What is wrong, without text of the conversation.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            set,
            id,
            cut,
            strategy,
            percent,
            check,
            what,
        } = self;
        write!(f, "{}: {set} {id}, first {cut} messages", check.name())?;
        if !strategy.is_empty() {
            write!(f, ", {strategy} at {percent} %")?;
        }
        write!(f, ": {what}")
    }
}
