//! Components that JavaScript runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baler_host::engine::{Answering, Engine, EngineCall, Trapped};
use baler_host::receipt::ContentHash;
use tokio::sync::oneshot::{self, Sender};

/// The question that waits for JavaScript, of all components of a chain: one is asked after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<Option<Waiting>>>);

/// A question, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Index of the component in the chain.
    pub(crate) component: usize,
    pub(crate) call: EngineCall,
    sender: Sender<Option<String>>,
}

impl Desk {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the question that waits; `None` says that the component trapped.
    pub(crate) fn answer(&self, answer: Option<String>) {
        if let Some(waiting) = self.waiting().take() {
            // Nobody waits if the compaction was dropped.
            let _ = waiting.sender.send(answer);
        }
    }
}

/// A component of a chain.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) hash: ContentHash,
    pub(crate) desk: Desk,
}

impl Engine for Component {
    fn name(&self) -> &str {
        &self.name
    }

    fn content_hash(&self) -> ContentHash {
        self.hash
    }

    fn ask(&self, call: EngineCall) -> Answering<'_> {
        let (sender, receiver) = oneshot::channel();
        *self.desk.waiting() = Some(Waiting {
            component: self.index,
            call,
            sender,
        });
        Box::pin(async move { receiver.await.ok().flatten().ok_or(Trapped) })
    }
}
