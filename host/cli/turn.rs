//! Locks of the folders that runs put files into, so that two runs with the same files take turns.

#[cfg(unix)]
pub(crate) use unix::take;

/// On other systems folders cannot be locked.
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

    /// How long a run waits for a lock. A run of baler holds it for milliseconds, so a longer lock belongs to
    /// another program.
    const MAX_WAIT: Duration = Duration::from_secs(5);

    /// The time between two attempts.
    const PAUSE: Duration = Duration::from_millis(5);

    /// Waits until no other run puts files into these folders, and locks the folders until the result is
    /// dropped. So if two runs write the same receipt and output, both files are of the later run. Continues
    /// without the lock of a folder that cannot be locked.
    pub(crate) fn take<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<File> {
        let open = |folder: &Path| {
            let folder = File::open(folder).ok()?;
            let id = files::id(&folder.metadata().ok()?);
            Some((id, folder))
        };
        let mut folders: Vec<((u64, u64), File)> = folders.filter_map(open).collect();
        // All runs use the same order, so that no two wait for each other. Each folder is locked once,
        // because a run would wait for its own lock.
        folders.sort_by_key(|(id, _)| *id);
        folders.dedup_by_key(|(id, _)| *id);
        let end = Instant::now() + MAX_WAIT;
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
        fn take_waits_while_another_run_has_the_lock() {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_owned();
            // A folder that is named twice is locked once; one that does not exist is skipped.
            let gone = path.join("gone");
            let first = take([path.as_path(), &path.join("."), &gone].into_iter());
            assert_eq!(first.len(), 1);
            let (sender, answer) = mpsc::channel();
            thread::spawn(move || {
                let second = take([path.as_path()].into_iter());
                sender.send(second.len())
            });
            let early = answer.recv_timeout(Duration::from_millis(100));
            assert!(early.is_err(), "the second run did not wait");
            drop(first);
            let taken = answer.recv_timeout(Duration::from_secs(60));
            assert_eq!(taken, Ok(1));
        }
    }
}
