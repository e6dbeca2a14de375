//! Work that computes for long gives way to the others.
//!
//! A guest may compute until its time is over, and the operating system would share the cores out
//! evenly: everybody beside it would take half as long again, or twice. So what has computed for
//! longer than nearly all of it takes rests between its turns, as long as others have work.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Context;
use std::time::{Duration, Instant};

use tokio::time::Sleep;

/// Computing that costs nobody anything: reading, counting and an honest strategy are done by then.
const FREE: Duration = Duration::from_millis(30);

/// How much longer than it computed it rests. A fifth of a core is left to it.
const REST: u32 = 4;

/// The longest rest: whoever looks at the clock between two turns must not be late by more.
const LONGEST_REST: Duration = Duration::from_millis(20);

/// Runs `work`, which gives control back now and then. Where it has computed for long and `busy`
/// says that others run or wait, it rests before it goes on.
pub(crate) async fn give_way<T>(
    work: impl Future<Output = T>,
    busy: impl Fn() -> bool + Unpin,
) -> T {
    let mut work = pin!(work);
    let mut computed = Duration::ZERO;
    let mut rest: Option<Pin<Box<Sleep>>> = None;
    std::future::poll_fn(move |context: &mut Context<'_>| {
        if let Some(resting) = &mut rest {
            std::task::ready!(resting.as_mut().poll(context));
            rest = None;
        }
        let start = Instant::now();
        let done = work.as_mut().poll(context);
        let turn = start.elapsed();
        computed += turn;
        if done.is_pending() && computed > FREE && busy() {
            let mut sleep = Box::pin(tokio::time::sleep((turn * REST).min(LONGEST_REST)));
            // It is woken by the work as well, and then goes on resting.
            if sleep.as_mut().poll(context).is_pending() {
                rest = Some(sleep);
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

    /// Computes for at least so long in each of so many turns.
    async fn compute(turns: u32, turn: Duration) {
        let mut left = turns;
        std::future::poll_fn(move |context| {
            let start = Instant::now();
            while start.elapsed() < turn {
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

    /// How long it rested: the paused clock goes on in rests alone.
    async fn rested(turns: u32, turn: Duration, busy: bool) -> Duration {
        let start = tokio::time::Instant::now();
        give_way(compute(turns, turn), || busy).await;
        start.elapsed()
    }

    const TURN: Duration = Duration::from_millis(8);

    #[tokio::test(start_paused = true)]
    async fn what_computes_for_long_rests_between_its_turns() {
        // Four turns are free at most; behind the last there is none.
        assert!(rested(10, TURN, true).await >= 6 * LONGEST_REST);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_alone_does_not_rest() {
        assert_eq!(rested(10, TURN, false).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_done_soon_does_not_rest() {
        assert_eq!(rested(1, FREE, true).await, Duration::ZERO);
    }
}
