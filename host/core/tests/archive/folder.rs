use std::fs;

use baler_generated::Kind;
use baler_host::{
    Archive, FileError, Host,
    archive::{ArchiveError, Contents, OpenError},
};

use crate::support::{DAY, age, assert_there, compacted, host_of, made, try_compact};

#[tokio::test]
async fn what_left_lies_under_its_reference_as_a_list_of_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    let (document, compaction) = compacted(&archive, 1).await;
    assert_there(&archive, &document, &compaction).await;
    let host = host_of(Kind::OpenAiChat, &archive);
    let before = host.read(document.as_str()).expect("reads");
    for unit in compaction.receipt().archive.iter().flatten() {
        let path = folder.path().join("entries").join(&unit.reference);
        let stored = fs::read_to_string(path.with_extension("json")).expect("is there");
        let raw: Vec<&str> = before.raw_messages(unit.unit).collect();
        assert_eq!(stored, format!("[{}]", raw.join(",")));
    }
}

#[tokio::test]
async fn a_host_with_a_state_folder_has_an_archive_unless_it_is_told_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = || Host::builder().state(folder.path());
    let host = with().build().expect("a host");
    let place = folder.path().join("archive");
    let own = host.archive().map(Archive::place);
    assert_eq!(own, place.to_str());
    assert!(Host::builder().build().expect("a host").archive().is_none());
    let without = with().without_archive().build().expect("a host");
    assert!(without.archive().is_none());
    let other = with().archive(Archive::in_memory()).build();
    let other = other
        .expect("a host")
        .archive()
        .map(Archive::place)
        .map(str::to_owned);
    assert_eq!(other.as_deref(), Some("memory:"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_others_can_write_into_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("is there").permissions().mode();
    let path = folder.path().join("open");
    fs::create_dir(&path).expect("a folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("set");
    let error = Archive::open(&path).expect_err("it is open to others");
    assert!(
        matches!(error, OpenError::Files(FileError::NotPrivate { .. })),
        "{error:?}"
    );
    // One that others may look into is not, but nobody sees what lies in it.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    Archive::open(&path).expect("an archive");
    for inner in ["entries", "undo"] {
        assert_eq!(mode(&path.join(inner)) & 0o777, 0o700);
    }
}

#[cfg(unix)]
#[test]
fn of_an_open_folder_with_other_files_it_is_told_that_it_is_no_archive() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let mode = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(folder.path(), mode).expect("set");
    fs::write(folder.path().join("somebody's"), "").expect("writes");
    for opened in [
        Archive::open(folder.path()),
        Archive::open_existing(folder.path()),
    ] {
        let error = opened.expect_err("it is no archive");
        let OpenError::NotAnArchive { .. } = &error else {
            panic!("{error:?}");
        };
        assert!(!error.to_string().contains("chmod"), "{error}");
    }
}

#[tokio::test]
async fn nothing_is_stored_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    compacted(&archive, 2).await;
    let once = archive.contents().await.expect("reads");
    age(folder.path(), DAY / 2);
    let before = written(folder.path());
    compacted(&archive, 2).await;
    assert_eq!(archive.contents().await, Ok(once));
    // But for the record, which is as old as the last compaction.
    for (one, other) in written(folder.path()).iter().zip(&before) {
        assert_eq!(one.0, other.0);
        let is_record = one.0.parent() == Some(folder.path().join("undo").as_path());
        assert_eq!(one.1 > other.1, is_record, "{}", one.0.display());
    }
    // A later compaction names what stayed, and stores what is new.
    let made = made(Kind::OpenAiChat, 2, 30);
    let bytes = made.document().len() as u64;
    assert!(
        once.bytes < bytes + bytes / 4 + 4_000,
        "{once:?} of {bytes}"
    );
}

/// When each file was written.
fn written(folder: &std::path::Path) -> Vec<(std::path::PathBuf, std::time::SystemTime)> {
    let mut all: Vec<_> = ["entries", "undo"]
        .into_iter()
        .flat_map(|inner| fs::read_dir(folder.join(inner)).expect("a folder"))
        .map(|entry| {
            let entry = entry.expect("an entry");
            let time = entry.metadata().expect("is there").modified();
            (entry.path(), time.expect("has a time"))
        })
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn what_is_damaged_is_told_and_written_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    let (document, compaction) = compacted(&archive, 3).await;
    for (path, _) in written(folder.path()) {
        let half = fs::read(&path).expect("reads").len() / 2;
        let file = fs::File::options().write(true).open(&path).expect("opens");
        file.set_len(half as u64).expect("is cut");
    }
    let receipt = compaction.receipt();
    let undo = receipt.undo.as_deref().expect("an archive");
    let damaged = |error: &ArchiveError| matches!(error, ArchiveError::Damaged { .. });
    assert!(archive.undo(undo).await.is_err_and(|error| damaged(&error)));
    let left = &receipt.archive.as_ref().expect("an archive")[0].reference;
    assert!(archive.get(left).await.is_err_and(|error| damaged(&error)));
    let (_, again) = compacted(&archive, 3).await;
    assert_there(&archive, &document, &again).await;
}

#[tokio::test]
async fn what_is_no_reference_or_not_there_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    for wrong in [
        "",
        "abc",
        "../../../../etc/passwd",
        "zz2a90c41be07d5512aa",
        "é3f2a90c41be07d5512",
    ] {
        let error = archive.get(wrong).await.expect_err("it is none");
        assert!(matches!(error, ArchiveError::NoReference { .. }), "{error}");
    }
    let reference = "3f2a90c41be07d5512aa".to_owned();
    let place = folder.path().display().to_string();
    let missing = ArchiveError::Missing {
        reference: reference.clone(),
        place,
    };
    assert_eq!(archive.get(&reference).await, Err(missing.clone()));
    assert_eq!(archive.undo(&reference).await, Err(missing));
}

#[tokio::test]
async fn places_that_can_be_none_are_told_so() {
    let none: [(&str, &str); 0] = [];
    for wrong in [
        "",
        "ftp://somewhere/else",
        "file://here",
        "s3:bucket",
        "https://example.com/x",
        "s3://bales/x?y=1",
        "s3://bales/x#y",
        "gs://bales?y=1",
        "az://bales/#y",
    ] {
        let error = Archive::at(wrong, none).expect_err("it is no place");
        let OpenError::NoPlace { .. } = &error else {
            panic!("{error:?}");
        };
    }
    let error = Archive::at(
        "s3://user:secret@bucket/x?token=secret",
        [("timeout", "soon")],
    );
    let error = error.expect_err("no time").to_string();
    assert!(
        error.contains("`timeout`") && !error.contains("secret"),
        "{error}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("file://{}", folder.path().display());
    compacted(&Archive::at(&url, none).expect("an archive"), 4).await;
}

#[tokio::test]
async fn many_writers_at_once_end_with_one_whole_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    // Threads with a runtime each, as programs have.
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let path = folder.path().to_owned();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(async {
                    let archive = Archive::open(&path).expect("an archive");
                    // Half of them write the same as another one.
                    compacted(&archive, 10 + writer / 2).await
                })
            })
        })
        .collect();
    let archive = Archive::open(folder.path()).expect("an archive");
    for writer in writers {
        let (document, compaction) = writer.join().expect("it ends");
        assert_there(&archive, &document, &compaction).await;
    }
    assert_eq!(archive.contents().await.expect("reads").compactions, 4);
}

#[tokio::test]
async fn what_is_old_is_cleared_and_what_a_younger_compaction_names_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    let host = host_of(Kind::OpenAiChat, &archive);
    let (old, first) = compacted(&archive, 5).await;
    compacted(&archive, 6).await;
    age(folder.path(), DAY * 40);
    // The first one goes on: it names what stayed once more.
    let mut goes_on = first.conversation().clone();
    for message in &made(Kind::OpenAiChat, 7, 12).messages {
        goes_on.append(message).expect("is a message");
    }
    let before = goes_on.document().to_owned();
    let second = try_compact(&host, &goes_on.repaired(), 0.2)
        .await
        .expect("is stored");
    assert!(second.is_compacted());

    let all = archive.contents().await.expect("reads");
    let would = archive.old(DAY * 30).await.expect("reads");
    assert_eq!(
        archive.contents().await.as_ref(),
        Ok(&all),
        "only looked at"
    );
    let cleared = archive.clear(DAY * 30).await.expect("clears");
    assert_eq!(cleared, would);
    assert_eq!(cleared.compactions, 2);
    let left = archive.contents().await.expect("reads");
    assert_eq!(left.entries, all.entries - cleared.entries);
    assert_eq!(left.bytes, all.bytes - cleared.bytes);

    assert_there(&archive, &before, &second).await;
    let undo = first.receipt().undo.as_deref().expect("an archive");
    let error = archive.undo(undo).await.expect_err("it was cleared");
    assert!(
        matches!(error, ArchiveError::Missing { .. }),
        "{error} {}",
        old.len()
    );
    assert_eq!(archive.clear(DAY * 30).await, Ok(Contents::default()));
}

/// An entry may be a day older than what names it, and as much more as the compaction took, and is
/// kept for so long.
#[tokio::test]
async fn an_entry_outlives_every_record_that_names_it() {
    let minute = DAY / 24 / 60;
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    compacted(&archive, 8).await;
    age(&folder.path().join("entries"), DAY - minute);
    let (document, again) = compacted(&archive, 8).await;
    // The record came half an hour after the look at the entries.
    age(&folder.path().join("undo"), DAY * 30 - minute);
    age(&folder.path().join("entries"), DAY * 31 + minute * 30);
    archive.clear(DAY * 30).await.expect("clears");
    assert_there(&archive, &document, &again).await;
    age(&folder.path().join("undo"), DAY * 30);
    age(&folder.path().join("entries"), DAY * 31 + minute * 60);
    archive.clear(DAY * 30).await.expect("clears");
    assert_eq!(archive.contents().await, Ok(Contents::default()));
}

/// The same document has the same record, which is as old as its last compaction.
#[tokio::test]
async fn a_compaction_made_just_now_can_be_undone_though_the_same_was_made_the_day_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    compacted(&archive, 8).await;
    age(folder.path(), DAY / 24 * 13);
    let (document, again) = compacted(&archive, 8).await;
    let cleared = archive.clear(DAY / 2).await;
    assert_eq!(cleared, Ok(Contents::default()));
    assert_there(&archive, &document, &again).await;
}
