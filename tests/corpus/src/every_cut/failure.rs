//! What can be found wrong.

use std::fmt;

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The conversation can be read.
    Read,
    /// A conversation that grew is the same as one that was read.
    Grown,
    /// What the host takes for valid, the rules written down here do too.
    Disagree,
    /// No rule is broken that was not broken before.
    Rules,
    /// What was kept, and what came back unchanged, is byte for byte the same.
    Verbatim,
    /// Instructions, the newest request and pending calls stay.
    Lost,
    /// The result is smaller, and counted right.
    Size,
    /// The result is within the budget, or at the floor.
    Budget,
    /// The result again, with the same budget, does not change.
    Again,
}

impl Check {
    /// All checks, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Grown,
        Self::Disagree,
        Self::Rules,
        Self::Verbatim,
        Self::Lost,
        Self::Size,
        Self::Budget,
        Self::Again,
    ];

    /// Its column in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Grown => "grown",
            Self::Disagree => "disagree",
            Self::Rules => "rules",
            Self::Verbatim => "verbatim",
            Self::Lost => "lost",
            Self::Size => "size",
            Self::Budget => "budget",
            Self::Again => "again",
        }
    }
}

/// A check that failed, with what is needed to do it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The set.
    pub set: String,
    /// The conversation.
    pub id: String,
    /// The number of messages of the cut.
    pub cut: usize,
    /// The strategy; empty where none had run.
    pub strategy: String,
    /// The share for the budget, in percent; 0 where there was none.
    pub percent: u32,
    /// What was checked.
    pub check: Check,
    /// What was found, in words and numbers.
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
