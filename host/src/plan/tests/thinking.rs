//! Which thinking a plan may leave out.

use serde_json::{Value, json};

use baler_conversation::{Conversation, Format};

use crate::fault::{Fault, PlanRule};
use crate::host::Host;
use crate::plan::{Change, Edit, Piece, Plan, Span};
use crate::receipt::{Outcome, Unchanged};
use crate::request::{Budget, Pins, Policy, Request, ThinkingPolicy};
use crate::situation::Situation;
use crate::strategy::Strategy;
use crate::verify::accept;

fn thought(about: &str) -> Value {
    json!({"type": "thinking", "thinking": about.repeat(40), "signature": "c2ln"})
}

fn hidden() -> Value {
    json!({"type": "redacted_thinking", "data": "c2VjcmV0"})
}

/// A finished turn with a call, in units 0 to 2, and an open loop, in units 3 and 4.
fn sailing(model: &str) -> Conversation {
    sailing_where(&json!({"model": model}))
}

/// The same with these members of the request.
fn sailing_where(members: &Value) -> Conversation {
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

/// A request that says what is to become of thinking behind a change.
fn asking_to(behavior: &str) -> Conversation {
    let thinking =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behavior}});
    sailing_where(&json!({"model": "x", "thinking": thinking}))
}

/// The result without the units that `pieces` leaves out, and how many blocks of thinking went.
fn carried_out(conversation: &Conversation, pieces: Vec<Piece>) -> (Value, usize) {
    let request = Request {
        budget: Budget::Share(0.95),
        pins: Pins::None,
        ..Request::default()
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
fn a_request_that_asks_for_an_error_binds_thinking_whatever_its_model() {
    let (result, dropped) = carried_out(&asking_to("error"), vec![keep(0, 1), keep(2, 3)]);
    assert_eq!(dropped, 2);
    assert!(!result.to_string().contains("\"thinking\":\"clock"));
}

/// The API leaves out what does not fit any more, and all behind that. A gap that a strategy cuts would
/// cost all thinking behind it.
#[test]
fn thinking_that_the_provider_drops_itself_stays_and_no_plan_removes_it() {
    let conversation = asking_to("drop_block");
    let (result, dropped) = carried_out(&conversation, vec![keep(0, 1), keep(2, 3)]);
    assert_eq!(dropped, 0);
    assert!(result.to_string().contains("\"thinking\":\"clock"));
    let removed = without(&conversation, ThinkingPolicy::Auto, 1, &[0, 1]);
    assert_eq!(removed, Err(PlanRule::EditNotAllowed));
}

#[test]
fn thinking_in_front_of_a_rewritten_result_stays_and_that_behind_it_goes() {
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
    let (result, dropped) = carried_out(&conversation, pieces);
    assert_eq!(dropped, 1);
    let before: Value = serde_json::from_str(conversation.document()).expect("JSON");
    assert_eq!(result["messages"][1], before["messages"][1]);
    assert_eq!(
        result["messages"][3]["content"],
        json!([{"type": "text", "text": "At 07:14."}])
    );
}

/// Neighbours of the model's are one unit while one of them thinks (ANTH-2), and two once that is gone.
/// The answer stays, since outputs in front of it do (the user says the newest words beside them).
#[tokio::test]
async fn below_the_floor_a_second_compaction_changes_nothing_where_thinking_went() {
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
        ..Request::default()
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
