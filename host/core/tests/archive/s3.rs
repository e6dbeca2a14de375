use std::collections::HashMap;
use std::time::{Duration, Instant};

use baler_generated::Kind;
use baler_host::{
    Archive, HostError,
    archive::{ArchiveError, Contents},
};

use crate::s3_server::{BUCKET, S3Server, Trouble};
use crate::support::{DAY, assert_there, compacted, host_of, made, try_compact};

fn archive_on(server: &S3Server) -> Archive {
    archive_with(server, &[])
}

fn archive_with(server: &S3Server, more: &[(&'static str, &str)]) -> Archive {
    let more = more.iter().map(|(key, value)| (*key, (*value).to_owned()));
    let options = server.options().into_iter().chain(more);
    Archive::at(&format!("s3://{BUCKET}/teams/one"), options).expect("an archive")
}

/// A compaction that cannot be stored: nothing has left, and the error says why.
async fn refused(archive: &Archive) -> String {
    let host = host_of(Kind::OpenAiChat, archive);
    let document = made(Kind::OpenAiChat, 1, 30).document();
    let conversation = host.read(document.as_str()).expect("reads");
    let error = try_compact(&host, &conversation, 0.3).await;
    let error = error.expect_err("it cannot be stored");
    assert_eq!(conversation.document(), document);
    let HostError::Archive(ArchiveError::Store { place, what, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(place, "s3://bales/teams/one");
    what
}

#[tokio::test]
async fn what_left_is_stored_signed_and_can_be_had_back_and_cleared() {
    let server = S3Server::start();
    let archive = archive_on(&server);
    let (document, compaction) = compacted(&archive, 1).await;
    assert_there(&archive, &document, &compaction).await;
    let keys = server.keys();
    let contents = archive.contents().await.expect("reads");
    assert_eq!(contents.entries + contents.compactions, keys.len() as u64);
    assert!(keys.len() > 14, "more than two pages: {}", keys.len());
    for key in &keys {
        let below = key.strip_prefix("teams/one/").expect("below the prefix");
        assert!(
            below.starts_with("entries/") || below.starts_with("undo/"),
            "{key}"
        );
    }
    assert_eq!(archive.clear(DAY).await, Ok(Contents::default()));
    server.age(DAY * 3);
    assert_eq!(archive.old(DAY).await, Ok(contents));
    assert_eq!(archive.clear(DAY).await, Ok(contents));
    assert_eq!(server.keys(), [] as [&str; 0]);
    let undo = compaction.receipt().undo.as_deref().expect("an archive");
    let error = archive.undo(undo).await.expect_err("it was cleared");
    assert!(matches!(error, ArchiveError::Missing { .. }), "{error}");
}

/// No condition goes with a removal, so it can meet what was written since it was sent.
#[tokio::test]
async fn what_is_stored_while_it_is_cleared_stays() {
    // Before who stores looks again, and after that.
    for time in [Duration::from_millis(500), Duration::from_secs(4)] {
        // The record, and then the entries.
        for part in ["/undo/", "/entries/"] {
            let server = S3Server::start();
            let archive = archive_on(&server);
            compacted(&archive, 1).await;
            server.age(DAY * 3);
            server.removals_take(time);
            let stores = async {
                let is_removed =
                    |(method, key): &(String, String)| method == "DELETE" && key.contains(part);
                while !server.requests().iter().any(is_removed) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                compacted(&archive, 1).await
            };
            let (cleared, (document, compaction)) =
                futures_util::future::join(archive.clear(DAY), stores).await;
            cleared.expect("clears");
            assert_there(&archive, &document, &compaction).await;
        }
    }
}

#[tokio::test]
async fn what_was_written_again_since_it_was_listed_is_not_removed() {
    let server = S3Server::start();
    let archive = archive_on(&server);
    compacted(&archive, 1).await;
    server.age(DAY * 3);
    server.removals_take(Duration::from_millis(500));
    let removals = || {
        let requests = server.requests();
        let removals = requests.iter().filter(|(method, _)| method == "DELETE");
        removals.count()
    };
    let stores = async {
        while removals() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // All were listed by now, and the record is about to go.
        server.renew();
    };
    let (cleared, ()) = futures_util::future::join(archive.clear(DAY), stores).await;
    cleared.expect("clears");
    assert_eq!(removals(), 1, "the record alone");
}

#[tokio::test]
async fn no_entry_is_sent_twice() {
    let server = S3Server::start();
    let archive = archive_on(&server);
    compacted(&archive, 1).await;
    compacted(&archive, 1).await;
    compacted(&archive_on(&server), 1).await;
    let mut sent: HashMap<String, usize> = HashMap::new();
    for (method, key) in server.requests() {
        if method == "PUT" {
            *sent.entry(key).or_default() += 1;
        }
    }
    assert_eq!(sent.len(), server.keys().len());
    // The record is as old as the last compaction.
    for (key, times) in sent {
        let expected = if key.contains("/undo/") { 3 } else { 1 };
        assert_eq!(times, expected, "{key}");
    }
}

/// Who clears what is younger than an hour does so where nobody stores.
#[tokio::test]
async fn a_record_that_is_written_again_is_looked_at_once_more_unless_it_was_young() {
    let server = S3Server::start();
    let archive = archive_on(&server);
    compacted(&archive, 1).await;
    for (hours, last) in [(0, "PUT"), (2, "GET")] {
        server.age(DAY / 24 * hours);
        compacted(&archive, 1).await;
        let requests = server.requests();
        let (method, key) = requests.last().expect("a request");
        assert!(key.contains("/undo/"), "{key}");
        assert_eq!(method, last, "after {hours} hours");
    }
}

#[tokio::test]
async fn who_has_another_secret_stores_nothing() {
    let server = S3Server::start();
    let archive = archive_with(&server, &[("aws_secret_access_key", "another")]);
    let what = refused(&archive).await;
    assert!(what.contains("403"), "{what}");
    assert_eq!(server.keys(), [] as [&str; 0]);
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let server = S3Server::start();
    server.troubles([
        Trouble::Status(500),
        Trouble::Closed,
        Trouble::Status(503),
        Trouble::CutShort,
        Trouble::Slow(Duration::from_millis(300)),
        Trouble::Closed,
        Trouble::Status(500),
    ]);
    let archive = archive_on(&server);
    let (document, compaction) = compacted(&archive, 1).await;
    assert_there(&archive, &document, &compaction).await;
}

#[tokio::test]
async fn what_does_not_pass_means_no_compaction_within_a_bounded_time() {
    let server = S3Server::start();
    for (trouble, expected) in [
        (Trouble::Status(500), "500"),
        (Trouble::Status(507), "507"),
        (Trouble::Closed, ""),
        (Trouble::Slow(Duration::from_secs(5)), "timed out"),
    ] {
        server.always(Some(trouble));
        let begin = Instant::now();
        let archive = archive_with(&server, &[("timeout", "300ms")]);
        let what = refused(&archive).await;
        assert!(what.contains(expected), "{trouble:?}: {what}");
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(30), "{trouble:?}: {took:?}");
        server.always(None);
    }
    // Some entries may have got there. The same archive goes on where the server does.
    let archive = archive_on(&server);
    let (document, compaction) = compacted(&archive, 1).await;
    assert_there(&archive, &document, &compaction).await;
}

#[tokio::test]
async fn a_server_that_fails_half_way_means_no_compaction() {
    let server = S3Server::start();
    let archive = archive_on(&server);
    // Every entry is looked for before it is written, so this is in the middle of writing.
    server.troubles(std::iter::repeat_n(Trouble::Slow(Duration::ZERO), 20));
    server.always(Some(Trouble::Status(400)));
    let what = refused(&archive).await;
    assert!(what.contains("400"), "{what}");
    assert!(!server.keys().iter().any(|key| key.contains("undo")));
}

#[tokio::test]
async fn plain_http_goes_nowhere_but_to_this_machine() {
    let options = [
        ("aws_endpoint", "http://192.0.2.1:9"),
        ("aws_access_key_id", "k"),
        ("aws_secret_access_key", "s"),
    ];
    let archive = Archive::at("s3://bales/teams/one", options).expect("an archive");
    let begin = Instant::now();
    let what = refused(&archive).await;
    assert!(what.contains("AWS_ALLOW_HTTP"), "{what}");
    assert!(begin.elapsed() < Duration::from_secs(2));
}
