//! One compaction as work that is independent of its compactor.

use std::sync::Arc;

use tokio::sync::broadcast;
use tracing::Instrument as _;

use baler_conversation::Conversation;

use super::{Event, HookContext, HookDecision, Hooks, Pressure};
use crate::compaction::Compaction;
use crate::error::HostError;
use crate::host::Host;
use crate::request::Request;
use crate::strategy::Strategy;

/// The identity of a compactor's view, shared with the work that began from it. A number would not do:
/// another compactor, or a resumed one, could have the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Generation(Arc<()>);

impl Generation {
    /// Whether both are the same generation.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A compaction that is ready to run, made by [`crate::Compactor::work`].
#[derive(Debug)]
pub struct Work {
    pub(super) host: Arc<Host>,
    pub(super) chain: Arc<[Strategy]>,
    pub(super) hooks: Option<Arc<dyn Hooks>>,
    pub(super) events: broadcast::Sender<Event>,
    pub(super) snapshot: Conversation,
    /// Tokens of the snapshot by the host's own count.
    pub(super) counted: u32,
    pub(super) generation: Generation,
    pub(super) pressure: Pressure,
    pub(super) request: Request,
}

/// The result of [`Work::run`], for [`crate::Compactor::apply`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished {
    pub(super) snapshot: Conversation,
    /// Tokens of the snapshot by the host's own count.
    pub(super) counted: u32,
    pub(super) generation: Generation,
    /// A compaction, or the reason of a hook's veto.
    pub(super) result: Result<Result<Compaction, String>, HostError>,
}

impl Work {
    /// Runs the compaction. Dropping the future changes nothing in the compactor.
    pub async fn run(self) -> Finished {
        let tokens = self.snapshot.tokens();
        let span = tracing::debug_span!("compactor.work", pressure = ?self.pressure, tokens);
        let _ = self.events.send(Event::Compacting {
            pressure: self.pressure,
            tokens,
        });
        let events = self.events.clone();
        let (snapshot, generation) = (self.snapshot.clone(), self.generation.clone());
        let counted = self.counted;
        let result = self.result().instrument(span).await;
        let _ = events.send(match &result {
            Ok(Ok(compaction)) => Event::Ended(Arc::new(compaction.receipt().clone())),
            Ok(Err(why)) => Event::Vetoed(why.clone()),
            Err(error) => Event::Failed(crate::error::with_causes(&error)),
        });
        Finished {
            snapshot,
            counted,
            generation,
            result,
        }
    }

    async fn result(self) -> Result<Result<Compaction, String>, HostError> {
        let mut request = self.request;
        if let Some(hooks) = &self.hooks {
            let context = HookContext {
                conversation: &self.snapshot,
                pressure: self.pressure,
                strategies: self.chain.iter().map(Strategy::name).collect(),
            };
            if let HookDecision::Veto(why) = hooks.before(&context, &mut request)
                && !self.pressure.is_required()
            {
                return Ok(Err(why));
            }
        }
        let compaction = self
            .host
            .compact(&self.snapshot, &self.chain, &request)
            .await?;
        if let Some(hooks) = &self.hooks {
            hooks.after(&compaction);
        }
        Ok(Ok(compaction))
    }
}
