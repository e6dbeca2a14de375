use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baler_host::{Archive, archive::Contents};

use crate::support::{DAY, age, assert_there, compacted};

/// What a run leaves that is killed while it writes.
fn leave(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, "[{\"role\":\"user\",\"content\":\"hal").expect("a file");
    path
}

const STAGED: &str = "staging/aZ09aZ09aZ09aZ09.part";

#[tokio::test]
async fn what_a_killed_run_left_is_counted_and_cleared() {
    let folder = tempfile::tempdir().expect("a folder");
    compacted(&Archive::open(folder.path()).expect("an archive"), 1).await;
    let archive = Archive::open_existing(folder.path()).expect("an archive");
    let before = archive.contents().await.expect("reads");
    let path = leave(folder.path(), STAGED);
    let mut left = Contents::default();
    left.unfinished = 1;
    left.bytes = fs::metadata(&path).expect("is there").len();

    let archive = Archive::open_existing(folder.path()).expect("an archive");
    let mut with = before;
    with.unfinished = 1;
    with.bytes += left.bytes;
    assert_eq!(archive.contents().await, Ok(with));
    assert_eq!(archive.old(DAY).await, Ok(left));
    assert!(path.exists(), "only looked at");
    assert_eq!(archive.clear(DAY).await, Ok(left));
    assert!(!path.exists());
    assert_eq!(archive.contents().await, Ok(before));

    leave(folder.path(), STAGED);
    let archive = Archive::open(folder.path()).expect("an archive");
    assert!(!path.exists(), "opening clears it too");
    assert_eq!(archive.contents().await, Ok(before));
}

#[tokio::test]
async fn what_is_still_being_written_is_not_cleared() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    let path = leave(folder.path(), STAGED);
    // However old it is.
    age(folder.path(), DAY * 30);
    let writer = File::open(&path).expect("opens");
    writer.lock().expect("is locked");
    Archive::open(folder.path()).expect("an archive");
    assert_eq!(archive.old(DAY).await, Ok(Contents::default()));
    assert_eq!(archive.clear(DAY).await, Ok(Contents::default()));
    assert!(path.exists());
    drop(writer);
    assert_eq!(
        archive.clear(DAY).await.map(|cleared| cleared.unfinished),
        Ok(1)
    );
    assert!(!path.exists());
}

/// An earlier baler had them among the entries, and locked none.
#[tokio::test]
async fn what_a_killed_run_of_an_earlier_baler_left_is_cleared_after_an_hour() {
    let folder = tempfile::tempdir().expect("a folder");
    Archive::open(folder.path()).expect("an archive");
    let path = leave(folder.path(), "entries/0123456789abcdef0123.json#1");
    fs::remove_file(folder.path().join("baler-archive")).expect("removes it");
    let archive = Archive::open(folder.path()).expect("an archive");
    let unfinished = |contents: Contents| contents.unfinished;
    assert_eq!(archive.contents().await.map(unfinished), Ok(1));
    assert_eq!(archive.clear(Duration::ZERO).await.map(unfinished), Ok(0));
    age(
        &folder.path().join("entries"),
        Duration::from_secs(2 * 60 * 60),
    );
    assert_eq!(archive.clear(DAY).await.map(unfinished), Ok(1));
    assert!(!path.exists());
}

/// Every one of them clears what seems to be left over.
#[tokio::test]
async fn opening_an_archive_never_disturbs_who_writes_into_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let is_done = AtomicBool::new(false);
    let written: Vec<_> = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    Archive::open(path).expect("an archive");
                }
            });
        }
        let writers: Vec<_> = (0..4)
            .map(|seed| {
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_multi_thread()
                        .worker_threads(2)
                        .enable_all()
                        .build()
                        .expect("a runtime");
                    let archive = Archive::open(path).expect("an archive");
                    runtime.block_on(compacted(&archive, 10 + seed))
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        // Whatever came of them, or nobody would ever end.
        is_done.store(true, Ordering::Relaxed);
        written
    });
    let archive = Archive::open(path).expect("an archive");
    for written in written {
        let (document, compaction) = written.expect("it can be stored");
        assert_there(&archive, &document, &compaction).await;
    }
    assert_eq!(archive.contents().await.map(|all| all.unfinished), Ok(0));
}
