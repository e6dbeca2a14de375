//! The answer to whether to compact now.

use crate::receipt::Attempt;
use crate::report::Decision;

/// A strategy's answer to whether it is time, and what asking it cost.
#[derive(Debug)]
#[non_exhaustive]
pub struct ShouldCompact {
    /// The answer; [`Decision::HostDecides`] where the strategy failed.
    pub decision: Decision,
    /// Whether it is time, the host's own view included: where the strategy leaves it to the
    /// host, it is when the conversation is over its budget.
    pub is_due: bool,
    /// The strategy's turn.
    pub attempt: Attempt,
}
