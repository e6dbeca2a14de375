//! Recorded conversations, from the folder that `BALER_CORPUS` names. Prints counts, never text.

use std::collections::BTreeMap;
use std::time::Duration;

use baler_corpus::Recorded;
use baler_host::{Budget, Compaction, Conversation, Fate, Host, Limits, Request, Strategy};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::{TestHost, host, host_with, share};

/// Per format: conversations, those that came in invalid, compactions, results that changed.
#[derive(Debug, Default)]
struct Tally {
    conversations: usize,
    invalid: usize,
    compactions: usize,
    changed: usize,
}

fn recorded() -> Option<Vec<Recorded>> {
    let recorded = baler_corpus::conversations();
    if recorded.is_none() {
        println!("skipped: there is no folder of recorded conversations (BALER_CORPUS)");
    }
    recorded
}

fn read(host: &Host, recorded: &Recorded) -> Conversation {
    host.read(recorded.document.as_str())
        .unwrap_or_else(|error| panic!("{} {}: {error}", recorded.set, recorded.id))
}

async fn strategies(host: &Host) -> Vec<Strategy> {
    let mut all = vec![Strategy::digest(), Strategy::truncate()];
    for bundled in baler_strategies::ALL {
        all.push(host.load(bundled.name, bundled.wasm).await.expect("loads"));
    }
    all
}

#[tokio::test]
async fn every_recorded_conversation_survives_every_strategy() {
    let Some(recorded) = recorded() else { return };
    let host = host();
    let strategies = strategies(host).await;
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for record in &recorded {
        let conversation = read(host, record);
        let tally = tallies.entry(record.set).or_default();
        tally.conversations += 1;
        let name = format!("{} {}", record.set, record.id);
        if !conversation.violations().is_empty() {
            tally.invalid += 1;
            let compaction = compact(host, &conversation, &strategies[0], 0.25).await;
            assert_eq!(compaction.document(), record.document, "{name}: touched");
            continue;
        }
        assert_sound(conversation.document(), conversation.document()).unwrap_or_else(|error| {
            panic!("{name}: the checks of this test disagree with the host's: {error}")
        });
        for strategy in &strategies {
            for percent in [10, 25, 50] {
                let name = format!("{name}, {} at {percent} %", strategy.name());
                let compaction =
                    compact(host, &conversation, strategy, f64::from(percent) / 100.0).await;
                tally.compactions += 1;
                tally.changed += usize::from(compaction.is_compacted());
                assert_result(&conversation, &compaction, &name);
                assert_again(host, &compaction, strategy, &name).await;
            }
        }
    }
    println!("{tallies:#?}");
    let changed: usize = tallies.values().map(|tally| tally.changed).sum();
    assert!(changed > recorded.len(), "hardly anything was compacted");
}

/// Every twentieth conversation with every hostile guest, under tight limits.
#[tokio::test]
async fn recorded_conversations_survive_hostile_guests() {
    let Some(recorded) = recorded() else { return };
    let host: TestHost = host_with(|builder| builder);
    let limits = Limits {
        fuel: 10_000_000,
        time: Duration::from_millis(20),
        ..Limits::default()
    };
    let mut guests = Vec::new();
    for guest in baler_hostile_guests::ALL {
        if let Ok(strategy) = host.load(guest.name, guest.wasm).await {
            guests.push(strategy.with_limits(limits));
        }
    }
    let mut outcomes: BTreeMap<bool, usize> = BTreeMap::new();
    for record in recorded.iter().step_by(20) {
        let conversation = read(&host, record);
        for guest in &guests {
            host.lift_quarantine();
            let name = format!("{} {}, {}", record.set, record.id, guest.name());
            let request = Request {
                required: true,
                ..share(0.25)
            };
            let compaction = host
                .compact(&conversation, std::slice::from_ref(guest), &request)
                .await
                .expect("no archive that could fail");
            assert_result(&conversation, &compaction, &name);
            *outcomes.entry(compaction.receipt().fell_back).or_default() += 1;
        }
    }
    println!("{} guests; fell back: {outcomes:?}", guests.len());
    assert!(outcomes.get(&true).is_some_and(|count| *count > 100));
}

async fn compact(
    host: &Host,
    conversation: &Conversation,
    strategy: &Strategy,
    part: f64,
) -> Compaction {
    host.compact(conversation, std::slice::from_ref(strategy), &share(part))
        .await
        .expect("no archive that could fail")
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
    assert_eq!(compaction.conversation().violations(), [], "{name}");
    assert_sound(before.document(), compaction.document())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let newest = before
        .units()
        .iter()
        .rposition(|unit| unit.traits.user_text);
    assert!(
        newest.is_none_or(|unit| compaction.fates()[unit] != Fate::Dropped),
        "{name}: newest user"
    );
}

/// I3: the result again, with the same absolute budget, changes nothing.
async fn assert_again(host: &Host, first: &Compaction, strategy: &Strategy, name: &str) {
    let request = Request {
        budget: Budget::Tokens(first.receipt().tokens.budget),
        ..Request::default()
    };
    let second = host
        .compact(
            first.conversation(),
            std::slice::from_ref(strategy),
            &request,
        )
        .await
        .expect("no archive that could fail");
    assert_eq!(
        second.document(),
        first.document(),
        "{name}: a second run changes it"
    );
}

/// The rules once more, written without a line of the host's: messages are those of `before`,
/// in order and byte for byte, or carry a mark; calls and outputs are paired.
fn assert_sound(before: &str, after: &str) -> Result<(), String> {
    let (old, new) = (messages(before), messages(after));
    let mut rest = old.iter();
    for message in &new {
        let is_kept = rest.clone().any(|own| own.get() == message.get());
        if is_kept {
            rest.find(|own| own.get() == message.get());
        } else if !message.get().contains("<baler:") {
            return Err("a message is neither kept nor marked".to_owned());
        }
    }
    let values: Vec<Value> = new
        .iter()
        .map(|message| serde_json::from_str(message.get()).expect("JSON"))
        .collect();
    let mut open: Vec<String> = Vec::new();
    for message in &values {
        let answers = answers(message);
        for id in &answers {
            let at = open
                .iter()
                .position(|own| own == id)
                .ok_or("an output without its call")?;
            open.remove(at);
        }
        // Anthropic takes neighbours of one role for one message.
        let goes_on = message["role"] == "assistant" && message["content"].is_array();
        if answers.is_empty() && !open.is_empty() && !goes_on {
            return Err("a call without its output".to_owned());
        }
        open.extend(calls(message));
    }
    Ok(())
}

fn messages(document: &str) -> Vec<&RawValue> {
    #[derive(serde::Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    serde_json::from_str(document)
        .or_else(|_| serde_json::from_str(document).map(|body: Body<'_>| body.messages))
        .expect("JSON")
}

fn calls(message: &Value) -> Vec<String> {
    let blocks = message["content"].as_array().into_iter().flatten();
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_use")
        .chain(calls)
        .filter_map(|call| call["id"].as_str().map(str::to_owned))
        .collect()
}

fn answers(message: &Value) -> Vec<String> {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks
        .filter_map(|block| {
            block["tool_use_id"]
                .as_str()
                .filter(|_| block["type"] == "tool_result")
        })
        .chain(message["tool_call_id"].as_str())
        .map(str::to_owned)
        .collect()
}
