use std::time::{Duration, SystemTime};

use baler_generated::{Choices, Generated, Kind, conversation};
use baler_host::{
    Archive, Budget, Compaction, Conversation, Format, Host, HostError, Request, Strategy,
    conversation::SecretKey,
};

pub(crate) fn host_of(kind: Kind, archive: &Archive) -> Host {
    Host::builder()
        .key(SecretKey::new([3; 32]))
        .format(
            kind.name()
                .parse::<Format>()
                .expect("the host knows the format"),
        )
        .archive(archive.clone())
        .build()
        .expect("a host without a state folder")
}

pub(crate) fn made(kind: Kind, seed: u64, messages: usize) -> Generated {
    conversation(kind, messages, &mut Choices::from_seed(seed))
}

pub(crate) async fn try_compact(
    host: &Host,
    conversation: &Conversation,
    share: f64,
) -> Result<Compaction, HostError> {
    let request = Request::default().with_budget(Budget::Share(share));
    host.compact(conversation, &[Strategy::truncate()], &request)
        .await
}

/// A document that was compacted with this archive, and its compaction.
pub(crate) async fn compacted(archive: &Archive, seed: u64) -> (String, Compaction) {
    let document = made(Kind::OpenAiChat, seed, 30).document();
    let host = host_of(Kind::OpenAiChat, archive);
    let conversation = host.read(document.as_str()).expect("reads");
    let compaction = try_compact(&host, &conversation, 0.3)
        .await
        .expect("it can be stored");
    assert!(compaction.is_compacted(), "{:?}", compaction.receipt());
    (document, compaction)
}

/// All that a compaction says can be had back is there.
pub(crate) async fn assert_there(archive: &Archive, document: &str, compaction: &Compaction) {
    let receipt = compaction.receipt();
    let undo = receipt.undo.as_ref().expect("there is an archive");
    assert_eq!(archive.undo(undo).await.as_deref(), Ok(document));
    let units = receipt.archive.as_ref().expect("there is an archive");
    assert!(!units.is_empty());
    for unit in units {
        archive.get(&unit.reference).await.expect("is there");
    }
}

/// Makes all files below `folder` this much older.
pub(crate) fn age(folder: &std::path::Path, by: Duration) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            age(&path, by);
        } else {
            let file = std::fs::File::options()
                .append(true)
                .open(path)
                .expect("opens");
            file.set_modified(SystemTime::now() - by).expect("is set");
        }
    }
}

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
