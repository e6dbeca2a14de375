//! Turns of runs that put files in their places: of two with the same files, one after the other.

#[cfg(unix)]
pub(crate) use unix::take;

/// Elsewhere folders cannot be locked.
#[cfg(not(unix))]
pub(crate) fn take<'a>(_: impl Iterator<Item = &'a std::path::Path>) -> Vec<std::fs::File> {
    Vec::new()
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, TryLockError};
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::files;

    /// How long a run waits. Its turn takes milliseconds, so who has a folder locked for longer is
    /// another program.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// How often it looks.
    const PAUSE: Duration = Duration::from_millis(5);

    /// Waits until no other run puts files into these folders, and keeps others from it until the
    /// result is dropped: of two that write the same receipt and output, both are the later one's.
    /// Goes on without a folder that cannot be locked.
    pub(crate) fn take<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<File> {
        let open = |folder: &Path| {
            let folder = File::open(folder).ok()?;
            let id = files::id(&folder.metadata().ok()?);
            Some((id, folder))
        };
        let mut folders: Vec<((u64, u64), File)> = folders.filter_map(open).collect();
        // In the same order by all, so that no two wait for each other; and each once, as no run
        // gets what it has locked itself.
        folders.sort_by_key(|(id, _)| *id);
        folders.dedup_by_key(|(id, _)| *id);
        let end = Instant::now() + PATIENCE;
        let folders = folders.into_iter().map(|(_, folder)| folder);
        folders.filter(|folder| is_locked(folder, end)).collect()
    }

    fn is_locked(folder: &File, end: Instant) -> bool {
        loop {
            match folder.try_lock() {
                Ok(()) => return true,
                Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
                Err(_) => return false,
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use std::sync::mpsc;

        use super::*;

        #[test]
        fn one_run_at_a_time_has_its_turn_in_a_folder() {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_owned();
            // A folder that is named twice is taken once; one that is not there, not at all.
            let gone = path.join("gone");
            let first = take([path.as_path(), &path.join("."), &gone].into_iter());
            assert_eq!(first.len(), 1);
            let (told, answer) = mpsc::channel();
            thread::spawn(move || {
                let second = take([path.as_path()].into_iter());
                told.send(second.len())
            });
            let early = answer.recv_timeout(Duration::from_millis(100));
            assert!(early.is_err(), "it did not wait");
            drop(first);
            let taken = answer.recv_timeout(Duration::from_secs(60));
            assert_eq!(taken, Ok(1));
        }
    }
}
