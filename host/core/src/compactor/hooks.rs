//! Hooks: a program's own code before and after each compaction.

use std::fmt;

use baler_conversation::Conversation;

use super::Pressure;
use crate::compaction::Compaction;
use crate::request::Request;

/// A compaction that is about to begin.
#[derive(Debug)]
#[non_exhaustive]
pub struct HookContext<'a> {
    /// The conversation that is to be compacted.
    pub conversation: &'a Conversation,
    /// Why the compactor acts.
    pub pressure: Pressure,
    /// The names of the strategies, in the order in which they are tried.
    pub strategies: Vec<&'a str>,
}

/// The decision of a hook before a compaction.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookDecision {
    /// Compact, with the request that the hook may have changed.
    Proceed,
    /// Do not compact now, for this reason. Ignored if the compaction is required.
    Veto(String),
}

/// Called before and after each compaction, automatic or manual.
///
/// ```
/// use std::sync::Arc;
/// use baler_host::compactor::{HookContext, HookDecision, Hooks};
/// use baler_host::{Compactor, Pins, Request};
///
/// #[derive(Debug)]
/// struct KeepFirstTwo;
///
/// impl Hooks for KeepFirstTwo {
///     fn before(&self, context: &HookContext<'_>, request: &mut Request) -> HookDecision {
///         if context.conversation.units().len() < 3 {
///             return HookDecision::Veto("there is nothing to remove".to_owned());
///         }
///         request.pins = Pins::Units(vec![0, 1]);
///         HookDecision::Proceed
///     }
/// }
///
/// fn with_my_hooks(compactor: Compactor) -> Compactor {
///     compactor.with_hooks(Arc::new(KeepFirstTwo))
/// }
/// ```
pub trait Hooks: fmt::Debug + Send + Sync {
    /// Runs before a compaction. It may change the request or veto the compaction.
    fn before(&self, _context: &HookContext<'_>, _request: &mut Request) -> HookDecision {
        HookDecision::Proceed
    }

    /// Runs after a compaction, with its result, which it cannot change.
    fn after(&self, _compaction: &Compaction) {}
}
