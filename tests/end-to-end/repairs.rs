use baler_generated::broken_at;
use baler_host::{
    Archive, Budget, Conversation, Host, HostError, Receipt, Request, Strategy,
    archive::{ArchiveError, Retrieve},
    conversation::rules::MAX_LISTED,
    receipt::{Outcome, Unchanged},
};
use serde_json::Value;

use crate::support::{assert_good, broken_chat, half, host, host_with};

fn repaired(host: &Host, document: &str) -> Conversation {
    host.read(document).expect("reads").repaired()
}

fn places(receipt: &Receipt) -> Vec<(&str, usize)> {
    let repairs = receipt.repairs.iter();
    repairs.map(|own| (own.rule.id(), own.message)).collect()
}

fn wide() -> Request {
    Request::default().with_budget(Budget::Tokens(1_000_000))
}

#[tokio::test]
async fn a_repaired_conversation_is_compacted_and_the_receipt_names_each_repair() {
    let host = host();
    let (document, expected) = broken_chat();
    let conversation = repaired(host, &document);
    for strategy in [Strategy::digest(), Strategy::truncate()] {
        let compaction = host
            .compact(&conversation, &[strategy], &half())
            .await
            .expect("no archive that could fail");
        let receipt = compaction.receipt();
        assert_eq!(receipt.outcome, Outcome::Compacted);
        assert_good(&conversation, &compaction, host);
        assert_eq!(places(receipt), expected);
        assert!(receipt.violations.is_empty());
        let originals: Vec<usize> = receipt.originals.iter().map(|own| own.message).collect();
        assert_eq!(originals, expected.map(|(_, message)| message));
        let text = serde_json::to_string(receipt).expect("JSON");
        assert!(!text.contains("stray"), "{text}");
    }
}

#[tokio::test]
async fn conversation_within_its_budget_comes_back_repaired_which_is_reported_once() {
    let host = host();
    let (document, expected) = broken_chat();
    let conversation = repaired(host, &document);
    let compaction = host
        .compact(&conversation, &[], &wide())
        .await
        .expect("no archive that could fail");
    let receipt = compaction.receipt();
    assert_eq!(receipt.outcome, Outcome::Repaired(Unchanged::WithinBudget));
    assert_eq!(places(receipt), expected);
    assert_eq!(compaction.document(), conversation.document());
    assert!(!compaction.is_compacted());
    let again = host
        .compact(compaction.conversation(), &[], &wide())
        .await
        .expect("no archive that could fail");
    let receipt = again.receipt();
    assert_eq!(receipt.outcome, Outcome::Unchanged(Unchanged::WithinBudget));
    assert_eq!(places(receipt), []);
    assert!(receipt.originals.is_empty());
}

#[tokio::test]
async fn what_a_repair_changed_or_left_out_is_in_the_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("archive");
    let archive = Archive::open(&path).expect("an archive");
    let host = host_with(|builder| builder.archive(archive.clone()));
    let (document, expected) = broken_chat();
    let before: Value = serde_json::from_str(&document).expect("JSON");
    let conversation = repaired(&host, &document);
    for request in [half(), wide()] {
        let compaction = host
            .compact(&conversation, &[], &request)
            .await
            .expect("it can be stored");
        let originals = &compaction.receipt().originals;
        assert_eq!(originals.len(), expected.len());
        for original in originals {
            let reference = original.reference.as_ref().expect("an archive");
            let stored = archive.get(reference).await.expect("is there");
            let message = &before["messages"][original.message - 1];
            assert_eq!(stored, format!("[{message}]"));
        }
    }
    std::fs::remove_dir_all(&path).expect("removes it");
    std::fs::write(&path, "in the way").expect("writes");
    let error = host.compact(&conversation, &[], &wide()).await;
    let Err(HostError::Archive(ArchiveError::Store { .. })) = &error else {
        panic!("{error:?}");
    };
}

#[tokio::test]
async fn of_many_repairs_the_first_are_listed_and_nothing_is_lost() {
    const MANY: usize = 2_500;
    let archive = Archive::in_memory();
    let kept = host_with(|builder| builder.archive(archive.clone()));
    let document = broken_at(MANY);
    for (host, is_kept) in [(&kept, true), (host(), false)] {
        let conversation = repaired(host, &document);
        let compaction = host
            .compact(&conversation, &[], &wide())
            .await
            .expect("it can be stored");
        let receipt = compaction.receipt();
        assert_eq!(receipt.outcome, Outcome::Repaired(Unchanged::WithinBudget));
        let first = 2..2 + MAX_LISTED;
        assert!(
            receipt
                .repairs
                .iter()
                .map(|own| own.message)
                .eq(first.clone())
        );
        assert!(receipt.originals.iter().map(|own| own.message).eq(first));
        assert_eq!(receipt.repair_counts.total, MANY);
        assert_eq!(receipt.original_count, MANY);
        let mut originals = receipt.originals.iter();
        assert!(originals.all(|own| own.reference.is_some() == is_kept));
        assert_eq!(receipt.undo.is_some(), is_kept);
        if let Some(undo) = &receipt.undo {
            assert_eq!(archive.undo(undo).await.as_deref(), Ok(document.as_str()));
            let mut recall = Retrieve::new(archive.clone());
            recall.note(receipt);
            for asked in [
                r#"{"query": "submarine"}"#,
                r#"{"reference": "3f2a90c41be07d5512aa"}"#,
            ] {
                let answer = recall.answer(asked).await;
                assert!(
                    answer.contains("`baler undo` with that receipt"),
                    "{answer}"
                );
            }
        }
    }
}
