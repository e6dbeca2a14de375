use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baler_generated::Kind;
use baler_host::archive::object_store::memory::InMemory;
use baler_host::archive::object_store::path::Path as Key;
use baler_host::archive::object_store::{ObjectStore, ObjectStoreExt as _};
use baler_host::{
    Archive, HostError,
    archive::{ArchiveError, OpenError},
};

use crate::support::{DAY, age, assert_there, compacted, host_of, try_compact};

/// Everything below a folder: of files the content, of links where they lead to.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let kind = fs::symlink_metadata(&path).expect("is there").file_type();
        let what = if kind.is_symlink() {
            format!(
                "link to {}",
                fs::read_link(&path).expect("a link").display()
            )
        } else if kind.is_dir() {
            all.extend(tree(&path));
            "folder".to_owned()
        } else {
            fs::read_to_string(&path).expect("reads")
        };
        all.insert(path, what);
    }
    all
}

fn write(path: impl AsRef<Path>, content: &str) {
    let folder = path.as_ref().parent().expect("below a folder");
    fs::create_dir_all(folder).expect("a folder");
    fs::write(path, content).expect("a file");
}

const REFERENCE: &str = "0123456789abcdef0123";

#[cfg(unix)]
fn link(to: &Path, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).expect("a link");
}

#[track_caller]
fn is_not_an_archive(result: Result<Archive, OpenError>, name: &str) {
    let Err(OpenError::NotAnArchive { .. }) = &result else {
        panic!("{name}: {result:?}");
    };
}

#[cfg(unix)]
#[tokio::test]
async fn archive_gc_leaves_foreign_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let precious = tempfile::tempdir().expect("a folder");
    write(precious.path().join("thesis.tex"), "p");
    write(precious.path().join(format!("{REFERENCE}.json")), "p");
    let archive = Archive::open(folder.path()).expect("an archive");
    let empty = tree(folder.path());
    compacted(&archive, 1).await;
    let own = archive.contents().await.expect("reads");

    let foreign = [
        "readme.txt".to_owned(),
        "entries/post.md".to_owned(),
        "entries/ABCDE6789ABCDEF01234.json".to_owned(),
        format!("entries/{REFERENCE}.json.bak"),
        format!("entries/2020/{REFERENCE}.json"),
        format!("undo/{REFERENCE}"),
        format!("undo/old/{REFERENCE}.json"),
        format!("staging/{REFERENCE}.json"),
        format!("{REFERENCE}.json"),
    ];
    for path in &foreign {
        write(folder.path().join(path), "foreign");
    }
    age(folder.path(), DAY * 900);
    age(precious.path(), DAY * 900);
    let entries = folder.path().join("entries");
    link(precious.path(), entries.join("link"));
    link(
        &precious.path().join("thesis.tex"),
        entries.join(format!("{REFERENCE}.json")),
    );
    let kept = tree(precious.path());

    let archive = Archive::open_existing(folder.path()).expect("an archive");
    assert_eq!(archive.contents().await, Ok(own));
    assert_eq!(archive.clear(DAY).await, Ok(own));
    let mut left = tree(folder.path());
    for path in empty.keys() {
        assert!(left.remove(path).is_some(), "{}", path.display());
    }
    let mut expected: Vec<PathBuf> = foreign
        .iter()
        .map(String::as_str)
        .chain(["entries/2020", "undo/old", "entries/link"])
        .map(|path| folder.path().join(path))
        .chain([entries.join(format!("{REFERENCE}.json"))])
        .collect();
    expected.sort();
    assert_eq!(left.into_keys().collect::<Vec<_>>(), expected);
    assert_eq!(tree(precious.path()), kept);
}

#[cfg(unix)]
#[tokio::test]
async fn folder_that_is_no_archive_is_refused_and_left_as_it_is() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    type Spoil = fn(&Path, &Path);
    let folders: [(&str, Spoil); 7] = [
        ("a blog", |folder, _| {
            write(folder.join("entries/post.md"), "hi");
            fs::create_dir(folder.join("undo")).expect("a folder");
        }),
        ("other files", |folder, _| {
            write(folder.join("notes.txt"), "hi");
        }),
        ("folders in it", |folder, _| {
            write(folder.join(format!("entries/2020/{REFERENCE}.json")), "[]");
        }),
        ("links in it", |folder, elsewhere| {
            write(folder.join(format!("entries/{REFERENCE}.json")), "[]");
            link(&elsewhere.join("thesis.tex"), folder.join("entries/link"));
        }),
        ("a link for a folder", |folder, elsewhere| {
            link(elsewhere, folder.join("entries"));
        }),
        ("a link for a folder of an archive", |folder, elsewhere| {
            write(folder.join("baler-archive"), "baler archive, version 1\n");
            link(elsewhere, folder.join("undo"));
        }),
        ("another mark", |folder, _| {
            write(folder.join("baler-archive"), "baler archive, version 2\n");
        }),
    ];
    for (name, make) in folders {
        let folder = tempfile::tempdir().expect("a folder");
        make(folder.path(), elsewhere.path());
        let before = tree(folder.path());
        is_not_an_archive(Archive::open_existing(folder.path()), name);
        is_not_an_archive(Archive::open(folder.path()), name);
        assert_eq!(tree(folder.path()), before, "{name}");
    }
    assert_eq!(tree(elsewhere.path()), BTreeMap::new());
}

#[tokio::test]
async fn open_existing_creates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let none: [(&str, &str); 0] = [];
    is_not_an_archive(Archive::open_existing(folder.path()), "empty");
    let nowhere = folder.path().join("nowhere");
    is_not_an_archive(Archive::open_existing(&nowhere), "not there");
    let url = format!("file://{}", nowhere.display());
    is_not_an_archive(Archive::existing_at(&url, none), &url);
    assert_eq!(tree(folder.path()), BTreeMap::new());

    let path = folder.path().join("archive");
    let (document, compaction) = compacted(&Archive::open(&path).expect("an archive"), 2).await;
    let before = tree(folder.path());
    let url = format!("file://{}", path.display());
    for archive in [
        Archive::open_existing(&path),
        Archive::existing_at(&url, none),
    ] {
        let archive = archive.expect("an archive");
        assert_there(&archive, &document, &compaction).await;
        archive.contents().await.expect("reads");
        archive.old(Duration::ZERO).await.expect("reads");
    }
    assert_eq!(tree(folder.path()), before);
}

#[tokio::test]
async fn archive_of_an_earlier_baler_is_read_as_it_is_and_marked_when_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    let (document, compaction) = compacted(&archive, 3).await;
    let mark = folder.path().join("baler-archive");
    fs::remove_file(&mark).expect("removes it");
    fs::remove_dir(folder.path().join("staging")).expect("removes it");
    let before = tree(folder.path());
    let archive = Archive::open_existing(folder.path()).expect("an archive");
    assert_there(&archive, &document, &compaction).await;
    assert_eq!(tree(folder.path()), before);
    let archive = Archive::open(folder.path()).expect("an archive");
    assert_there(&archive, &document, &compaction).await;
    assert!(mark.is_file());
}

#[tokio::test]
async fn store_with_other_objects_among_the_entries_is_not_cleared() {
    let store = Arc::new(InMemory::new());
    let archive = Archive::on(Arc::clone(&store) as Arc<dyn ObjectStore>, "a/b", "there");
    compacted(&archive, 4).await;
    let own = archive.contents().await.expect("reads");
    // Beside them it may lie.
    for path in ["a/b/readme", "a/bc/entries/post.md", "a/entries/post.md"] {
        let key = Key::from(path);
        store.put(&key, "foreign".into()).await.expect("is put");
    }
    assert_eq!(archive.contents().await, Ok(own));
    let old = archive.old(Duration::ZERO).await.expect("reads");
    assert_eq!((old.compactions, old.entries, old.unfinished), (1, 0, 0));
    for path in [
        "a/b/entries/post.md".to_owned(),
        format!("a/b/undo/x/{REFERENCE}.json"),
    ] {
        let key = Key::from(path);
        store.put(&key, "foreign".into()).await.expect("is put");
        // It counts for nothing, and tells that this may be no archive.
        assert_eq!(archive.contents().await, Ok(own));
        for refused in [
            archive.old(Duration::ZERO).await,
            archive.clear(Duration::ZERO).await,
        ] {
            let place = "there".to_owned();
            assert_eq!(refused, Err(ArchiveError::Foreign { place }));
        }
        store.delete(&key).await.expect("is removed");
    }
    assert_eq!(archive.clear(Duration::ZERO).await, Ok(old));
    for path in ["a/b/readme", "a/bc/entries/post.md", "a/entries/post.md"] {
        let key = Key::from(path);
        store.head(&key).await.expect("is there");
    }
}

/// What is under a reference may be anything: to open it may be to wait for ever, or to read what
/// has no end.
#[cfg(unix)]
#[tokio::test]
async fn entry_that_is_no_regular_file_is_told_and_neither_read_nor_replaced() {
    type Make = fn(&Path);
    let kinds: [(&str, Make); 4] = [
        ("a pipe", |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.expect("it runs").success());
        }),
        ("a link to a file", |path| {
            let target = path.with_extension("target");
            fs::copy(path, &target).expect("copies");
            fs::remove_file(path).expect("removes it");
            link(&target, path);
        }),
        ("a link to a device without an end", |path| {
            link(Path::new("/dev/zero"), path);
        }),
        ("a folder", |path| fs::create_dir(path).expect("a folder")),
    ];
    for (name, make) in kinds {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Archive::open(folder.path()).expect("an archive");
        let (document, compaction) = compacted(&archive, 5).await;
        let reference = &compaction.receipt().archive.as_ref().expect("an archive")[0].reference;
        let path = folder.path().join(format!("entries/{reference}.json"));
        if name != "a link to a file" {
            fs::remove_file(&path).expect("removes it");
        }
        make(&path);
        let kind = fs::symlink_metadata(&path).expect("is there").file_type();

        let host = host_of(Kind::OpenAiChat, &archive);
        let conversation = host.read(document.as_str()).expect("reads");
        let work = async {
            let got = archive.get(reference).await.expect_err("it is no entry");
            let stored = try_compact(&host, &conversation, 0.3).await;
            (got, stored.expect_err("nothing can be stored there"))
        };
        let Ok((got, stored)) = tokio::time::timeout(Duration::from_secs(60), work).await else {
            // Who waits for a writer would keep the test from ending.
            let _ = fs::File::options().read(true).write(true).open(&path);
            panic!("{name}: it waits for ever");
        };
        let HostError::Archive(stored) = stored else {
            panic!("{name}: {stored:?}");
        };
        for error in [got, stored] {
            let expected = format!("expected a regular file at `entries/{reference}.json`");
            assert!(error.to_string().contains(&expected), "{name}: {error}");
        }
        let after = fs::symlink_metadata(&path).expect("is there").file_type();
        assert_eq!(after, kind, "{name}");
    }
}

#[tokio::test]
async fn entry_larger_than_any_that_is_written_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    let path = folder.path().join(format!("entries/{REFERENCE}.json"));
    let file = fs::File::create(&path).expect("a file");
    // It takes no room on the disk.
    file.set_len(1 << 30).expect("is long");
    let error = archive.get(REFERENCE).await.expect_err("it is too large");
    assert!(
        error.to_string().contains("has more than 268435456 bytes"),
        "{error}"
    );
}
