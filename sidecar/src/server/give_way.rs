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
