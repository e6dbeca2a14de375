use serde_json::json;

use super::*;
use crate::accept::accept;
use crate::plan::Plan;
use crate::request::MIN_UNPROTECTED_TOKENS;
use crate::strategy::Strategy;
use crate::text_limits::LEAST_TOKENS;
use baler_conversation::Format;

/// Returns a conversation with a task, `steps` steps that the model has answered, and an unseen output of
/// `unseen_lines` lines.
fn conversation(steps: usize, unseen_lines: usize) -> Conversation {
    let call = |id: usize| json!({"id": format!("c{id}"), "type": "function", "function": {"name": "sound", "arguments": "{}"}});
    let lines = |count: usize| -> String {
        (0..count)
            .map(|line| format!("berth {line} has a depth of {} feet\n", line * 7 % 31))
            .collect()
    };
    let mut messages = vec![json!({"role": "user", "content": "Sound the harbour."})];
    for id in 0..=steps {
        let output = lines(if id == steps { unseen_lines } else { 40 });
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call(id)]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": output}));
    }
    let document = json!({"model": "gpt-4o", "messages": messages}).to_string();
    crate::sample::conversation(&document, Some(Format::OpenAiChat)).expect("reads")
}

fn situation(conversation: &Conversation, request: &Request) -> Situation {
    Situation::new(conversation, request, false)
}

fn within(conversation: &Conversation, tokens: u32) -> Situation {
    situation(conversation, &Request::new(Budget::Tokens(tokens)))
}

/// The tokens of the only unseen output.
fn unseen_tokens(situation: &Situation) -> u32 {
    let [only] = situation.stay.shortening.texts() else {
        panic!("one output");
    };
    only.tokens
}

#[test]
fn floor_counts_the_task_and_the_unseen_output_at_its_shortest() {
    let conversation = conversation(3, 200);
    let situation = within(&conversation, conversation.tokens());
    let [task, .., last] = conversation.units() else {
        panic!("more than one unit");
    };
    let saved = unseen_tokens(&situation) - LEAST_TOKENS;
    assert_eq!(
        situation.stay.floor.tokens,
        conversation.overhead() + task.tokens + last.tokens - saved
    );
    let units = conversation.units().len();
    assert_eq!(situation.shortest_tokens_of(0), task.tokens);
    assert_eq!(situation.shortest_tokens_of(units - 1), last.tokens - saved);
}

#[test]
fn share_that_is_too_small_still_leaves_room_for_a_summary() {
    // The second has fewer than 1,000 tokens that may go, and half of them stay.
    for steps in [8, 1] {
        let conversation = conversation(steps, 200);
        let tiny = Request::new(Budget::Share(0.001));
        let situation = situation(&conversation, &tiny);
        let others = conversation.tokens() - situation.stay.floor.tokens;
        let room = situation.limits.tokens - situation.stay.floor.tokens;
        assert_eq!(room, (others / 2).min(500), "{steps} steps");
    }
}

#[test]
fn limits_are_below_the_floor_from_one_less_than_it_on() {
    let pictures = json!([{"type": "text", "text": "Is this the pier?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,eQ=="}}]);
    let document = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello, too. ".repeat(90)},
        {"role": "user", "content": pictures}]});
    let conversation = crate::sample::conversation(&document.to_string(), Some(Format::OpenAiChat))
        .expect("reads");
    let whole = within(&conversation, conversation.tokens());
    let (tokens, bytes) = (whole.stay.floor.tokens, whole.stay.floor.bytes);
    assert!(bytes < conversation.bytes());
    for (less, quantity) in [
        ((0, 0, 0), None),
        ((1, 0, 0), Some(Quantity::Tokens)),
        ((0, 1, 0), Some(Quantity::Bytes)),
        ((0, 0, 1), Some(Quantity::Media)),
    ] {
        let request = Request::new(Budget::Tokens(tokens - less.0))
            .with_max_bytes(Some(bytes - less.1))
            .with_max_media(Some(2 - less.2));
        let found = situation(&conversation, &request)
            .below_floor()
            .collect::<Vec<_>>();
        assert_eq!(found, Vec::from_iter(quantity), "{less:?}");
    }
    // One more of each is not below it either.
    let request = Request::new(Budget::Tokens(tokens + 1))
        .with_max_bytes(Some(bytes + 1))
        .with_max_media(Some(3));
    assert!(!situation(&conversation, &request).is_below_floor());
}

/// An unseen output is shortened from the first token on by which the conversation is too large, and leaves
/// half of the free budget to other units, or an eighth if it would fit beside the protected ones.
#[test]
fn unseen_output_leaves_others_their_share() {
    let conversation = conversation(8, 200);
    let all = conversation.tokens();
    let whole = within(&conversation, all);
    let unseen = unseen_tokens(&whole);
    let protected = whole.stay.floor.tokens + unseen - LEAST_TOKENS;
    let others = all - protected;
    assert_eq!(whole.stay.shortening.cap(), u32::MAX);
    for budget in (whole.stay.floor.tokens..all).step_by(97).chain([all - 1]) {
        let free = budget - whole.stay.floor.tokens;
        let reserve = if budget >= protected {
            free / 8
        } else {
            (free / 2).max(free.min(MIN_UNPROTECTED_TOKENS))
        };
        let expected = LEAST_TOKENS + free - reserve.min(others);
        let found = within(&conversation, budget).stay.shortening.cap();
        if expected >= unseen {
            assert_eq!(found, u32::MAX, "{budget}");
        } else {
            assert_eq!(found, expected, "{budget}");
        }
    }
}

#[test]
fn unseen_output_is_shortened_for_bytes_too() {
    let conversation = conversation(2, 400);
    let tokens = conversation.tokens();
    let capped = |bytes: usize| {
        let request = Request::new(Budget::Tokens(tokens)).with_max_bytes(Some(bytes));
        situation(&conversation, &request).stay.shortening.cap()
    };
    let least = within(&conversation, tokens).stay.floor.bytes;
    assert_eq!(capped(conversation.bytes()), u32::MAX);
    let caps = [0, 1_000, 2_000].map(|more| capped(least + more));
    assert!(
        LEAST_TOKENS < caps[0] && caps.is_sorted_by(|one, other| one < other),
        "{caps:?}"
    );
    assert!(caps[2] < u32::MAX);
    // Fewer bytes than the floor has cannot be had.
    assert_eq!(capped(least - 1), LEAST_TOKENS);
}

#[test]
fn conversation_that_fits_with_shortened_outputs_stays_otherwise_whole() {
    let conversation = conversation(1, 400);
    let budget = conversation.tokens() * 3 / 4;
    let situation = within(&conversation, budget);
    assert!(situation.fits_shortened());
    let units = conversation.units().len();
    let accepted = accept(Plan::keeping(units), &Strategy::truncate(), &situation);
    let after = accepted.map(|accepted| accepted.conversation);
    let after = after.expect("it fits");
    assert_eq!(after.units().len(), units);
    assert!(after.tokens() <= budget && after.tokens() > budget / 4 * 3);
}
