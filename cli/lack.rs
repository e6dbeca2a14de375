//! Descriptors, of which a program has only so many (`ulimit -n`), and the system too. That there are
//! too few is nobody's fault who named a file.

use std::io;

/// Makes sure that a run has the descriptors with which it begins. Where there are too few for its
/// runtime, that ends the program in a panic.
///
/// # Errors
/// There are too few.
#[cfg(unix)]
pub(crate) fn check_descriptors() -> anyhow::Result<()> {
    use std::fs::File;

    use anyhow::Context as _;

    /// More than the runtime takes.
    const LEAST: usize = 8;

    let opened: io::Result<Vec<File>> = (0..LEAST).map(|_| File::open("/dev/null")).collect();
    match opened {
        Err(error) if is_of_descriptors(&error) => Err(error).context(
            "cannot open the files that every run needs; raise the limit of open files (`ulimit -n`)",
        ),
        // Where that device is missing nobody can tell.
        _ => Ok(()),
    }
}

/// There is no such limit to run into.
#[cfg(not(unix))]
pub(crate) fn check_descriptors() -> anyhow::Result<()> {
    Ok(())
}

/// Whether something failed since there was no descriptor left.
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
    fn whoever_named_a_file_is_not_to_blame_for_a_lack_of_descriptors() {
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
