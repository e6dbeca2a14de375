//! Throttling of work that uses the processor for long.
//!
//! A guest may compute until its time limit. The operating system shares the cores evenly, so all
//! other requests would take half as long again, or twice as long. Therefore work that has computed
//! for longer than nearly all requests need is paused between its polls while others have work.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Context;
use std::time::{Duration, Instant};

use tokio::time::Sleep;

/// Computing time before throttling begins. Reading, counting and an honest strategy need less.
const UNTHROTTLED_TIME: Duration = Duration::from_millis(30);

/// Length of a pause, in multiples of the poll before it. This leaves a fifth of a core to the work.
const PAUSE_FACTOR: u32 = 4;

/// The longest pause. Work that checks the clock between two polls is late by no more than this.
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// Runs `work`, which yields now and then. Once it has computed for [`UNTHROTTLED_TIME`], pauses it
/// after each poll while `busy` returns true, that is, while other requests run or wait.
pub(crate) async fn throttled<T>(
    work: impl Future<Output = T>,
    busy: impl Fn() -> bool + Unpin,
) -> T {
    let mut work = pin!(work);
    let mut computed = Duration::ZERO;
    let mut pause: Option<Pin<Box<Sleep>>> = None;
    std::future::poll_fn(move |context: &mut Context<'_>| {
        if let Some(sleep) = &mut pause {
            std::task::ready!(sleep.as_mut().poll(context));
            pause = None;
        }
        let start = Instant::now();
        let done = work.as_mut().poll(context);
        let poll_time = start.elapsed();
        computed += poll_time;
        if done.is_pending() && computed > UNTHROTTLED_TIME && busy() {
            let length = (poll_time * PAUSE_FACTOR).min(MAX_PAUSE);
            let mut sleep = Box::pin(tokio::time::sleep(length));
            // The work may wake this future too; the pause then continues.
            if sleep.as_mut().poll(context).is_pending() {
                pause = Some(sleep);
            }
        }
        done
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    /// Computes in `polls` polls, each for at least `poll_time`.
    async fn compute(polls: u32, poll_time: Duration) {
        let mut left = polls;
        std::future::poll_fn(move |context| {
            let start = Instant::now();
            while start.elapsed() < poll_time {
                std::hint::spin_loop();
            }
            left -= 1;
            if left == 0 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Returns the time that the work was paused for. The test's clock advances in pauses only.
    async fn paused_for(polls: u32, poll_time: Duration, busy: bool) -> Duration {
        let start = tokio::time::Instant::now();
        throttled(compute(polls, poll_time), || busy).await;
        start.elapsed()
    }

    const POLL_TIME: Duration = Duration::from_millis(8);

    #[tokio::test(start_paused = true)]
    async fn long_work_is_paused_between_polls() {
        // At most three polls are free, and no pause follows the last one.
        assert!(paused_for(10, POLL_TIME, true).await >= 6 * MAX_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn work_without_others_is_not_paused() {
        assert_eq!(paused_for(10, POLL_TIME, false).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn short_work_is_not_paused() {
        assert_eq!(paused_for(1, UNTHROTTLED_TIME, true).await, Duration::ZERO);
    }
}
