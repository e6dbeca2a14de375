//! The host's own work ends at its deadline, and leaves everything as it was.

use std::cell::Cell;

use baler_host::{
    Budget, Request, Strategy,
    conversation::{Deadline, ReadError, ReadOptions},
    receipt::{Outcome, Unchanged},
    remote::{AnswerFuture, Operation, Remote, RemoteError},
};
use serde_json::{Value, json};

use super::support::{chat, host, listing};

fn long_chat() -> String {
    let messages: Vec<Value> = (0..500)
        .map(|number| json!({"role": "user", "content": listing(&format!("ton{number}"), 60)}))
        .collect();
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

#[test]
fn reading_ends_soon_after_its_deadline() {
    let deadline = Deadline::never();
    let calls = Cell::new(0);
    let progress = |_, _| {
        calls.set(calls.get() + 1);
        if calls.get() == 3 {
            deadline.stop();
        }
    };
    let options = ReadOptions::default()
        .with_progress(Some(&progress))
        .with_deadline(Some(&deadline));
    let read = host().read_with(long_chat().into_bytes(), options);
    assert!(matches!(read, Err(ReadError::OutOfTime)));
    assert_eq!(calls.get(), 3, "it went on");
    let read = host().read_with(long_chat().into_bytes(), options.with_progress(None));
    assert!(matches!(read, Err(ReadError::OutOfTime)));
}

#[test]
fn reading_a_log_ends_at_its_deadline() {
    let line = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "Sail on."}]}});
    let meta =
        json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/", "cli_version": "1"}});
    let log = format!("{meta}\n{}", format!("{line}\n").repeat(200));
    let deadline = Deadline::never();
    let read = || {
        let options = ReadOptions::default().with_deadline(Some(&deadline));
        host().read_with(log.clone().into_bytes(), options)
    };
    assert!(read().is_ok_and(|conversation| conversation.log().is_some()));
    deadline.stop();
    assert!(matches!(read(), Err(ReadError::OutOfTime)));
}

#[test]
fn a_repair_that_is_not_done_in_time_changes_nothing() {
    let (document, _) = super::support::broken_chat();
    let conversation = host().read(document).expect("reads");
    let deadline = Deadline::never();
    assert!(conversation.repaired_within(&deadline).is_some());
    deadline.stop();
    assert!(conversation.repaired_within(&deadline).is_none());
}

/// A server whose caller gives up while it works.
#[derive(Debug)]
struct GivenUp(Deadline);

impl Remote for GivenUp {
    fn name(&self) -> &str {
        "given-up"
    }

    fn address(&self) -> &str {
        "given-up"
    }

    fn ask(&self, _: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        self.0.stop();
        Box::pin(async { Err(RemoteError::Connection) })
    }
}

#[tokio::test]
async fn a_compaction_that_is_not_done_in_time_leaves_the_conversation_as_it_is() {
    let conversation = host().read(chat()).expect("reads");
    let deadline = Deadline::never();
    let request = Request::default()
        .with_budget(Budget::Share(0.3))
        .with_deadline(Some(deadline.clone()));
    let compact = async |chain: Vec<Strategy>| {
        host()
            .compact(&conversation, &chain, &request)
            .await
            .expect("no archive that could fail")
    };
    let in_time = compact(vec![Strategy::digest()]).await;
    assert!(in_time.is_compacted());
    let given_up = Strategy::remote(std::sync::Arc::new(GivenUp(deadline.clone())));
    for chain in [vec![given_up], vec![Strategy::digest()]] {
        let late = compact(chain).await;
        assert_eq!(
            late.receipt().outcome,
            Outcome::Unchanged(Unchanged::OutOfTime)
        );
        assert_eq!(late.document(), conversation.document());
    }
}
