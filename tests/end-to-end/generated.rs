//! Made-up conversations of every format: read, grown, cut at every place and compacted in
//! chains.

use baler_corpus::sound;
use baler_generated::{Choices, Generated, Kind, conversation};
use baler_host::{
    Budget, Compaction, Conversation, Format, Host, Request, Strategy,
    conversation::rules::Violation, receipt::UnitOutcome,
};

use crate::support::host_beside;

fn format(kind: Kind) -> Format {
    kind.name().parse().expect("the host knows the format")
}

/// A host that takes documents for what they are made as: plain text looks alike in several
/// formats.
fn host_of(kind: Kind) -> Host {
    host_beside(|builder| builder.format(format(kind)))
}

fn made(kind: Kind, seed: u64, messages: usize) -> Generated {
    conversation(kind, messages, &mut Choices::from_seed(seed))
}

fn read(host: &Host, document: &str, what: &str) -> Conversation {
    host.read(document)
        .unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// What makes a conversation unfit for its provider, whatever its size.
fn broken(conversation: &Conversation) -> Vec<&Violation> {
    conversation
        .violations()
        .iter()
        .filter(|violation| violation.is_fatal())
        .collect()
}

#[test]
fn generated_conversations_break_no_rule() {
    for kind in Kind::ALL {
        let host = host_of(kind);
        for seed in 0..400 {
            let what = format!("{} {seed}", kind.name());
            let made = made(kind, seed, 40);
            let conversation = read(&host, &made.document(), &what);
            assert_eq!(broken(&conversation), Vec::<&Violation>::new(), "{what}");
            let messages: usize = conversation.units().iter().map(|unit| unit.messages).sum();
            assert_eq!(messages, made.messages.len(), "{what}");
        }
    }
}

/// Appending is reading: after each message the grown conversation is the one that would be
/// read from its document.
#[test]
fn a_conversation_that_grew_is_the_one_that_was_read_whole() {
    for kind in Kind::ALL {
        let host = host_of(kind);
        for seed in 0..60 {
            let made = made(kind, seed, 30);
            let start = usize::try_from(seed).expect("small") % made.messages.len().max(1);
            let mut grown = read(&host, &made.cut(start), kind.name());
            let snapshot = grown.clone();
            let before = snapshot.document().to_owned();
            for (index, message) in made.messages.iter().enumerate().skip(start) {
                let what = format!("{} {seed}, message {index}", kind.name());
                grown
                    .append(message)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                let whole = read(&host, grown.document(), &what);
                assert_eq!(grown.units(), whole.units(), "{what}");
                assert_eq!(grown.tokens(), whole.tokens(), "{what}");
                assert_eq!(grown.overhead(), whole.overhead(), "{what}");
                assert_eq!(grown.media(), whole.media(), "{what}");
                assert_eq!(grown.bytes(), whole.bytes(), "{what}");
                assert_eq!(grown.violations(), whole.violations(), "{what}");
            }
            let raws: Vec<&str> = (0..grown.units().len())
                .flat_map(|unit| grown.raw_messages(unit))
                .collect();
            assert_eq!(raws, made.messages, "{} {seed}", kind.name());
            assert_eq!(snapshot.document(), before, "a snapshot changed");
        }
    }
}

#[test]
fn what_is_no_message_is_not_appended() {
    let host = host_of(Kind::OpenAiChat);
    let mut grown = read(
        &host,
        r#"[{"role":"user","content":"Sail to Lisbon."}]"#,
        "",
    );
    let before = grown.document().to_owned();
    for (wrong, message) in [
        ("", "expected the message to be a JSON object"),
        ("[]", "expected the message to be a JSON object"),
        (
            r#"{"role":"user""#,
            "expected the message to be a JSON object",
        ),
        (
            r#"{"role":"pirate","content":"Arr"}"#,
            "message 2: `pirate` is not a role",
        ),
        (r#"{"content":"Arr"}"#, "message 2: `role` is missing"),
    ] {
        let error = grown.append(wrong).expect_err(wrong).to_string();
        assert!(error.starts_with(message), "{wrong}: {error}");
        assert_eq!(grown.document(), before);
        assert_eq!(grown.units().len(), 1);
    }
}

/// All strategies that ship with baler.
async fn strategies(host: &Host) -> Vec<Strategy> {
    let mut all = vec![Strategy::digest(), Strategy::truncate()];
    for bundled in baler_strategies::ALL {
        let strategy = host.load(bundled.name, bundled.wasm).await.expect("loads");
        all.push(baler_corpus::Parrot::granted(strategy));
    }
    all
}

async fn compact(
    host: &Host,
    conversation: &Conversation,
    strategy: &Strategy,
    budget: Budget,
) -> Compaction {
    let request = Request::default().with_budget(budget);
    host.compact(conversation, std::slice::from_ref(strategy), &request)
        .await
        .expect("no archive that could fail")
}

fn assert_good(before: &Conversation, compaction: &Compaction, what: &str) {
    let receipt = compaction.receipt();
    let after = compaction.conversation();
    if !compaction.is_compacted() {
        assert_eq!(after.document(), before.document(), "{what}: touched");
        return;
    }
    assert_eq!(broken(after), Vec::<&Violation>::new(), "{what}");
    assert!(after.tokens() < before.tokens(), "{what}: not smaller");
    let target = receipt.tokens.budget.max(receipt.tokens.floor);
    assert!(after.tokens() <= target, "{what}: over its budget");
    let mut rest = (0..after.units().len()).flat_map(|unit| after.raw_messages(unit));
    for (unit, outcome) in compaction.changes().outcomes().iter().enumerate() {
        if *outcome != UnitOutcome::Kept {
            continue;
        }
        for message in before.raw_messages(unit) {
            // One of the user's may have got further parts around its own.
            let mut stays = |new| new == message || sound::is_joined(message, new);
            let is_there = rest.any(&mut stays);
            assert!(is_there, "{what}: unit {unit} is not verbatim");
        }
    }
}

#[tokio::test]
async fn every_cut_of_generated_chats_survives_every_strategy() {
    every_cut_survives_every_strategy(Kind::OpenAiChat).await;
}

#[tokio::test]
async fn every_cut_of_generated_responses_survives_every_strategy() {
    every_cut_survives_every_strategy(Kind::OpenAiResponses).await;
}

#[tokio::test]
async fn every_cut_of_generated_anthropic_conversations_survives_every_strategy() {
    every_cut_survives_every_strategy(Kind::Anthropic).await;
}

#[tokio::test]
async fn every_cut_of_generated_gemini_conversations_survives_every_strategy() {
    every_cut_survives_every_strategy(Kind::Gemini).await;
}

#[tokio::test]
async fn every_cut_of_generated_bedrock_conversations_survives_every_strategy() {
    every_cut_survives_every_strategy(Kind::BedrockConverse).await;
}

/// A format in each test, so that they run at the same time.
async fn every_cut_survives_every_strategy(kind: Kind) {
    let mut changed = 0;
    let host = host_of(kind);
    let strategies = strategies(&host).await;
    for seed in 0..6 {
        let made = made(kind, 1_000 + seed, 24);
        for cut in 1..=made.messages.len() {
            let conversation = read(&host, &made.cut(cut), kind.name());
            for (index, strategy) in strategies.iter().enumerate() {
                let percent = [5, 10, 25, 50][(cut + index) % 4];
                let what = format!(
                    "{} {seed} cut at {cut}, {} at {percent} %",
                    kind.name(),
                    strategy.name()
                );
                let share = Budget::Share(f64::from(percent) / 100.0);
                let first = compact(&host, &conversation, strategy, share).await;
                assert_good(&conversation, &first, &what);
                changed += usize::from(first.is_compacted());
                let again = Budget::Tokens(first.receipt().tokens.budget);
                let second = compact(&host, first.conversation(), strategy, again).await;
                assert_eq!(
                    second.document(),
                    first.document(),
                    "{what}: a second run changes it"
                );
            }
        }
    }
    assert!(changed > 125, "only {changed} results");
}

/// An agent goes on after each compaction, and the next one is made by another strategy.
#[tokio::test]
async fn a_conversation_stays_valid_through_a_chain_of_compactions() {
    let mut changed = 0;
    for kind in Kind::ALL {
        let host = host_of(kind);
        let strategies = strategies(&host).await;
        for seed in 0..16 {
            let made = made(kind, 5_000 + seed, 60);
            let mut conversation = read(&host, &made.cut(1), kind.name());
            for (index, message) in made.messages.iter().enumerate().skip(1) {
                conversation
                    .append(message)
                    .expect("a message of the format");
                if index % 7 != 0 || !broken(&conversation).is_empty() {
                    continue;
                }
                let strategy = &strategies[(index / 7) % strategies.len()];
                let what = format!("{} {seed}, {} at {index}", kind.name(), strategy.name());
                let compaction = compact(&host, &conversation, strategy, Budget::Share(0.4)).await;
                assert_good(&conversation, &compaction, &what);
                changed += usize::from(compaction.is_compacted());
                conversation = compaction.conversation().clone();
            }
            assert_eq!(
                broken(&conversation),
                Vec::<&Violation>::new(),
                "{} {seed}",
                kind.name()
            );
        }
    }
    assert!(changed > 100, "only {changed} results");
}
