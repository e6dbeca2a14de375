//! Runs work on several threads.

/// Runs `work` on each of `number` threads, at least one, until all have ended.
///
/// # Errors
/// The error of the first thread, in their order, that failed.
pub(crate) fn run(
    number: usize,
    work: impl Fn() -> anyhow::Result<()> + Copy + Send,
) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..number.max(1)).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            match thread.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })
}
