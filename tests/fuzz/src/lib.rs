//! What the fuzz targets have in common: hosts, and what has to hold of every conversation and
//! of every compaction.

use std::sync::LazyLock;

use baler_generated::{Choices, Generated, Kind, conversation};
use baler_host::{
    Budget, Compaction, Conversation, Format, Host, Pins, Request, Strategy,
    conversation::rules::Violation,
    conversation::tokenizers::Tokenizer,
    conversation::{SecretKey, UnitKind},
    fault::{Fault, Quantity},
    receipt::{Attempt, AttemptResult, UnitOutcome},
    request::ThinkingPolicy,
    strategy::EngineLimits,
};

/// A host that finds formats out.
pub static HOST: LazyLock<Host> = LazyLock::new(|| host(None));

static HOSTS: LazyLock<Vec<(Format, Host)>> = LazyLock::new(|| {
    let all = Format::ALL.iter();
    all.map(|format| (*format, host(Some(*format)))).collect()
});

/// Without a sandbox: none is made before a guest is loaded. The key is fixed, and no strategy
/// rests after the faults of earlier inputs, so that an input that was found does the same again;
/// and one vocabulary is enough.
fn host(format: Option<Format>) -> Host {
    let tokenizer = Tokenizer::named("cl100k_base").expect("it is built in");
    let limits = EngineLimits::default().with_faults(u32::MAX);
    let builder = Host::builder()
        .limits(limits)
        .key(SecretKey::new([7; 32]))
        .tokenizer(tokenizer);
    let builder = match format {
        Some(format) => builder.format(format),
        None => builder,
    };
    builder.build().expect("a host without a state folder")
}

/// The host that takes all documents for what a made-up conversation is.
pub fn host_of(kind: Kind) -> &'static Host {
    let of_kind = |(format, _): &&(Format, Host)| format.name() == kind.name();
    &HOSTS.iter().find(of_kind).expect("the host knows it").1
}

/// A conversation of any format. Choices that are to be made in any case are made before.
pub fn made(choices: &mut Choices<'_>) -> Generated {
    let kind = *choices.one_of(&Kind::ALL).expect("there are some");
    let messages = 1 + choices.below(40);
    conversation(kind, messages, choices)
}

/// One of the host's own strategies.
pub fn strategy(choices: &mut Choices<'_>) -> Strategy {
    if choices.one_in(2) {
        Strategy::truncate()
    } else {
        Strategy::digest()
    }
}

/// A share, of which the smallest are below every floor.
pub fn budget(choices: &mut Choices<'_>) -> Budget {
    let percent = [25, 5, 0, 1, 2, 10, 15, 40, 50, 75, 90, 99, 100];
    let percent = choices.one_of(&percent).copied().unwrap_or_default();
    Budget::Share(f64::from(percent) / 100.0)
}

/// A host's own strategies wait for nothing, so this needs no clock and no threads.
pub fn compact(
    host: &Host,
    conversation: &Conversation,
    strategy: &Strategy,
    request: &Request,
) -> Compaction {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(host.compact(conversation, std::slice::from_ref(strategy), request))
        .expect("no archive that could fail")
}

/// What makes a conversation unfit for its provider, whatever its size; a warning does not.
pub fn broken(conversation: &Conversation) -> Vec<&Violation> {
    conversation.broken().collect()
}

/// What holds of everything that was read: units cover all messages in order, and sums agree.
pub fn check(conversation: &Conversation) {
    let document = conversation.document();
    assert_eq!(conversation.bytes(), document.len(), "bytes");
    let (mut messages, mut at, mut bytes) = (0, 0, 0);
    let (mut tokens, mut instructions, mut media) = (0_u32, 0_u32, 0);
    for (index, unit) in conversation.units().iter().enumerate() {
        assert!(unit.messages > 0, "unit {index} is empty");
        assert_eq!(
            unit.first_message, messages,
            "unit {index} begins elsewhere"
        );
        messages += unit.messages;
        bytes += unit.bytes;
        tokens = tokens.saturating_add(unit.tokens);
        media += unit.media;
        if unit.kind == UnitKind::Instructions {
            instructions = instructions.saturating_add(unit.tokens);
        }
        let raws: Vec<&str> = conversation.raw_messages(index).collect();
        assert_eq!(raws.len(), unit.messages, "messages of unit {index}");
        for raw in raws {
            assert!(!raw.is_empty(), "unit {index} holds nothing");
            let found = document[at..].find(raw).expect("it stands in the document");
            at += found + raw.len();
        }
    }
    assert!(bytes <= document.len(), "bytes of units");
    assert_eq!(conversation.media(), media, "media");
    // Sums that a log reported end at the largest number.
    if conversation.tokens() < u32::MAX {
        let fixed = conversation.tokens().checked_sub(tokens);
        let overhead = fixed.map(|fixed| fixed.saturating_add(instructions));
        assert_eq!(overhead, Some(conversation.overhead()), "overhead");
    }
    let _ = conversation.violations();
}

/// What holds of every compaction by a strategy that fails in nothing: a valid conversation
/// stays valid, gets smaller, and keeps what must stay; else it is the one that came in.
pub fn check_compaction(before: &Conversation, compaction: &Compaction, request: &Request) {
    check_attempts(before, &compaction.receipt().attempts, request);
    check_result(before, compaction, request);
    if compaction.is_compacted() {
        check_fates(before, compaction, request);
    }
}

/// The same of a compaction by a strategy that may try anything, and what comes behind it.
pub fn check_any_plan(before: &Conversation, compaction: &Compaction, request: &Request) {
    let attempts = &compaction.receipt().attempts;
    check_attempts(before, attempts.get(1..).unwrap_or_default(), request);
    check_result(before, compaction, request);
    if !compaction.is_compacted() {
        return;
    }
    let must_stay = must_stay(before, request);
    for (index, (must_stay, outcome)) in must_stay
        .iter()
        .zip(compaction.changes().outcomes())
        .enumerate()
    {
        assert!(
            !must_stay || outcome != UnitOutcome::Removed,
            "unit {index} left"
        );
    }
}

fn check_attempts(before: &Conversation, attempts: &[Attempt], request: &Request) {
    for attempt in attempts {
        assert!(
            may_be(&attempt.result),
            "{}: {:?} for {request:?}\n{}",
            attempt.strategy,
            attempt.result,
            before.document()
        );
    }
}

fn check_result(before: &Conversation, compaction: &Compaction, request: &Request) {
    let receipt = compaction.receipt();
    let after = compaction.conversation();
    check(after);
    assert_eq!(
        compaction.changes().outcomes().len(),
        before.units().len(),
        "outcomes"
    );
    if !compaction.is_compacted() {
        assert_eq!(after.document(), before.document(), "touched");
        return;
    }
    assert!(
        broken(before).is_empty(),
        "a broken conversation was changed"
    );
    assert_eq!(broken(after), Vec::<&Violation>::new(), "broken");
    assert!(after.tokens() < before.tokens(), "not smaller");
    let target = receipt.tokens.budget.max(receipt.tokens.floor);
    assert!(after.tokens() <= target, "over its budget");
    let is_below = |what| receipt.below_floor.contains(&what);
    let max_bytes = request.max_bytes.unwrap_or(usize::MAX);
    let has_room = after.bytes() <= max_bytes || is_below(Quantity::Bytes);
    assert!(has_room, "over its bytes");
    let max_media = request.max_media.unwrap_or(u32::MAX);
    let has_room = after.media() <= max_media || is_below(Quantity::Media);
    assert!(has_room, "over its media");
}

/// Which units a request, or their own kind, protects.
fn must_stay(before: &Conversation, request: &Request) -> Vec<bool> {
    let units = before.units();
    let first_user = units.iter().position(|unit| unit.kind == UnitKind::User);
    let newest_user = units.iter().rposition(|unit| unit.traits.user_text);
    let newest_request = units.iter().rposition(|unit| unit.kind == UnitKind::User);
    let must_stay = units.iter().enumerate().map(|(index, unit)| {
        let pinned = match &request.pins {
            Pins::FirstUser => first_user == Some(index),
            Pins::Units(units) => units.contains(&index),
            Pins::None => false,
        };
        let end = unit.first_message + unit.messages;
        let live = request.live_from.is_some_and(|first| end > first);
        let is_newest = [newest_user, newest_request].contains(&Some(index));
        pinned || live || is_newest || unit.traits.instructions
    });
    must_stay.collect()
}

/// The host's own strategies leave alone what must stay; and what was kept is verbatim.
fn check_fates(before: &Conversation, compaction: &Compaction, request: &Request) {
    let must_stay = must_stay(before, request);
    let mut rest = compaction.conversation().document();
    for (index, outcome) in compaction.changes().outcomes().iter().enumerate() {
        if must_stay[index] {
            // The host shortens a user message that nobody named, and removes thinking on demand.
            let is_named = matches!(&request.pins, Pins::Units(units) if units.contains(&index));
            let may_change = request.policy.thinking == ThinkingPolicy::Drop
                || (before.units()[index].traits.user_text && !is_named && request.policy.excerpts);
            assert!(
                *outcome == UnitOutcome::Kept || (*outcome == UnitOutcome::Rewritten && may_change),
                "unit {index} had to stay: {outcome:?}"
            );
        }
        if *outcome != UnitOutcome::Kept {
            continue;
        }
        for message in before.raw_messages(index) {
            let at = rest.find(message).expect("what was kept is verbatim");
            rest = &rest[at + message.len()..];
        }
    }
}

/// What a strategy of the host's own may come to: it knows all rules, so it never has to be
/// caught. What cannot be is no fault of its: what must stay may have too many bytes or pictures.
fn may_be(result: &AttemptResult) -> bool {
    match result {
        AttemptResult::Accepted | AttemptResult::Declined => true,
        AttemptResult::Fault {
            fault: Fault::OverBudget { what, .. },
        } => *what != Quantity::Tokens,
        _ => false,
    }
}

/// Compacts by both native strategies and checks what comes of it.
pub fn check_compactions(host: &Host, conversation: &Conversation) {
    let request = Request::default().with_budget(Budget::Share(0.25));
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        let compaction = compact(host, conversation, &strategy, &request);
        check_compaction(conversation, &compaction, &request);
    }
}
