//! A valid conversation, cut at any place and compacted by a native strategy for any request:
//! the result is valid, within its budget or at its floor, holds what must stay byte for byte,
//! and is smaller; or nothing changed. A second run with the same budget changes nothing.

#![no_main]

use baler_fuzz::{broken, budget, check, check_compaction, compact, host_of, made, strategy};
use baler_generated::Choices;
use baler_host::{Budget, Pins, Request, request::ThinkingPolicy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let choices = &mut Choices::from_bytes(data);
    let strategy = strategy(choices);
    let (cut, live, pin) = (choices.below(256), choices.below(256), choices.below(64));
    let mut request =
        Request::default()
            .with_budget(budget(choices))
            .with_pins(match choices.below(6) {
                4 => Pins::None,
                5 => Pins::Units(vec![pin, pin / 2]),
                _ => Pins::FirstUser,
            });
    request.policy.remove_media = choices.one_in(4);
    request.policy.rewrite_outputs = !choices.one_in(4);
    request.policy.excerpts = !choices.one_in(4);
    request.policy.thinking = match choices.below(6) {
        4 => ThinkingPolicy::Keep,
        5 => ThinkingPolicy::Drop,
        _ => ThinkingPolicy::Auto,
    };
    let (bytes, media) = (choices.one_in(6), choices.one_in(6));
    let has_live = choices.one_in(6);
    let made = made(choices);
    let host = host_of(made.kind);

    let whole = host.read(made.document()).expect("it is one of the format");
    assert!(
        broken(&whole).is_empty(),
        "{:?} {}",
        broken(&whole),
        whole.document()
    );
    let messages: usize = whole.units().iter().map(|unit| unit.messages).sum();
    assert_eq!(messages, made.messages.len());

    let cut = 1 + cut % made.messages.len().max(1);
    let conversation = host.read(made.cut(cut)).expect("a cut one is one");
    check(&conversation);
    if let Pins::Units(pins) = &mut request.pins {
        pins.retain(|pin| *pin < conversation.units().len());
    }
    request.live_from = has_live.then_some(live % (cut + 1));
    request.max_bytes = bytes.then_some(conversation.bytes() / 2);
    request.max_media = media.then_some(conversation.media() / 2);
    let first = compact(host, &conversation, &strategy, &request);
    check_compaction(&conversation, &first, &request);

    // Other units have other numbers now, and what was live is no more.
    let is_numbered = has_live || matches!(request.pins, Pins::Units(_));
    if first.is_compacted() && !is_numbered {
        request.budget = Budget::Tokens(first.receipt().tokens.budget);
        let second = compact(host, first.conversation(), &strategy, &request);
        assert_eq!(
            second.document(),
            first.document(),
            "a second run changes it"
        );
    }
});
