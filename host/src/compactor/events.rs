//! What a compactor tells while it works, for people to see.

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

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
    /// The listener was too slow: so many of the oldest events are lost to it.
    Missed(u64),
}

/// The events of a compactor from the moment on when it was asked for them.
#[derive(Debug)]
pub struct EventStream(pub(super) Receiver<Event>);

impl EventStream {
    /// Waits for the next event; `None` once the compactor is gone and all events were taken.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(events)) => Some(Event::Missed(events)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Returns the next event if there is one already.
    pub fn try_next(&mut self) -> Option<Event> {
        match self.0.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Lagged(events)) => Some(Event::Missed(events)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast;

    use super::*;

    #[tokio::test]
    async fn a_slow_listener_is_told_how_many_events_it_missed() {
        let (sender, receiver) = broadcast::channel(2);
        let mut events = EventStream(receiver);
        assert!(events.try_next().is_none());
        for reason in ["one", "two", "three"] {
            sender
                .send(Event::Vetoed(reason.to_owned()))
                .expect("is heard");
        }
        assert!(matches!(events.next().await, Some(Event::Missed(1))));
        assert!(matches!(events.try_next(), Some(Event::Vetoed(reason)) if reason == "two"));
        drop(sender);
        assert!(matches!(events.next().await, Some(Event::Vetoed(reason)) if reason == "three"));
        assert!(events.next().await.is_none());
    }
}
