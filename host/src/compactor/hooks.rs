//! What a program may do around each compaction.

use std::fmt;

use baler_conversation::Conversation;

use super::Pressure;
use crate::compaction::Compaction;
use crate::request::Request;

/// A compaction that is about to begin.
#[derive(Debug)]
#[non_exhaustive]
pub struct HookContext<'a> {
    /// What is to be compacted.
    pub conversation: &'a Conversation,
    /// Why.
    pub pressure: Pressure,
    /// The names of the strategies, in the order in which they are tried.
    pub strategies: Vec<&'a str>,
}

/// What a hook says before a compaction.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookDecision {
    /// Go on, as the request says, which the hook may have changed.
    Proceed,
    /// Not now, and why. It counts only where the compaction is not required.
    Veto(String),
}

/// Called around each compaction, by hand or not.
pub trait Hooks: fmt::Debug + Send + Sync {
    /// Before. It may change the request, or say no.
    fn before(&self, _attempting: &HookContext<'_>, _request: &mut Request) -> HookDecision {
        HookDecision::Proceed
    }

    /// After, with what came of it. Nothing that it does changes that.
    fn after(&self, _compaction: &Compaction) {}
}
