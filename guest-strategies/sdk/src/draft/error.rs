use std::fmt;

/// What makes a plan out of a draft impossible.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DraftError {
    /// There is no such unit.
    NoSuchUnit {
        /// the number that was given
        unit: usize,
        /// how many units there are
        units: usize,
    },
    /// Nothing would be left.
    Empty,
}

impl fmt::Display for DraftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchUnit { unit, units } => {
                write!(
                    f,
                    "the plan names unit {unit}, but there are only {units} units"
                )
            }
            Self::Empty => f.write_str("the plan keeps and inserts nothing"),
        }
    }
}

impl std::error::Error for DraftError {}
