//! The decision whether to compact now.

use crate::receipt::Attempt;
use crate::report::Decision;

/// Decision of a strategy whether to compact now, and what the question cost.
#[derive(Debug)]
#[non_exhaustive]
pub struct ShouldCompact {
    /// Answer of the strategy; [`Decision::HostDecides`] if it failed or was not asked.
    pub decision: Decision,
    /// Whether to compact now. If the strategy leaves that to the host, [`Host::is_due`](crate::Host::is_due)
    /// decides; if it wants to wait, [`Request::required`](crate::Request::required) overrides it.
    pub is_due: bool,
    /// Result and cost of the question.
    pub attempt: Attempt,
}
