//! What all strategies have in common, wherever they run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::content_hash::ContentHash;
use crate::error::HostError;
use crate::fault::{DeclaredFailure, Fault};
use crate::limits::Limits;
use crate::model::ModelGrant;
use crate::receipt::ComponentInfo;
use crate::report::{Decision, Introspection, LogLevel, Report};
use crate::situation::Situation;

/// Runs a strategy: a component in the sandbox, a remote strategy, or code of the host.
#[async_trait]
pub(crate) trait Runner: Send + Sync {
    /// The hash under which the strategy's faults are counted; `None` for a native strategy, which
    /// is trusted.
    fn fault_key(&self) -> Option<&ContentHash> {
        None
    }

    /// What is known of the component; `None` if the strategy is not one.
    fn component(&self) -> Option<ComponentInfo> {
        None
    }

    /// Where a remote strategy runs; `None` for others.
    fn address(&self) -> Option<&str> {
        None
    }

    /// Whether the strategy asks a model if it is granted one.
    fn wants_model(&self) -> bool {
        false
    }

    /// Whether headings of a digest count in what the strategy inserts.
    fn writes_digests(&self) -> bool {
        false
    }

    /// Asks for a plan.
    async fn compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Report>;

    /// Asks whether to compact now.
    async fn should_compact(
        &self,
        _terms: Terms<'_>,
        _situation: &Arc<Situation>,
    ) -> Call<Decision> {
        Call::of(Instant::now(), Ok(Decision::HostDecides))
    }

    /// Asks the strategy to describe itself, and to check a config; `None` for a native strategy.
    async fn introspect(
        &self,
        _config: Option<&str>,
        _limits: Limits,
    ) -> Option<Result<Introspection, CallFailure>> {
        None
    }

    /// What the strategy declared before it saw a conversation; `None` if it declares nothing.
    async fn declared(&self, _limits: Limits) -> Option<Introspection> {
        None
    }
}

/// On which terms a strategy is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// Its name in marks and receipts.
    pub(crate) name: &'a str,
    /// JSON; empty if it has none.
    pub(crate) config: &'a str,
    pub(crate) limits: &'a Limits,
    /// The model that it may ask.
    pub(crate) model: Option<&'a ModelGrant>,
}

/// The result of a call, and what the call used.
#[derive(Debug)]
pub(crate) struct Call<T> {
    pub(crate) result: Result<T, CallFailure>,
    /// It was there to be asked: what failed then may lie with the question.
    pub(crate) has_started: bool,
    pub(crate) usage: CallUsage,
}

impl<T> Call<T> {
    /// The call of a strategy outside of the sandbox, of which the time alone is known.
    pub(crate) fn of(start: Instant, result: Result<T, CallFailure>) -> Self {
        Self {
            result,
            has_started: true,
            usage: CallUsage {
                time: start.elapsed(),
                ..CallUsage::default()
            },
        }
    }
}

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum CallFailure {
    Fault(Fault),
    /// With the strategy's own text, whose length is not limited yet.
    Declared(DeclaredFailure, String),
    Host(HostError),
}

/// What a call used.
#[derive(Debug, Default)]
pub(crate) struct CallUsage {
    /// Fuel; `None` if it is unknown, as after a timeout.
    pub(crate) fuel: Option<u64>,
    pub(crate) time: Duration,
    /// Bytes.
    pub(crate) memory: usize,
    pub(crate) host_calls: u64,
    pub(crate) log: Vec<(LogLevel, String)>,
    pub(crate) log_dropped: u64,
}
