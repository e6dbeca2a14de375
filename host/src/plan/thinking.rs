//! Which thinking a plan may leave out.

use serde_json::{Value, json};

use super::{Change, Edit, Piece, Plan, Span};
use crate::compaction::accept;
use crate::conversation::Conversation;
use crate::fault::{Fault, PlanRule};
use crate::formats::Format;
use crate::situation::{Budget, Policy, Request, Situation, ThinkingPolicy};
use crate::strategy::Strategy;

fn thought(about: &str) -> Value {
    json!({"type": "thinking", "thinking": about.repeat(40), "signature": "c2ln"})
}

fn hidden() -> Value {
    json!({"type": "redacted_thinking", "data": "c2VjcmV0"})
}

/// A finished turn with a call, in units 0 to 2, and an open loop, in units 3 and 4.
fn sailing(model: &str) -> Conversation {
    let body = json!({"model": model, "max_tokens": 9, "messages": [
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
    Conversation::of(&body.to_string(), Some(Format::Anthropic)).expect("a good conversation")
}

/// The conversation where these parts of a unit's first message are left out.
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
            ..Policy::default()
        },
        ..Request::default()
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
fn that_of_a_finished_turn_may_go_and_all_else_stays_byte_for_byte() {
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
fn it_goes_as_a_whole_or_not_at_all() {
    let conversation = sailing("claude-sonnet-4-5");
    for part in [0, 1] {
        let result = without(&conversation, ThinkingPolicy::Auto, 1, &[part]);
        assert_eq!(result, Err(PlanRule::EditNotAllowed), "{part}");
    }
}

#[test]
fn that_of_the_turn_that_goes_on_stays() {
    let conversation = sailing("claude-sonnet-4-5");
    let result = without(&conversation, ThinkingPolicy::Auto, 4, &[0]);
    assert_eq!(result, Err(PlanRule::EditNotAllowed));
}

#[test]
fn it_stays_where_the_model_binds_it_or_the_policy_keeps_it() {
    for (model, policy) in [
        ("claude-opus-5-5", ThinkingPolicy::Auto),
        ("claude-sonnet-4-5", ThinkingPolicy::Keep),
    ] {
        let result = without(&sailing(model), policy, 1, &[0, 1]);
        assert_eq!(result, Err(PlanRule::EditNotAllowed), "{model}");
    }
}
