use std::cell::Cell;

use baler_generated::Kind;
use baler_host::{
    Archive, Budget, HostError, Request, Strategy, archive::ArchiveError, receipt::Outcome,
};
use proptest::prelude::{Strategy as _, any};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::support::{assert_there, host_of, made, try_compact};

/// A conversation, and what is done with it: how many messages come before each compaction, and
/// how much of them should stay.
#[derive(Debug, Clone)]
struct Life {
    kind: Kind,
    seed: u64,
    chain: Vec<(usize, f64, bool)>,
}

fn lives() -> impl proptest::strategy::Strategy<Value = Life> {
    let link = (0..14usize, 0.02..0.9f64, any::<bool>());
    let chain = proptest::collection::vec(link, 1..7);
    (0..Kind::ALL.len(), any::<u64>(), chain).prop_map(|(kind, seed, chain)| Life {
        kind: Kind::ALL[kind],
        seed,
        chain,
    })
}

/// Lives it, and has every earlier document back. Gives the number of compactions, and of those
/// of them that began with a repair.
async fn live(life: &Life, archive: &Archive) -> (usize, usize) {
    let host = host_of(life.kind, archive);
    let made = made(life.kind, life.seed, 60);
    let mut coming = made.messages.iter();
    let first = life.chain[0].0.min(made.messages.len());
    let mut conversation = host.read(made.cut(first)).expect("reads");
    let _ = coming.by_ref().take(first).count();
    let mut done = Vec::new();
    let mut repaired = 0;
    for (messages, share, digest) in &life.chain {
        for message in coming.by_ref().take(*messages) {
            conversation.append(message).expect("is a message");
        }
        let before = conversation.document().to_owned();
        let strategy = if *digest {
            Strategy::digest()
        } else {
            Strategy::truncate()
        };
        let request = Request::default().with_budget(Budget::Share(*share));
        let compaction = host
            .compact(&conversation.repaired(), &[strategy], &request)
            .await
            .expect("it can be stored");
        conversation = compaction.conversation().clone();
        let receipt = compaction.receipt();
        let is_changed = !matches!(receipt.outcome, Outcome::Unchanged(_));
        assert_eq!(receipt.undo.is_some(), is_changed, "{:?}", receipt.outcome);
        repaired += usize::from(!receipt.repairs.is_empty());
        done.extend(receipt.undo.clone().map(|undo| (undo, before)));
    }
    for (undo, before) in done.iter().rev() {
        assert_eq!(archive.undo(undo).await.as_ref(), Ok(before));
    }
    (done.len(), repaired)
}

#[test]
fn after_any_chain_of_compactions_every_earlier_document_comes_back_byte_for_byte() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let archive = Archive::in_memory();
    let (undone, repaired) = (Cell::new(0), Cell::new(0));
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&lives(), |life| {
            let (more, more_repaired) = runtime.block_on(live(&life, &archive));
            undone.set(undone.get() + more);
            repaired.set(repaired.get() + more_repaired);
            Ok::<(), TestCaseError>(())
        })
        .expect("all come back");
    let (undone, repaired) = (undone.get(), repaired.get());
    // The property would hold as well where nothing is ever done. (About 1,000 and 25.)
    assert!(
        undone > 300 && repaired > 3,
        "{undone} undone, {repaired} repaired"
    );
}

#[tokio::test]
async fn from_a_folder_they_come_back_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(folder.path()).expect("an archive");
    for (seed, kind) in (0..).zip(Kind::ALL) {
        let chain = vec![
            (12, 0.4, true),
            (9, 0.3, false),
            (0, 0.2, true),
            (12, 0.5, true),
        ];
        let (undone, _) = live(&Life { kind, seed, chain }, &archive).await;
        assert!(undone > 1, "{}", kind.name());
    }
}

#[tokio::test]
async fn a_picture_that_was_left_out_comes_back() {
    let archive = Archive::in_memory();
    // The header of a PNG of 9,000 by 16 pixels, more than the provider takes.
    let data = "iVBORw0KGgoAAAANSUhEUgAAIygAAAAQCAIAAAAAAAAA";
    let document = format!(
        r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":[{{"type":"text","text":"測って"}},
        {{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}}]}}"#
    );
    let host = host_of(Kind::Anthropic, &archive);
    let conversation = host.read(document.as_str()).expect("reads");
    let request = Request::default().with_budget(Budget::Tokens(conversation.tokens()));
    let compaction = host
        .compact(&conversation, &[Strategy::truncate()], &request)
        .await
        .expect("it can be stored");
    assert!(!compaction.document().contains(data));
    assert_there(&archive, &document, &compaction).await;
}

#[tokio::test]
async fn odd_documents_come_back_too() {
    let archive = Archive::in_memory();
    let long = "word ".repeat(400);
    let says = |role: &str, text: &str| format!(r#"{{"role":"{role}", "content":"{text}"}}"#);
    let (user, model) = (says("user", &long), says("assistant", &long));
    let last = says("user", "Go on.");
    for document in [
        // The same messages over and over, and the first one's text in front of the list.
        format!(
            "{{\"model\":\"gpt-4o\",\"metadata\":{{\"m\":{user}}},\"messages\":[{user},{model},{user},{model},{last}]}}"
        ),
        // A byte order mark, odd spaces, what stands behind.
        format!(
            "\u{feff} {{ \"messages\" :\n[\n {user} ,\t{model}\r\n,{user},{model},{last} ] , \"tools\":[ ], \"n\":1.00 }} \n"
        ),
        // A bare list.
        format!("[{user},\n{model},  {user},{model},{last}]\n"),
    ] {
        let host = host_of(Kind::OpenAiChat, &archive);
        let conversation = host.read(document.as_str()).expect("reads");
        let request = Request::default().with_budget(Budget::Share(0.4));
        let compaction = host
            .compact(&conversation, &[Strategy::truncate()], &request)
            .await
            .expect("it can be stored");
        assert!(compaction.is_compacted(), "{:?}", compaction.receipt());
        let undo = compaction.receipt().undo.as_deref().expect("an archive");
        assert_eq!(archive.undo(undo).await, Ok(document));
    }
}

/// What could be stored but not read again would be lost.
#[tokio::test]
async fn a_document_with_too_much_around_its_messages_is_not_compacted() {
    let archive = Archive::in_memory();
    let made = made(Kind::OpenAiChat, 1, 30).document();
    let around = " ".repeat(33 << 20);
    let document = format!("{made}{around}");
    let host = host_of(Kind::OpenAiChat, &archive);
    let conversation = host.read(document).expect("reads");
    let error = try_compact(&host, &conversation, 0.3).await;
    let error = error.expect_err("it cannot be restored");
    let HostError::Archive(ArchiveError::Store { what, .. }) = error else {
        panic!("{error:?}");
    };
    assert!(what.contains("33554432 bytes"), "{what}");
    assert_eq!(archive.contents().await.expect("reads").entries, 0);
}

#[tokio::test]
async fn outputs_that_are_objects_are_compacted_once_repaired_and_come_back_as_they_were() {
    let archive = Archive::in_memory();
    let lines = "\"one line of the listing\", ".repeat(400);
    let object = format!("{{ \"exit\" :0, \"lines\":[ {lines}\"end\" ]}}");
    let chat = format!(
        r#"{{"messages":[{{"role":"user","content":"List it."}},{{"role":"assistant","tool_calls":[{{"id":"a","type":"function","function":{{"name":"list","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"a","content": {object} }},{{"role":"assistant","content":"Done."}},{{"role":"user","content":"Go on."}}]}}"#
    );
    let anthropic = format!(
        r#"{{"messages":[{{"role":"user","content":"List it."}},{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"list","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content": {object} }}]}},{{"role":"assistant","content":"Done."}},{{"role":"user","content":"Go on."}}]}}"#
    );
    for (kind, document) in [(Kind::OpenAiChat, chat), (Kind::Anthropic, anthropic)] {
        let host = host_of(kind, &archive);
        let conversation = host.read(document.as_str()).expect("reads");
        assert!(conversation.tokens() > 1_000, "the output is counted");
        let request = Request::default().with_budget(Budget::Share(0.3));
        let compaction = host
            .compact(&conversation.repaired(), &[Strategy::truncate()], &request)
            .await
            .expect("it can be stored");
        assert!(compaction.is_compacted(), "{:?}", compaction.receipt());
        let undo = compaction.receipt().undo.as_deref().expect("an archive");
        assert_eq!(archive.undo(undo).await, Ok(document));
    }
}
