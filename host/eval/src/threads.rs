//! Runs work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};

/// Calls `work` with each of `items` on `number` threads, at least one, and `on_done` with what it returns, one at a time.
/// Returns all that came of it, in no order.
///
/// # Errors
/// The first error of a thread, in their order. The other threads finish the items that they have begun, and begin no others.
pub(crate) fn each<T: Sync, R: Send>(
    number: usize,
    items: &[T],
    work: impl Fn(&Runtime, &T) -> anyhow::Result<R> + Sync,
    on_done: impl Fn(&R) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let stop = |_: &anyhow::Error| next.store(items.len(), Ordering::Relaxed);
    let run = || -> anyhow::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = work(&runtime, item).inspect_err(stop)?;
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            on_done(&done).inspect_err(stop)?;
            all.push(done);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..number.max(1)).map(|_| scope.spawn(run)).collect();
        for thread in threads {
            match thread.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        anyhow::Ok(())
    })?;
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}
