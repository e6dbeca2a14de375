//! Recorded conversations, from the folder that `BALER_CORPUS` names. Prints counts, never text.
//!
//! A sample of the cuts; `tests/corpus/src/bin/every-cut.rs` takes them all, with the same checks.

use std::collections::BTreeMap;
use std::time::Duration;

use baler_corpus::every_cut::{Checker, Cuts, PERCENTS, Tally};
use baler_corpus::{Recording, RecordingKind};
use baler_host::{
    Compaction, Conversation, Format, Host, Limits, conversation::rules::Severity,
    receipt::UnitOutcome,
};

use crate::support::{TestHost, builder, host_with, share};

/// All cuts of every so many conversations, beside those in the rarer formats.
const SAMPLED: usize = 40;

fn recorded() -> Option<Vec<Recording>> {
    let recorded = baler_corpus::conversations();
    if recorded.is_none() {
        println!("skipped: there is no folder of recorded conversations (BALER_CORPUS)");
    }
    recorded
}

async fn checker(state: &tempfile::TempDir) -> Checker {
    let guests = baler_strategies::ALL
        .iter()
        .map(|bundled| (bundled.name, bundled.wasm));
    Checker::new(|| builder(state), guests)
        .await
        .expect("hosts with strategies")
}

fn assert_nothing_failed(tally: &Tally) {
    println!("{tally}");
    assert_eq!(tally.failures(), [], "see the table");
    let total = tally.total();
    assert!(
        total.changed > total.compactions / 2,
        "hardly anything was compacted"
    );
}

#[tokio::test]
async fn every_cut_of_some_conversations_survives_every_strategy() {
    let Some(recorded) = recorded() else { return };
    let state = tempfile::tempdir().expect("a folder");
    let checker = checker(&state).await;
    let mut tally = Tally::default();
    for (index, record) in recorded.iter().enumerate() {
        let is_rare = record.format != "openai-chat" && record.kind == RecordingKind::Document;
        if index % SAMPLED != 0 && !is_rare {
            continue;
        }
        tally.add(checker.check(record, Cuts::All, &PERCENTS).await);
    }
    assert_nothing_failed(&tally);
}

/// One budget for each, in turns.
#[tokio::test]
async fn every_recorded_conversation_survives_every_strategy() {
    let Some(recorded) = recorded() else { return };
    let state = tempfile::tempdir().expect("a folder");
    let checker = checker(&state).await;
    let mut tally = Tally::default();
    for (record, percent) in recorded.iter().zip(PERCENTS.iter().cycle()) {
        tally.add(checker.check(record, Cuts::Last, &[*percent]).await);
    }
    assert_nothing_failed(&tally);
}

/// Sets of requests that their providers answered, and how many each has.
const ANSWERED: [(&str, usize); 2] = [("tau-bench", 200), ("pydantic-ai-cassettes", 34)];

/// No rule is stricter than the providers.
#[test]
fn every_recorded_request_that_its_provider_answered_is_valid() {
    let Some(recorded) = recorded() else { return };
    let of_format = |format: &Format| (format.name(), host_with(|builder| builder.format(*format)));
    let hosts: BTreeMap<&str, TestHost> = Format::ALL.iter().map(of_format).collect();
    let mut refused: Vec<String> = Vec::new();
    for (set, number) in ANSWERED {
        let of_set: Vec<&Recording> = recorded.iter().filter(|own| own.set == set).collect();
        if of_set.is_empty() {
            println!("skipped: the folder of recorded conversations has no set {set}");
            continue;
        }
        assert_eq!(of_set.len(), number, "{set}");
        for record in of_set {
            let conversation = read(&hosts[record.format], record);
            let errors = conversation.violations().iter();
            let errors = errors.filter(|own| own.severity == Severity::Error);
            refused.extend(errors.map(|own| format!("{set} {}: {own}", record.id)));
        }
    }
    assert_eq!(refused, Vec::<String>::new());
}

/// Some conversations with every hostile guest, under tight limits.
#[tokio::test]
async fn recorded_conversations_survive_hostile_guests() {
    let Some(recorded) = recorded() else { return };
    let host: TestHost = host_with(|builder| builder);
    let limits = Limits::default()
        .with_fuel(10_000_000)
        .with_time(Duration::from_millis(20));
    let mut guests = Vec::new();
    for guest in baler_hostile_guests::ALL {
        if let Ok(strategy) = host.load(guest.name, guest.wasm).await {
            guests.push(strategy.with_limits(limits));
        }
    }
    let mut outcomes: BTreeMap<bool, usize> = BTreeMap::new();
    let documents = recorded
        .iter()
        .filter(|record| record.kind == RecordingKind::Document);
    for record in documents.step_by(60) {
        let conversation = read(&host, record);
        for guest in &guests {
            host.lift_quarantine();
            let name = format!("{} {}, {}", record.set, record.id, guest.name());
            let request = share(0.25).with_required(true);
            let compaction = host
                .compact(&conversation, std::slice::from_ref(guest), &request)
                .await
                .expect("no archive that could fail");
            assert_result(&conversation, &compaction, &name);
            if compaction.is_compacted() {
                baler_corpus::sound::check(record.format, &record.document, compaction.document())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            *outcomes.entry(compaction.receipt().fell_back).or_default() += 1;
        }
    }
    println!("{} guests; fell back: {outcomes:?}", guests.len());
    assert!(outcomes.get(&true).is_some_and(|count| *count > 100));
}

fn read(host: &Host, recorded: &Recording) -> Conversation {
    host.read(recorded.document.as_str())
        .unwrap_or_else(|error| panic!("{} {}: {error}", recorded.set, recorded.id))
}

/// Valid, smaller, within the budget or at the floor; kept messages byte for byte.
fn assert_result(before: &Conversation, compaction: &Compaction, name: &str) {
    let receipt = compaction.receipt();
    if !compaction.is_compacted() {
        assert_eq!(compaction.document(), before.document(), "{name}: touched");
        return;
    }
    assert!(
        receipt.tokens.after < receipt.tokens.before,
        "{name}: not smaller"
    );
    let target = receipt.tokens.budget.max(receipt.tokens.floor);
    assert!(receipt.tokens.after <= target, "{name}: over budget");
    assert_eq!(compaction.conversation().broken().next(), None, "{name}");
    let newest = before
        .units()
        .iter()
        .rposition(|unit| unit.traits.user_text);
    assert!(
        newest.is_none_or(|unit| compaction.changes().outcomes()[unit] != UnitOutcome::Removed),
        "{name}: newest user"
    );
}
