//! How much of an archive is read and written at once, by all who share it.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::backend::Problem;

/// Entries that all together read or write at once.
const MOST: usize = 16;

/// Descriptors that an entry takes while it is written: its file and its folder.
const PER_ENTRY: usize = 2;

/// Descriptors that an archive in a folder takes at most, however many use it.
pub(super) const DESCRIPTORS: usize = MOST * PER_ENTRY;

/// Room for what is read and written. A clone is the same room.
#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

/// Room for one entry, given back when it is dropped.
pub(super) type Place = OwnedSemaphorePermit;

impl Room {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MOST)))
    }

    /// Does `work` as soon as there is a place for it. Where nobody waits for it any more, it is
    /// given up; a thread that it started keeps the place for as long as it runs.
    pub(super) async fn take<T, W, F>(&self, work: W) -> Result<T, Problem>
    where
        T: Send + 'static,
        W: FnOnce(Place) -> F + Send + 'static,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        let room = self.0.clone();
        let work = async move {
            let place = room.acquire_owned().await?;
            work(place).await
        };
        match Handle::try_current() {
            Ok(runtime) => {
                // A task of its own: it goes on where its caller does not look after it, such as
                // one of many that are read ahead. Else it could keep a place that the caller
                // waits for.
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
    async fn all_who_share_a_room_have_no_more_places_than_there_are() {
        let room = Room::new();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let users = (0..4 * MOST).map(|_| {
            let (room, now, most) = (room.clone(), now.clone(), most.clone());
            async move {
                room.take(move |place| async move {
                    let inside = now.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(inside, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    drop(place);
                    Ok(())
                })
                .await
            }
        });
        for done in join_all(users).await {
            done.expect("there is room");
        }
        assert_eq!(most.load(Ordering::SeqCst), MOST);
    }

    #[tokio::test]
    async fn what_nobody_looks_after_leaves_its_place_to_others() {
        let room = Room::new();
        let ahead = (0..2 * MOST).map(|_| {
            let room = room.clone();
            async move {
                room.take(|place| async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    drop(place);
                    Ok(())
                })
                .await
            }
        });
        let mut ahead = stream::iter(ahead).buffered(2 * MOST);
        // All have begun, and half of them wait for the other half.
        assert!(ahead.next().now_or_never().is_none());
        let own = room.take(|_place| async { Ok(()) });
        let own = tokio::time::timeout(Duration::from_secs(10), own).await;
        own.expect("it gets a place").expect("there is room");
    }

    #[tokio::test]
    async fn a_thread_keeps_its_place_when_nobody_waits_for_it() {
        let room = Room::new();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let own = room.clone();
        let waiting = tokio::spawn(async move {
            own.take(move |place| async move {
                let thread = tokio::task::spawn_blocking(move || {
                    let _place = place;
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
        assert_eq!(room.0.available_permits(), MOST - 1);
        drop(end);
        let all = u32::try_from(MOST).expect("a small number");
        let all = tokio::time::timeout(Duration::from_secs(10), room.0.acquire_many(all)).await;
        assert!(all.is_ok(), "it gives its place back when it ends");
    }
}
