//! The threads of commands that serve many requests at once.

use std::time::Duration;

use anyhow::Context as _;

use crate::arenas;
use crate::exit::Failure;

/// How long threads may go on when the work has ended. What still runs then has had its grace period.
pub(crate) const END_TIME: Duration = Duration::from_secs(1);

/// Runs `work` on a thread for each core, with at most `blocking` threads for what blocks. They start when they are needed.
/// `whose`: what errors call the work.
pub(crate) fn run<T>(
    work: impl Future<Output = Result<T, Failure>>,
    blocking: usize,
    whose: &str,
) -> Result<T, Failure> {
    arenas::one_for_each_core();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(blocking)
        .build()
        .with_context(|| format!("cannot start the {whose}'s threads"))?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(END_TIME);
    done
}
