//! Running out of file descriptors and of address space. The process and the system limit them (`ulimit -n`,
//! `ulimit -v`), so a failure for lack of them is not the fault of whoever named the file.

use std::io;

/// Address space that a run needs besides the program itself: vocabularies of tokenizers, threads, and a conversation
/// of ordinary size. An allocator may reserve 64 MiB for each thread.
const LEAST_MEMORY: usize = 512 << 20;

/// Checks that the process can reserve that. With less, an allocation somewhere fails, and Rust aborts.
///
/// # Errors
/// Too little is left.
pub(crate) fn check_memory() -> anyhow::Result<()> {
    let mut reserved: Vec<u8> = Vec::new();
    let is_there = reserved.try_reserve_exact(LEAST_MEMORY).is_ok();
    // An allocation that nobody looks at may be left out, and taken for successful.
    std::hint::black_box(&reserved);
    if is_there {
        return Ok(());
    }
    Err(anyhow::anyhow!(
        "cannot reserve the {} MiB of address space that every run needs; raise its limit (`ulimit -v`, or `LimitAS=` of a service)",
        LEAST_MEMORY >> 20
    ))
}

/// Checks that the process can open the descriptors that the runtime needs. With too few, tokio panics.
///
/// # Errors
/// Too few descriptors are left.
#[cfg(unix)]
pub(crate) fn check_descriptors() -> anyhow::Result<()> {
    use std::fs::File;

    use anyhow::Context as _;

    /// More than the runtime needs.
    const LEAST: usize = 8;

    let opened: io::Result<Vec<File>> = (0..LEAST).map(|_| File::open("/dev/null")).collect();
    match opened {
        Err(error) if is_of_descriptors(&error) => Err(error).context(
            "cannot open the files that every run needs; raise the limit of open files (`ulimit -n`)",
        ),
        // Without `/dev/null` there is no way to check.
        _ => Ok(()),
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn check_descriptors() -> anyhow::Result<()> {
    Ok(())
}

/// Whether an error was caused by a lack of descriptors.
pub(crate) fn is_cause_of(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(is_of_descriptors)
    })
}

#[cfg(unix)]
fn is_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE)
    )
}

#[cfg(not(unix))]
fn is_of_descriptors(_: &io::Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use anyhow::Context as _;
    use rustix::io::Errno;

    use super::*;
    use crate::exit::{Exit, Failure};

    #[test]
    fn a_lack_of_descriptors_is_a_failure_of_baler() {
        for (errno, is_lack) in [
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::NOENT, false),
        ] {
            let error = || {
                let failed: io::Result<()> =
                    Err(io::Error::from_raw_os_error(errno.raw_os_error()));
                failed.context("cannot read `a`").expect_err("it failed")
            };
            let exit = |else_exit| if is_lack { Exit::HostFailed } else { else_exit };
            assert_eq!(is_cause_of(&error()), is_lack, "{errno}");
            assert_eq!(
                Failure::wrong_input(error()).exit,
                exit(Exit::WrongInput),
                "{errno}"
            );
            assert_eq!(
                Failure::wrong_use(error()).exit,
                exit(Exit::WrongUse),
                "{errno}"
            );
        }
    }
}
