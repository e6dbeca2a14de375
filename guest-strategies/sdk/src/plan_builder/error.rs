use std::fmt;

/// Why [`PlanBuilder::build`](crate::PlanBuilder::build) returns no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// A call named a unit that does not exist.
    NoSuchUnit {
        /// The index that was given.
        unit: usize,
        /// The number of units in the conversation.
        units: usize,
    },
    /// The plan keeps and inserts nothing.
    Empty,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchUnit { unit, units } => {
                write!(
                    f,
                    "unit {unit} does not exist (the conversation has {units} units)"
                )
            }
            Self::Empty => f.write_str("the plan keeps and inserts nothing"),
        }
    }
}

impl std::error::Error for PlanError {}
