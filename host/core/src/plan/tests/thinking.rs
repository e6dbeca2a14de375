//! Which thinking is removed from results, and which a plan may remove.

use serde_json::{Value, json};

use baler_conversation::{Conversation, Format};

use crate::accept::accept;
use crate::fault::{Fault, PlanRule};
use crate::host::Host;
use crate::plan::{Change, Edit, Piece, Plan, Span};
use crate::receipt::{Outcome, Unchanged};
use crate::request::{Budget, Pins, Policy, Request, ThinkingPolicy};
use crate::sample;
use crate::situation::Situation;
use crate::strategy::Strategy;

fn thought(about: &str) -> Value {
    json!({"type": "thinking", "thinking": about.repeat(40), "signature": "c2ln"})
}

fn hidden() -> Value {
    json!({"type": "redacted_thinking", "data": "c2VjcmV0"})
}

/// Returns a conversation of a finished turn with a call, in units 0 to 2, and an open tool loop, in units 3
/// and 4.
fn sailing(model: &str) -> Conversation {
    sailing_with(&json!({"model": model}))
}

/// Like [`sailing`], with these members of the request.
fn sailing_with(members: &Value) -> Conversation {
    let mut body = json!({"max_tokens": 9, "messages": [
        {"role": "user", "content": "When is high tide?"},
        {"role": "assistant", "content": [thought("tide "), hidden(),
            {"type": "tool_use", "id": "a", "name": "tides", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "07:14"}]},
        {"role": "assistant", "content": [thought("clock "), {"type": "text", "text": "At 07:14."}]},
        {"role": "user", "content": "And the wind?"},
        {"role": "assistant", "content": [thought("wind "),
            {"type": "tool_use", "id": "b", "name": "wind", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "NW 4"}]},
    ]});
    for (key, value) in members.as_object().expect("an object") {
        body[key] = value.clone();
    }
    crate::sample::conversation(&body.to_string(), Some(Format::Anthropic))
        .expect("a good conversation")
}

/// Returns the document after a plan removed these parts of a unit's first message.
fn without(
    conversation: &Conversation,
    thinking: ThinkingPolicy,
    unit: u32,
    parts: &[u32],
) -> Result<Value, PlanRule> {
    let request = Request {
        budget: Budget::Share(0.9),
        policy: Policy {
            thinking,
            ..sample::policy()
        },
        ..sample::request()
    };
    let situation = Situation::new(conversation, &request, false);
    let units = u32::try_from(conversation.units().len()).expect("a few");
    let edits = parts
        .iter()
        .map(|part| Edit {
            message: 0,
            part: *part,
            change: Change::Remove,
        })
        .collect();
    let span = |first, end| {
        Piece::Keep(Span {
            first,
            count: end - first,
        })
    };
    let pieces = vec![
        span(0, unit),
        Piece::Rewrite { unit, edits },
        span(unit + 1, units),
    ];
    let pieces = pieces
        .into_iter()
        .filter(|piece| !matches!(piece, Piece::Keep(span) if span.count == 0));
    let plan = Plan {
        pieces: pieces.collect(),
        reasons: Vec::new(),
    };
    match accept(plan, &Strategy::truncate(), &situation) {
        Ok(good) => Ok(serde_json::from_str(good.conversation.document()).expect("JSON")),
        Err(Fault::InvalidPlan(fault)) => Err(fault.rule),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn plan_removes_thinking_of_a_finished_turn_and_changes_nothing_else() {
    let conversation = sailing("claude-sonnet-4-5");
    let mut wanted: Value = serde_json::from_str(conversation.document()).expect("JSON");
    let blocks = wanted["messages"][1]["content"]
        .as_array_mut()
        .expect("a list");
    blocks.drain(..2);
    let result = without(&conversation, ThinkingPolicy::Auto, 1, &[0, 1]);
    assert_eq!(result, Ok(wanted));
}

#[test]
fn plan_cannot_remove_a_part_of_a_units_thinking() {
    let conversation = sailing("claude-sonnet-4-5");
    for part in [0, 1] {
        let result = without(&conversation, ThinkingPolicy::Auto, 1, &[part]);
        assert_eq!(result, Err(PlanRule::EditNotAllowed), "{part}");
    }
}

#[test]
fn plan_cannot_remove_thinking_of_an_unfinished_turn() {
    let conversation = sailing("claude-sonnet-4-5");
    let result = without(&conversation, ThinkingPolicy::Auto, 4, &[0]);
    assert_eq!(result, Err(PlanRule::EditNotAllowed));
}

#[test]
fn plan_cannot_remove_thinking_that_the_model_binds_or_the_policy_keeps() {
    for (model, policy) in [
        ("claude-opus-5-5", ThinkingPolicy::Auto),
        ("claude-sonnet-4-5", ThinkingPolicy::Keep),
    ] {
        let result = without(&sailing(model), policy, 1, &[0, 1]);
        assert_eq!(result, Err(PlanRule::EditNotAllowed), "{model}");
    }
}

/// Returns a request that says what the provider does with thinking after a change.
fn with_mismatch_behavior(behavior: &str) -> Conversation {
    let thinking =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behavior}});
    sailing_with(&json!({"model": "x", "thinking": thinking}))
}

/// Returns the result of a plan of these pieces, and the number of removed blocks of thinking.
fn applied(conversation: &Conversation, pieces: Vec<Piece>) -> (Value, usize) {
    let request = Request {
        budget: Budget::Share(0.95),
        pins: Pins::None,
        ..sample::request()
    };
    let situation = Situation::new(conversation, &request, false);
    let plan = Plan {
        pieces,
        reasons: Vec::new(),
    };
    let good = accept(plan, &Strategy::truncate(), &situation).expect("a good plan");
    let result = serde_json::from_str(good.conversation.document()).expect("JSON");
    (result, good.applied.thinking_removed)
}

fn keep(first: u32, count: u32) -> Piece {
    Piece::Keep(Span { first, count })
}

#[test]
fn mismatch_behavior_error_binds_thinking_of_any_model() {
    let (result, removed) = applied(
        &with_mismatch_behavior("error"),
        vec![keep(0, 1), keep(2, 3)],
    );
    assert_eq!(removed, 2);
    assert!(!result.to_string().contains("\"thinking\":\"clock"));
}

/// The provider ignores thinking that does not fit any more, and all thinking after it. A gap made by a
/// strategy would make it ignore all thinking after the gap.
#[test]
fn mismatch_behavior_drop_keeps_thinking_and_no_plan_removes_it() {
    let conversation = with_mismatch_behavior("drop_block");
    let (result, removed) = applied(&conversation, vec![keep(0, 1), keep(2, 3)]);
    assert_eq!(removed, 0);
    assert!(result.to_string().contains("\"thinking\":\"clock"));
    let removed = without(&conversation, ThinkingPolicy::Auto, 1, &[0, 1]);
    assert_eq!(removed, Err(PlanRule::EditNotAllowed));
}

#[test]
fn thinking_is_kept_before_a_rewritten_output_and_removed_after_it() {
    let conversation = crate::sample::conversation(
        &json!({"model": "claude-opus-5-5", "max_tokens": 9, "messages": [
            {"role": "user", "content": "When is high tide?"},
            {"role": "assistant", "content": [thought("tide "),
                {"type": "tool_use", "id": "a", "name": "tides", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "high water ".repeat(400)}]},
            {"role": "assistant", "content": [thought("clock "), {"type": "text", "text": "At 07:14."}]},
            {"role": "user", "content": "And the wind?"},
        ]})
        .to_string(),
        Some(Format::Anthropic),
    )
    .expect("a good conversation");
    let edits = vec![Edit {
        message: 1,
        part: 0,
        change: Change::Text("high water at 07:14".to_owned()),
    }];
    let pieces = vec![keep(0, 1), Piece::Rewrite { unit: 1, edits }, keep(2, 2)];
    let (result, removed) = applied(&conversation, pieces);
    assert_eq!(removed, 1);
    let before: Value = serde_json::from_str(conversation.document()).expect("JSON");
    assert_eq!(result["messages"][1], before["messages"][1]);
    assert_eq!(
        result["messages"][3]["content"],
        json!([{"type": "text", "text": "At 07:14."}])
    );
}

/// A finished turn in which the model thought, called, thought again and then said `said`.
fn ends_with(model: &str, said: &str) -> Conversation {
    let body = json!({"model": model, "max_tokens": 9, "messages": [
        {"role": "user", "content": "When is high tide?"},
        {"role": "assistant", "content": [thought("tide "),
            {"type": "tool_use", "id": "a", "name": "tides", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "07:14"}]},
        {"role": "assistant", "content": [thought("clock "), {"type": "text", "text": said}]},
        {"role": "user", "content": "Well?"},
    ]});
    crate::sample::conversation(&body.to_string(), Some(Format::Anthropic))
        .expect("a good conversation")
}

/// Beside thinking the provider accepts white space, alone it does not (ANTH-6).
#[test]
fn white_space_does_not_stay_without_the_thinking_beside_it() {
    for (said, may_go) in [(" \n", false), ("At 07:14.", true)] {
        let conversation = ends_with("claude-sonnet-4-5", said);
        let result = without(&conversation, ThinkingPolicy::Auto, 2, &[0]);
        assert_eq!(result.is_ok(), may_go, "{said:?}: {result:?}");
    }
    // Without an older turn all bound thinking goes, and with it the message that says nothing else.
    let mut body: Value =
        serde_json::from_str(ends_with("claude-opus-5-5", " \n").document()).expect("JSON");
    let messages = body["messages"].as_array_mut().expect("a list");
    let earlier = [
        json!({"role": "user", "content": "Hello."}),
        json!({"role": "assistant", "content": "Good morning! ".repeat(40).trim_end()}),
    ];
    messages.splice(0..0, earlier);
    let conversation = crate::sample::conversation(&body.to_string(), Some(Format::Anthropic))
        .expect("a good conversation");
    let units = u32::try_from(conversation.units().len()).expect("a few");
    let (result, removed) = applied(&conversation, vec![keep(0, 1), keep(2, units - 2)]);
    assert_eq!(removed, 2);
    let messages = &body["messages"];
    let call = json!({"role": "assistant", "content": [messages[3]["content"][1]]});
    let expected = json!([messages[0], messages[2], call, messages[4], messages[6]]);
    assert_eq!(result["messages"], expected);
}

/// Adjacent model messages are one unit while one of them has thinking (ANTH-2), and two afterwards. The
/// answer is protected, because the outputs before it are (the newest user text is next to them).
#[tokio::test]
async fn second_compaction_below_the_floor_changes_nothing_after_thinking_was_removed() {
    let says = |text: &str| {
        let text = text.repeat(20);
        json!({"type": "text", "text": text.trim_end()})
    };
    let body = json!({"model": "claude-opus-5-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "When is high tide?"},
        {"role": "assistant", "content": [says("Let me see. ")]},
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [thought("tide "),
            {"type": "tool_use", "id": "a", "name": "tides", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "07:14"},
            {"type": "text", "text": "And the wind?"}]},
        {"role": "assistant", "content": [thought("wind "), says("High water is at 07:14. ")]},
        {"role": "assistant", "content": [says("The wind is NW 4. ")]},
    ]});
    let host = Host::builder().build().expect("a host");
    let conversation = host.read(body.to_string()).expect("reads");
    assert_eq!(conversation.units().len(), 5);
    let request = Request {
        budget: Budget::Tokens(1),
        ..sample::request()
    };
    let once = host
        .compact(&conversation, &[], &request)
        .await
        .expect("no archive");
    assert_eq!(once.receipt().units.removed, 1);
    assert_eq!(once.receipt().units.thinking_removed, 2);
    assert_eq!(once.conversation().units().len(), 5);
    let twice = host
        .compact(once.conversation(), &[], &request)
        .await
        .expect("no archive");
    assert_eq!(
        twice.receipt().outcome,
        Outcome::Unchanged(Unchanged::AtFloor)
    );
    assert_eq!(twice.document(), once.document());
}
