//! Events of a compactor, for display to people.

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::Pressure;
use crate::receipt::Receipt;

/// An event of a compactor. One of the other events follows each `Compacting`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A compaction begins.
    Compacting {
        /// Why the compactor acts.
        pressure: Pressure,
        /// Tokens of the request.
        tokens: u32,
    },
    /// A compaction ended, successfully or not, as the receipt says.
    Ended(Arc<Receipt>),
    /// A hook vetoed the compaction, for this reason.
    Vetoed(String),
    /// The result was discarded: the conversation was changed in the meantime, or the provider would refuse
    /// the result with the messages that were appended since, or a person gave instructions after the work
    /// began.
    Outdated,
    /// The host failed, with this message. The conversation is unchanged.
    Failed(String),
    /// The listener was too slow and missed this number of events.
    Missed(u64),
}

/// The events of a compactor since the call of [`crate::Compactor::events`].
///
/// ```
/// use std::sync::Arc;
/// use baler_host::compactor::Event;
/// use baler_host::{Compactor, CompactorOptions, Host};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Arc::new(Host::builder().build()?);
/// let conversation = host.read(r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello!"}]}"#)?;
/// let options = CompactorOptions::default().with_context_window(128_000);
/// let mut compactor = Compactor::new(host, conversation, [], options)?;
/// let mut events = compactor.events();
/// compactor.compact_now(None).await?;
/// assert!(matches!(events.next().await, Some(Event::Compacting { .. })));
/// assert!(matches!(events.next().await, Some(Event::Ended(_))));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct EventStream(pub(super) Receiver<Event>);

impl EventStream {
    /// Waits for the next event. Returns `None` once the compactor is dropped and all events were received.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(events)) => Some(Event::Missed(events)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Returns the next event without waiting; `None` if there is none yet.
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
