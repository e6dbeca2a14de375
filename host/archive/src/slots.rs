//! Limits how many entries of an archive are read and written at once, by all its clones together.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::backend::Problem;

/// The most entries that are read or written at once.
const MAX_ENTRIES: usize = 16;

/// File descriptors that are open while an entry is written: its file and its folder.
const PER_ENTRY: usize = 2;

/// The most file descriptors that an archive in a folder uses, whatever the number of its clones.
pub(crate) const DESCRIPTORS: usize = MAX_ENTRIES * PER_ENTRY;

/// Slots for reads and writes. Clones share the slots.
#[derive(Clone)]
pub(crate) struct Slots(Arc<Semaphore>);

/// A slot for one entry; free again when it is dropped.
pub(crate) type Slot = OwnedSemaphorePermit;

impl Slots {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_ENTRIES)))
    }

    /// Runs `work` as soon as a slot is free. Dropping the future cancels `work`; a thread that `work`
    /// started keeps the slot for as long as it runs.
    pub(crate) async fn run<T, W, F>(&self, work: W) -> Result<T, Problem>
    where
        T: Send + 'static,
        W: FnOnce(Slot) -> F + Send + 'static,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        let slots = self.0.clone();
        let work = async move {
            let slot = slots.acquire_owned().await?;
            work(slot).await
        };
        match Handle::try_current() {
            Ok(runtime) => {
                // A separate task makes progress even if its caller does not poll it, such as one of many
                // entries that are read ahead. Otherwise it could hold a slot that the caller waits for.
                let mut task = JoinSet::new();
                task.spawn_on(work, &runtime);
                task.join_next().await.ok_or("its task is gone")??
            }
            Err(_) => work.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;
    use futures_util::{FutureExt as _, StreamExt as _, stream};

    use super::*;

    #[tokio::test]
    async fn clones_share_the_limit_of_slots() {
        let slots = Slots::new();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let users = (0..4 * MAX_ENTRIES).map(|_| {
            let (slots, now, most) = (slots.clone(), now.clone(), most.clone());
            async move {
                slots
                    .run(move |slot| async move {
                        let inside = now.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(inside, Ordering::SeqCst);
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(slot);
                        Ok(())
                    })
                    .await
            }
        });
        for done in join_all(users).await {
            done.expect("there is slots");
        }
        assert_eq!(most.load(Ordering::SeqCst), MAX_ENTRIES);
    }

    #[tokio::test]
    async fn work_that_is_not_polled_releases_its_slot() {
        let slots = Slots::new();
        let ahead = (0..2 * MAX_ENTRIES).map(|_| {
            let slots = slots.clone();
            async move {
                slots
                    .run(|slot| async move {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        drop(slot);
                        Ok(())
                    })
                    .await
            }
        });
        let mut ahead = stream::iter(ahead).buffered(2 * MAX_ENTRIES);
        // All have begun, and half of them wait for the other half.
        assert!(ahead.next().now_or_never().is_none());
        let own = slots.run(|_slot| async { Ok(()) });
        let own = tokio::time::timeout(Duration::from_secs(10), own).await;
        own.expect("it gets a slot").expect("there is slots");
    }

    #[tokio::test]
    async fn a_thread_keeps_its_slot_after_its_caller_is_gone() {
        let slots = Slots::new();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let own = slots.clone();
        let waiting = tokio::spawn(async move {
            own.run(move |slot| async move {
                let thread = tokio::task::spawn_blocking(move || {
                    let _slot = slot;
                    let _ = begin.send(());
                    let _ = ended.recv();
                });
                Ok(thread.await?)
            })
            .await
        });
        begun.await.expect("it begins");
        waiting.abort();
        let _ = waiting.await;
        assert_eq!(slots.0.available_permits(), MAX_ENTRIES - 1);
        drop(end);
        let all = u32::try_from(MAX_ENTRIES).expect("a small number");
        let all = tokio::time::timeout(Duration::from_secs(10), slots.0.acquire_many(all)).await;
        assert!(all.is_ok(), "it gives its slot back when it ends");
    }
}
