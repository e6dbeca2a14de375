//! Properties of every digest.

mod chains;
mod fixtures;
mod hostile;
mod programs;

use baler_conversation::SecretKey;

use crate::compaction::Compaction;
use crate::request::{Budget, Pins, Request};
use crate::sample;
use crate::strategy::Strategy;
use crate::{
    Conversation, Host,
    receipt::{Outcome, Unchanged},
};
use fixtures::{bug_fix, greetings, tickets};
use serde_json::{Value, json};

fn host() -> Host {
    Host::builder()
        .key(SecretKey::new([7; 32]))
        .build()
        .unwrap()
}

fn compact_with(document: &str, request: &Request) -> Compaction {
    let conversation = host().read(document).unwrap();
    assert_eq!(conversation.violations(), [], "the fixture is legal");
    compact_read(&conversation, request)
}

fn compact_read(conversation: &Conversation, request: &Request) -> Compaction {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(host().compact(conversation, &[Strategy::digest()], request))
        .unwrap()
}

/// Compacts, and checks the properties that every result has.
fn compact(document: &str, budget: Budget) -> Compaction {
    let request = Request {
        budget,
        ..sample::request()
    };
    let compaction = compact_with(document, &request);
    let receipt = compaction.receipt();
    // Below the floor the host asks no strategy.
    assert!(
        !receipt.fell_back || receipt.tokens.below_floor,
        "{:?}",
        receipt.attempts
    );
    assert!(compaction.conversation().violations().is_empty());
    assert!(receipt.tokens.after <= receipt.tokens.budget.max(receipt.tokens.floor));
    assert_eq!(
        compact_with(document, &request).document(),
        compaction.document()
    );
    compaction
}

fn assert_holds(compaction: &Compaction, texts: &[&str]) {
    let document = compaction.document();
    for text in texts {
        let json = serde_json::to_string(text).unwrap();
        assert!(
            document.contains(json.trim_matches('"')),
            "{text} is not in {document}"
        );
    }
}

#[test]
fn digest_quotes_rules_and_the_last_error() {
    let compaction = compact(&bug_fix(), Budget::Share(0.25));
    assert_eq!(compaction.receipt().outcome, Outcome::Compacted);
    assert_holds(
        &compaction,
        &[
            "Never touch the files under vendor/!",
            "You must run the linter before each commit.",
            "assertion failed: ledger total is 41, expected 42",
            "## What the user said",
            "src/ledger.rs: read, edited",
            "cargo test sums",
        ],
    );
}

#[test]
fn digest_lists_what_was_done_and_values() {
    let compaction = compact(&tickets(), Budget::Share(0.3));
    assert_holds(
        &compaction,
        &[
            "TRIP-77120",
            "Only aisle seats, please.",
            "## History",
            "## Values",
        ],
    );
}

#[test]
fn failure_is_listed_with_its_call() {
    let book = |flight: &str| json!({"functionCall": {"name": "book", "args": {"flight": flight}}});
    let booked =
        |response: Value| json!({"functionResponse": {"name": "book", "response": response}});
    let says = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let mut contents = vec![
        says("user", "Book two seats to Lisbon."),
        json!({"role": "model", "parts": [book("BX71"), book("LX2")]}),
        json!({"role": "user", "parts": [booked(json!({"error": "full"})), booked(json!({"output": "seat 12A"}))]}),
    ];
    for day in 0..30 {
        contents.push(says(
            "model",
            &format!("Day {day} begins at the river, and ends late with music by the harbour."),
        ));
        contents.push(says("user", &format!("And what about day {}?", day + 1)));
    }
    let document = json!({"contents": contents}).to_string();
    let digest = compact(&document, Budget::Share(0.4));
    let document = digest.document();
    let told = |flight: &str| {
        let at = document
            .find(&format!("called book(flight={flight})"))
            .expect("is told");
        document[at..]
            .split("\\n")
            .next()
            .expect("a line")
            .contains("— failed")
    };
    assert!(told("BX71"), "{document}");
    assert!(!told("LX2"), "{document}");
}

#[test]
fn output_flagged_as_error_is_quoted_without_error_words() {
    let mut messages = vec![
        json!({"role": "user", "content": "Book a seat to Lisbon."}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "book", "input": {"flight": "BX71"}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": "asked the airline\nNo seats left on BX71.\n"}]}),
    ];
    for day in 0..30 {
        messages.push(json!({"role": "assistant", "content": format!("Day {day} begins at the river, and ends late with music by the harbour.")}));
        messages
            .push(json!({"role": "user", "content": format!("And what about day {}?", day + 1)}));
    }
    let document =
        json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}).to_string();
    let digest = compact(&document, Budget::Share(0.4));
    assert_holds(
        &digest,
        &[
            "- called book(flight=BX71)",
            "- Output: No seats left on BX71.",
        ],
    );
}

#[test]
fn digest_quotes_rules_in_other_languages() {
    let compaction = compact(&greetings(), Budget::Share(0.3));
    assert_holds(
        &compaction,
        &[
            "返信は必ず敬語で書いてください。",
            "لا تقم بإرسال الرسالة قبل موافقتي.",
        ],
    );
}

#[test]
fn results_fit_every_budget() {
    for document in [bug_fix(), tickets(), greetings()] {
        for share in [0.0, 0.05, 0.1, 0.15, 0.25, 0.5, 0.75, 0.95] {
            compact(&document, Budget::Share(share));
        }
    }
    for tokens in (0..3_000).step_by(61) {
        compact(&tickets(), Budget::Tokens(tokens));
    }
}

#[test]
fn second_compaction_changes_nothing() {
    let first = compact(&bug_fix(), Budget::Share(0.25));
    let same = Budget::Tokens(first.receipt().tokens.budget);
    let second = compact(first.document(), same);
    assert_eq!(
        second.receipt().outcome,
        Outcome::Unchanged(Unchanged::WithinBudget)
    );
    assert_eq!(second.document(), first.document());
}

#[test]
fn conversation_without_removable_units_is_unchanged() {
    let document = tickets();
    let host = host();
    let conversation = host.read(document.as_str()).unwrap();
    let all = (0..conversation.units().len()).collect();
    let request = Request {
        pins: Pins::Units(all),
        budget: Budget::Share(0.2),
        ..sample::request()
    };
    let situation = crate::situation::Situation::new(&conversation, &request, false);
    assert!(matches!(
        crate::native::digest(&situation, "native:digest").answer,
        crate::report::Answer::Unchanged(_)
    ));
}

#[test]
fn results_obey_the_limit_of_bytes() {
    let document = bug_fix();
    let request = Request {
        budget: Budget::Tokens(1_000_000),
        max_bytes: Some(document.len() / 3),
        ..sample::request()
    };
    let compaction = compact_with(&document, &request);
    assert!(!compaction.receipt().fell_back && compaction.is_compacted());
    assert!(compaction.document().len() <= document.len() / 3);
    assert_holds(&compaction, &["Never touch the files under vendor/!"]);
}
