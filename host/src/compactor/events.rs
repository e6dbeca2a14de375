//! What a compactor tells while it works, for people to see.

use std::sync::Arc;

use super::Pressure;
use crate::receipt::Receipt;

/// Something that happened. `Compacting` is always followed by one of the others.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A compaction begins.
    Compacting {
        /// Why.
        pressure: Pressure,
        /// Tokens of the request.
        tokens: u32,
    },
    /// It ended, well or not: the receipt says how.
    Ended(Arc<Receipt>),
    /// A hook said no.
    Vetoed(String),
    /// The conversation had become another one meanwhile, or a provider would refuse the result with
    /// what came since behind it, or somebody has a wish that it was begun without, and the result was
    /// thrown away.
    Outdated,
    /// The host failed, and the conversation is as it was.
    Failed(String),
}
