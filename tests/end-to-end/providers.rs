//! What providers ask for beside the rules of their formats: limits, thinking, caches; and what
//! programs record in their logs.

use baler_corpus::sound;
use baler_host::{
    Budget, Compaction, Conversation, Format, Host, Request, Strategy,
    conversation::session_logs::LogKind,
    conversation::{ReadOptions, UnitKind},
    receipt::{Outcome, Unchanged, UnitOutcome},
    request::{Policy, ThinkingPolicy},
};
use serde_json::{Value, json};

use crate::support::{bundled, compacted_by, host, listing};

fn read(document: &Value) -> Conversation {
    host().read(document.to_string()).expect("it reads")
}

async fn compact(conversation: &Conversation, request: &Request) -> Compaction {
    host()
        .compact(conversation, &[Strategy::truncate()], request)
        .await
        .expect("no archive that could fail")
}

fn budget(tokens: u32) -> Request {
    Request::default().with_budget(Budget::Tokens(tokens))
}

/// Steps with signed thinking, for a model.
fn thinking(model: &str, body: Value) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Plan a week in Porto."})];
    for step in 0..6 {
        let id = format!("toolu_{step}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("Day {step}."), "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "c2VjcmV0"},
            {"type": "tool_use", "id": id, "name": "weather", "input": {"day": step}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": listing("sun", 200)},
        ]}));
    }
    let mut document = json!({"model": model, "max_tokens": 1024, "messages": messages});
    for (key, value) in body.as_object().into_iter().flatten() {
        document[key] = value.clone();
    }
    document
}

fn blocks(document: &str, kind: &str) -> usize {
    let body: Value = serde_json::from_str(document).expect("JSON");
    body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|message| message["content"].as_array().into_iter().flatten())
        .filter(|block| block["type"] == kind)
        .count()
}

#[tokio::test]
async fn thinking_behind_a_change_is_removed_for_models_that_refuse_it() {
    let conversation = read(&thinking("claude-opus-5-5", json!({})));
    let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
    assert!(compaction.is_compacted());
    let kept = blocks(compaction.document(), "tool_use");
    assert!(kept > 0);
    assert_eq!(blocks(compaction.document(), "thinking"), 0);
    assert_eq!(blocks(compaction.document(), "redacted_thinking"), 0);
    assert_eq!(compaction.receipt().units.thinking_removed, 2 * kept);
    assert!(
        compaction
            .changes()
            .outcomes()
            .contains(&UnitOutcome::Rewritten)
    );
}

/// Finished turns whose answers were thought about at length, and a question.
fn answers(model: &str) -> Value {
    let turns = (0..6).flat_map(|day| {
        let thought = format!("On day {day} ") + &"the tram may be late, ".repeat(60);
        [
            json!({"role": "user", "content": format!("What do I do on day {day}?")}),
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": thought, "signature": "c2ln"},
                {"type": "text", "text": format!("Day {day}: the tram to Foz.")},
            ]}),
        ]
    });
    let question = json!({"role": "user", "content": "And what do I pack?"});
    let messages: Vec<Value> = turns.chain([question]).collect();
    json!({"model": model, "max_tokens": 1024, "messages": messages})
}

/// ANTH-2, ANTH-5: a turn that loses its answer would go on with the user's next words, and an open
/// loop has to begin with thinking.
#[tokio::test]
async fn a_turn_whose_answer_had_to_go_is_not_opened_again() {
    let step = |id: &str, thought: Option<String>| {
        let thought =
            thought.map(|text| json!({"type": "thinking", "thinking": text, "signature": "c2ln"}));
        let call = json!({"type": "tool_use", "id": id, "name": "tides", "input": {}});
        let content: Vec<Value> = thought.into_iter().chain([call]).collect();
        [
            json!({"role": "assistant", "content": content}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "07:14"}]}),
        ]
    };
    let mut messages = vec![json!({"role": "user", "content": "When is high tide?"})];
    messages.extend(step("a", Some("The moon is full. ".repeat(400))));
    messages.extend(step("b", None));
    let answer = "It comes at 07:14, and again in the evening. ".repeat(600);
    messages.push(json!({"role": "assistant", "content": answer}));
    messages.push(json!({"role": "user", "content": "Go on."}));
    let before = read(&json!({"model": "claude-sonnet-4-5", "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": messages}));
    for strategy in [bundled(host(), "tiered").await, Strategy::digest()] {
        for percent in [5, 10, 20, 30, 50] {
            let request = Request::default().with_budget(Budget::Share(f64::from(percent) / 100.0));
            let compaction = compacted_by(&strategy, &before, &request).await;
            let attempts = &compaction.receipt().attempts;
            assert_eq!(attempts.len(), 1, "{} at {percent} %", strategy.name());
        }
    }
}

/// ANTH-5: the answer may go, and then the loop in front of it is open again. The first step alone
/// begins with thinking.
#[tokio::test]
async fn a_loop_keeps_its_thinking_in_front_of_an_answer_that_failed() {
    let thinks = |text: &str| json!({"type": "thinking", "thinking": text, "signature": "c2ln"});
    let says = |content: Value| json!({"role": "assistant", "content": content});
    let mut loop_of_calls = vec![json!({"role": "user", "content": "When is high tide?"})];
    for id in ["a", "b", "c", "d"] {
        let call = json!({"type": "tool_use", "id": id, "name": "tides", "input": {}});
        let blocks = match id {
            "a" => json!([thinks("The moon is full."), call]),
            _ => json!([call]),
        };
        loop_of_calls.push(says(blocks));
        loop_of_calls.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": listing("tide", 300)}]}));
    }
    let only_thought = says(json!([thinks("Or is it?")]));
    let go_on = json!({"role": "user", "content": "Go on."});
    for behind in [vec![only_thought, go_on], vec![says(json!(""))]] {
        let messages = [loop_of_calls.clone(), behind].concat();
        let before = read(&json!({"model": "claude-sonnet-4-5", "max_tokens": 4096,
            "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": messages}));
        assert_eq!(before.violations(), []);
        let first = compact(&before, &budget(1)).await;
        let outcomes = first.changes().outcomes();
        // Two steps and the answer that failed.
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| **outcome == UnitOutcome::Removed)
                .count(),
            3
        );
        assert!(!first.conversation().is_broken());
        assert!(first.document().contains("The moon is full."));
        let second = compact(first.conversation(), &budget(1)).await;
        assert_eq!(second.document(), first.document());
    }
}

/// ANTH-5, I3: with the answer gone, the loop begins with the step of the compaction.
#[tokio::test]
async fn a_loop_behind_a_compaction_keeps_its_thinking_when_compacted_twice() {
    let uses = |first: Option<Value>, id: &str| {
        let call = json!({"type": "tool_use", "id": id, "name": "tides", "input": {}});
        let content: Vec<Value> = first.into_iter().chain([call]).collect();
        json!({"role": "assistant", "content": content})
    };
    let result = |id: &str, text: String| {
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text}]})
    };
    let compaction = json!({"type": "compaction", "content": "The user asks for the tides."});
    let thinks = json!({"type": "thinking", "thinking": "The moon is full.", "signature": "c2ln"});
    let before = read(&json!({"model": "claude-opus-4-5", "max_tokens": 4096,
    "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [
        uses(Some(compaction), "a"),
        result("a", listing("tide", 400)),
        {"role": "assistant", "content": listing("answer", 400)},
        {"role": "user", "content": "Good. And tomorrow?"},
        uses(Some(thinks), "b"),
        result("b", listing("tide", 400)),
        uses(None, "c"),
        result("c", "07:14".to_owned()),
    ]}));
    assert_eq!(before.violations(), []);
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        for tokens in [1, 400] {
            let request = budget(tokens);
            let chain = std::slice::from_ref(&strategy);
            let first = host().compact(&before, chain, &request).await;
            let first = first.expect("no archive that could fail");
            assert!(first.is_compacted());
            assert!(first.document().contains("The moon is full."));
            let second = host().compact(first.conversation(), chain, &request).await;
            let second = second.expect("no archive that could fail");
            let what = format!("{} {tokens}", strategy.name());
            assert_eq!(second.document(), first.document(), "{what}");
        }
    }
}

/// ANTH-5: no step of the loop thinks, so it is legal only while something parts it from the user's words.
#[tokio::test]
async fn an_answer_that_failed_stays_behind_a_loop_without_thinking() {
    let says = |content: Value| json!({"role": "assistant", "content": content});
    let mut messages = vec![json!({"role": "user", "content": "When is high tide?"})];
    for id in ["a", "b", "c"] {
        messages.push(says(
            json!([{"type": "tool_use", "id": id, "name": "tides", "input": {}}]),
        ));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": listing("tide", 300)}]}));
    }
    messages.push(says(
        json!([{"type": "thinking", "thinking": "Or is it?", "signature": "c2ln"}]),
    ));
    messages.push(json!({"role": "user", "content": "Go on."}));
    let before = read(&json!({"model": "claude-sonnet-4-5", "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": messages}));
    assert_eq!(before.violations(), []);
    let first = compact(&before, &budget(1)).await;
    assert!(first.is_compacted());
    assert!(!first.receipt().fell_back);
    let outcomes = first.changes().outcomes();
    // All steps but the newest.
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == UnitOutcome::Removed)
            .count(),
        2
    );
    assert!(first.document().contains("Or is it?"));
    let second = compact(first.conversation(), &budget(1)).await;
    assert_eq!(second.document(), first.document());
}

#[tokio::test]
async fn tiered_leaves_out_old_thinking_where_that_is_enough() {
    let before = read(&answers("claude-sonnet-4-5"));
    let request = Request::default().with_budget(Budget::Share(0.6));
    let compaction = compacted_by(&bundled(host(), "tiered").await, &before, &request).await;
    let receipt = compaction.receipt();
    // Three of six are enough, and what was answered stays.
    assert_eq!(blocks(compaction.document(), "thinking"), 3);
    assert_eq!(blocks(compaction.document(), "text"), 6);
    assert_eq!(
        (receipt.units.thinking_removed, receipt.units.removed),
        (3, 0)
    );
    let codes: Vec<&str> = receipt
        .reasons
        .iter()
        .map(|reason| reason.code.as_str())
        .collect();
    assert_eq!(codes, ["parts-removed"; 3]);
}

#[tokio::test]
async fn thinking_stays_where_nothing_in_front_of_it_changed() {
    let conversation = read(&thinking("claude-opus-5-5", json!({})));
    let plan =
        budget(conversation.tokens() * 2 / 3).with_pins(baler_host::Pins::Units(vec![0, 1, 2]));
    let compaction = compact(&conversation, &plan).await;
    let kept = blocks(compaction.document(), "tool_use");
    assert!(kept > 2, "{kept}");
    assert_eq!(blocks(compaction.document(), "thinking"), 2);
}

#[tokio::test]
async fn thinking_stays_for_models_and_requests_that_take_it() {
    let drop_block = json!({"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}});
    for document in [
        thinking("claude-sonnet-4-5", json!({})),
        thinking("claude-opus-5-5", drop_block),
    ] {
        let conversation = read(&document);
        let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
        let kept = blocks(compaction.document(), "tool_use");
        assert!(compaction.is_compacted() && kept > 0);
        assert_eq!(blocks(compaction.document(), "thinking"), kept);
    }
}

#[tokio::test]
async fn the_policy_on_thinking_wins_over_the_model() {
    for (model, policy, stays) in [
        ("claude-opus-5-5", ThinkingPolicy::Keep, true),
        ("claude-sonnet-4-5", ThinkingPolicy::Drop, false),
    ] {
        let conversation = read(&thinking(model, json!({})));
        let request =
            budget(conversation.tokens() / 2).with_policy(Policy::default().with_thinking(policy));
        let compaction = compact(&conversation, &request).await;
        assert_eq!(
            blocks(compaction.document(), "thinking") > 0,
            stays,
            "{model}"
        );
    }
}

#[tokio::test]
async fn a_request_that_goes_on_from_a_stored_one_is_left_alone() {
    let document = json!({"model": "gpt-5", "previous_response_id": "resp_1", "input": [
        {"role": "user", "content": listing("thing", 500)},
        {"role": "assistant", "content": listing("thing", 500)},
        {"role": "user", "content": "And now?"},
    ]});
    let compaction = compact(&read(&document), &budget(100)).await;
    assert_eq!(
        compaction.receipt().outcome,
        Outcome::Unchanged(Unchanged::StoredByProvider)
    );
}

// `thread`: of a conversation that Anthropic holds the request carries what is new.
#[tokio::test]
async fn a_request_that_goes_on_from_a_thread_is_valid_and_left_alone() {
    let document = |kind: &str, output: &str| {
        json!({"model": "claude-sonnet-4-5", "max_tokens": 9,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "thread": {"type": kind, "previous_message_id": "msg_1"}, "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_2", "name": "weather", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "dry"}]},
        ]})
    };
    for output in ["dry", listing("sun", 5_000).as_str()] {
        let conversation = read(&document("continue", output));
        assert_eq!(conversation.violations(), []);
        let compaction = compact(&conversation, &budget(10)).await;
        assert_eq!(
            compaction.receipt().outcome,
            Outcome::Unchanged(Unchanged::StoredByProvider)
        );
        assert_eq!(compaction.document(), conversation.document());
    }
    // One that begins a thread shows all of it, so that the call is missing.
    assert_ne!(read(&document("create", "dry")).violations(), []);
}

#[tokio::test]
async fn a_request_that_begins_a_thread_is_compacted() {
    let body = json!({"thread": {"type": "create"}});
    let conversation = read(&thinking("claude-sonnet-4-5", body));
    let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
    assert!(compaction.is_compacted());
}

#[tokio::test]
async fn a_request_that_asks_its_provider_to_compact_it_is_left_alone() {
    let items = json!([
        {"role": "user", "content": listing("thing", 500)},
        {"role": "assistant", "content": listing("thing", 500)},
        {"role": "user", "content": "And now?"},
    ]);
    let plain = read(&json!({"model": "gpt-5", "input": items}));
    let mut grown = plain.clone();
    let trigger = json!({"type": "compaction_trigger"});
    grown.append(&trigger.to_string()).expect("an item");
    let mut all = items.as_array().expect("a list").clone();
    all.push(trigger);
    let triggered = read(&json!({"model": "gpt-5", "input": all}));
    let summarized = read(&thinking(
        "claude-sonnet-4-5",
        json!({"compaction": {"type": "summarize"}}),
    ));
    for conversation in [grown, triggered, summarized] {
        assert_eq!(conversation.violations(), []);
        let compaction = compact(&conversation, &budget(100)).await;
        assert_eq!(
            compaction.receipt().outcome,
            Outcome::Unchanged(Unchanged::ProviderCompacts)
        );
        assert_eq!(compaction.document(), conversation.document());
    }
    assert!(
        compact(&plain, &budget(plain.tokens() / 2))
            .await
            .is_compacted()
    );
}

/// A body over what the provider takes is no broken one: compacting mends it.
#[tokio::test]
async fn more_pictures_than_the_provider_takes_are_a_reason_to_compact() {
    let picture = json!({"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://example.org/quay.png"}}]});
    let answer = json!({"role": "assistant", "content": "A quay."});
    let messages: Vec<Value> = (0..120)
        .flat_map(|_| [picture.clone(), answer.clone()])
        .collect();
    let conversation = read(&json!({"model": "claude-sonnet-4-5", "messages": messages}));
    assert_eq!(conversation.violations().len(), 1);
    assert_eq!(conversation.violations()[0].rule.id(), "ANTH-10");
    let request = budget(conversation.tokens());
    assert!(host().is_due(&conversation, &request));
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        let compaction = host()
            .compact(&conversation, &[strategy], &request)
            .await
            .expect("no archive that could fail");
        assert!(compaction.is_compacted());
        assert!(!compaction.receipt().fell_back);
        assert_eq!(compaction.conversation().media(), 100);
        assert_eq!(compaction.conversation().violations(), []);
    }
}

/// The header of a PNG of 2,500 by 16 pixels, more than a side may have among more than 20 pictures.
const WIDE: &str = "iVBORw0KGgoAAAANSUhEUgAACcQAAAAQCAIAAAAAAAAA";

/// The same of 9,000 by 16 pixels, more than any side may have.
const TOO_WIDE: &str = "iVBORw0KGgoAAAANSUhEUgAAIygAAAAQCAIAAAAAAAAA";

/// The same of 100 by 16 pixels.
const SMALL: &str = "iVBORw0KGgoAAAANSUhEUgAAAGQAAAAQCAIAAAAAAAAA";

fn png(data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

/// A task with a picture, `steps` looks with a small picture, thinking and a failed call each, and a last request with a
/// picture of its own.
fn harbour_pictures(model: &str, task: &str, steps: usize, newest: &str) -> Value {
    let mut messages = vec![json!({"role": "user", "content": [
        {"type": "text", "text": "この桟橋を測って。 Never touch the buoys."}, png(task)]})];
    for step in 0..steps {
        let [look, depth] = [format!("look{step}"), format!("depth{step}")];
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("Quay {step}."), "signature": "c2ln"},
            {"type": "tool_use", "id": look, "name": "look", "input": {}},
            {"type": "tool_use", "id": depth, "name": "depth", "input": {}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": look, "content": [{"type": "text", "text": listing("quay", 30)}, png(SMALL)]},
            {"type": "tool_result", "tool_use_id": depth, "is_error": true, "content": "no sounding"}]}));
    }
    messages.push(json!({"role": "assistant", "content": "All quays are measured."}));
    messages.push(json!({"role": "user", "content": [{"type": "text", "text": "And this one?"}, png(newest)]}));
    json!({"model": model, "max_tokens": 1024, "messages": messages})
}

#[tokio::test]
async fn a_picture_that_the_provider_refuses_is_in_no_result_of_any_strategy() {
    let mut strategies = vec![Strategy::digest(), Strategy::truncate()];
    for name in ["sliding-window", "mask-tool-outputs", "trim", "tiered"] {
        strategies.push(bundled(host(), name).await);
    }
    for (task, newest, left_out) in [(WIDE, SMALL, 1), (TOO_WIDE, TOO_WIDE, 2)] {
        let document = harbour_pictures("claude-sonnet-4-5", task, 24, newest);
        let conversation = read(&document);
        assert!(!conversation.violations().is_empty());
        for strategy in &strategies {
            let name = strategy.name();
            let all = budget(conversation.tokens());
            assert!(host().is_due(&conversation, &all));
            let answer = host().should_compact(&conversation, strategy, &all).await;
            assert!(answer.is_due, "{name}");
            // All else fits, so all else stays.
            let compaction = compacted_by(strategy, &conversation, &all).await;
            let receipt = compaction.receipt();
            assert!(compaction.is_compacted(), "{name}");
            assert!(!receipt.fell_back, "{name}");
            assert_eq!(receipt.units.pictures_left_out, left_out, "{name}");
            assert_eq!(receipt.units.rewritten, left_out, "{name}");
            assert_eq!(receipt.units.removed, 0, "{name}");
            for share in [10, 40, 90] {
                let tokens = budget(conversation.tokens() / 100 * share);
                let compaction = compacted_by(strategy, &conversation, &tokens).await;
                assert!(compaction.is_compacted(), "{name} {share}");
                for kept in ["この桟橋を測って。 Never touch the buoys.", "And this one?"]
                {
                    assert!(compaction.document().contains(kept), "{name} {share}");
                }
                let again = compacted_by(strategy, compaction.conversation(), &tokens).await;
                assert!(!again.is_compacted(), "{name} {share}");
            }
        }
    }
}

#[tokio::test]
async fn thinking_behind_a_picture_that_was_left_out_goes_where_it_is_bound() {
    for (model, expected) in [("claude-sonnet-4-5", 3), ("claude-opus-5-5", 0)] {
        let conversation = read(&harbour_pictures(model, TOO_WIDE, 3, SMALL));
        let compaction = compact(&conversation, &budget(conversation.tokens())).await;
        assert_eq!(compaction.receipt().units.pictures_left_out, 1);
        assert_eq!(compaction.receipt().units.thinking_removed, 3 - expected);
        assert_eq!(
            blocks(compaction.document(), "thinking"),
            expected,
            "{model}"
        );
        assert_eq!(compaction.conversation().violations(), []);
    }
}

#[tokio::test]
async fn a_picture_in_a_unit_that_the_caller_named_stays() {
    let conversation = read(&harbour_pictures("claude-sonnet-4-5", TOO_WIDE, 2, SMALL));
    let request = budget(conversation.tokens()).with_pins(baler_host::Pins::Units(vec![0]));
    let compaction = compact(&conversation, &request).await;
    assert_eq!(
        compaction.receipt().outcome,
        Outcome::Unchanged(Unchanged::WithinBudget)
    );
}

#[tokio::test]
async fn what_a_provider_compacted_itself_stays_with_all_that_follows_allowed_to_go() {
    let step = |index: usize| {
        [
            json!({"type": "function_call", "call_id": format!("c{index}"), "name": "read", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": format!("c{index}"), "output": listing("row", 200)}),
        ]
    };
    let mut items = vec![json!({"role": "user", "content": "Mend the tariff parser."})];
    items.extend((0..4).flat_map(step));
    items.push(json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAA=="}));
    items.extend((4..8).flat_map(step));
    items.push(json!({"role": "user", "content": "Go on."}));
    let conversation = read(&json!({"model": "gpt-5", "input": items}));
    let unit = conversation
        .units()
        .iter()
        .position(|unit| unit.kind == UnitKind::Summary)
        .expect("the compaction is a summary");
    let compaction = compact(&conversation, &budget(1)).await;
    assert!(compaction.is_compacted());
    assert_eq!(compaction.changes().outcomes()[unit], UnitOutcome::Kept);
    assert!(
        compaction
            .document()
            .contains(r#""encrypted_content":"gAAAAA==""#)
    );
}

// RESP-7: a stored compaction may be there as a reference alone.
#[tokio::test]
async fn a_reference_that_may_stand_for_a_compaction_stays() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let says = |text: String| json!({"role": "assistant", "content": text});
    let refers = |id: &str| json!({"type": "item_reference", "id": id});
    // Older ones go, and so does one of another type behind which a compaction stands.
    for (references, stays) in [
        (["cmp_1", "cmp_2"], [false, true]),
        (["x_1", "x_2"], [false, true]),
        (["x_1", "cmp_2"], [false, true]),
        (["cmp_1", "x_2"], [true, true]),
        (["cmp_1", "msg_2"], [true, false]),
        (["rs_1", "x_2"], [false, true]),
    ] {
        let mut items = vec![user("Mend the tariff parser.")];
        for id in references {
            items.extend([
                says(listing("row", 200)),
                user("Go on."),
                refers(id),
                user("And then?"),
            ]);
        }
        items.extend([says(listing("row", 200)), user("Thank you.")]);
        let conversation = read(&json!({"model": "gpt-5", "input": items}));
        let summaries = conversation.units().iter();
        let summaries = summaries.filter(|unit| unit.kind == UnitKind::Summary);
        let compactions = references.iter().filter(|id| id.starts_with("cmp_"));
        assert_eq!(summaries.count(), compactions.count(), "{references:?}");
        let compaction = compact(&conversation, &budget(1)).await;
        assert!(compaction.is_compacted());
        let is_there = references.map(|id| compaction.document().contains(&format!("\"{id}\"")));
        assert_eq!(is_there, stays, "{references:?}");
    }
}

/// As Claude Code has it: instructions behind each turn of the user's.
fn with_instructions(steps: usize, rule: impl Fn(usize) -> Value) -> Conversation {
    let mut messages = vec![
        json!({"role": "user", "content": "Plan a week in Porto."}),
        rule(0),
    ];
    for step in 1..=steps {
        let id = format!("toolu_{step}");
        messages.extend([
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "weather", "input": {"day": step}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": listing("sun", 1_000)}]}),
            rule(step),
        ]);
    }
    let conversation =
        read(&json!({"model": "claude-opus-5", "max_tokens": 9, "messages": messages}));
    assert_eq!(conversation.violations(), []);
    conversation
}

#[tokio::test]
async fn instructions_behind_each_turn_stay_and_steps_between_them_leave() {
    let conversation = with_instructions(
        12,
        |step| json!({"role": "system", "content": format!("Rule {step}.")}),
    );
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        let request = budget(conversation.tokens() / 5);
        let compaction = compacted_by(&strategy, &conversation, &request).await;
        assert!(compaction.is_compacted());
        for step in 0..=12 {
            let rule = format!("\"Rule {step}.\"");
            assert!(compaction.document().contains(&rule), "{rule}");
        }
        let kept = blocks(compaction.document(), "tool_result");
        assert!((1..12).contains(&kept), "{kept}");
    }
}

/// Whatever leaves between them, they find a legal place, and a second run finds nothing to do.
#[tokio::test]
async fn instructions_stay_and_find_a_place_at_every_cut() {
    let rule = |step: usize| json!({"role": "system", "content": format!("Rule {step}.")});
    let mut messages = Vec::new();
    for turn in 0..5 {
        let id = format!("toolu_{turn}");
        messages.extend([
            json!({"role": "user", "content": listing("wish", 60)}),
            rule(3 * turn),
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "weather", "input": {}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": listing("sun", 300)}]}),
            rule(3 * turn + 1),
            rule(3 * turn + 2),
            json!({"role": "assistant", "content": listing("thought", 200).trim_end()}),
        ]);
    }
    let strategies = [
        Strategy::truncate(),
        Strategy::digest(),
        bundled(host(), "sliding-window").await,
        bundled(host(), "trim").await,
    ];
    let mut changed = 0;
    for cut in 1..=messages.len() {
        let conversation = read(
            &json!({"model": "claude-opus-5-5", "max_tokens": 9, "messages": messages[..cut]}),
        );
        assert_eq!(conversation.violations(), [], "{cut}");
        for strategy in &strategies {
            for percent in [10, 30, 60] {
                let what = format!("{cut}, {}, {percent} %", strategy.name());
                let run = async |conversation: &Conversation, budget: Budget| {
                    let request = Request::default().with_budget(budget);
                    host()
                        .compact(conversation, std::slice::from_ref(strategy), &request)
                        .await
                        .expect("no archive that could fail")
                };
                let share = Budget::Share(f64::from(percent) / 100.0);
                let first = run(&conversation, share).await;
                let after = first.conversation();
                assert_eq!(after.violations(), [], "{what}");
                for own in messages[..cut].iter().filter(|own| own["role"] == "system") {
                    assert!(first.document().contains(&own.to_string()), "{what}");
                }
                changed += usize::from(first.is_compacted());
                let budget = Budget::Tokens(first.receipt().tokens.budget);
                let second = run(after, budget).await;
                assert_eq!(second.document(), first.document(), "{what}");
            }
        }
    }
    assert!(changed > 100, "only {changed} results");
}

#[tokio::test]
async fn instructions_that_the_users_next_message_ended_may_leave() {
    let conversation = with_instructions(
        12,
        |step| json!({"role": "system", "content": format!("Rule {step}."), "clear_at": "next_user_message"}),
    );
    let request = budget(conversation.tokens() / 3);
    let compaction = compacted_by(&Strategy::truncate(), &conversation, &request).await;
    assert!(compaction.is_compacted());
    assert!(!compaction.document().contains("\"Rule 1.\""));
    assert!(compaction.document().contains("\"Rule 12.\""));
}

#[tokio::test]
async fn the_newest_step_stays_in_front_of_the_instructions_behind_it() {
    let conversation = with_instructions(
        1,
        |step| json!({"role": "system", "content": format!("Rule {step}.")}),
    );
    let request = budget(conversation.tokens() / 2);
    let compaction = compacted_by(&Strategy::truncate(), &conversation, &request).await;
    assert!(compaction.is_compacted());
    let result: Value = serde_json::from_str(compaction.document()).expect("JSON");
    let roles: Vec<&str> = result["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|message| message["role"].as_str())
        .collect();
    assert_eq!(roles, ["user", "system", "assistant", "user", "system"]);
    assert_eq!(blocks(compaction.document(), "tool_result"), 1);
}

#[tokio::test]
async fn a_user_message_with_instructions_in_it_stays() {
    let conversation = read(
        &json!({"model": "claude-opus-5", "max_tokens": 9, "messages": [
            {"role": "user", "content": "Mend the tariff parser."},
            {"role": "assistant", "content": listing("thought", 300)},
            {"role": "user", "content": [
                {"type": "mid_conv_system", "content": [{"type": "text", "text": "Never touch vendor/."}]},
                {"type": "text", "text": listing("row", 400)}]},
            {"role": "assistant", "content": listing("thought", 300)},
            {"role": "user", "content": listing("row", 300)},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "And now?"},
        ]}),
    );
    assert_eq!(conversation.violations(), []);
    assert!(conversation.units()[2].traits.instructions);
    let compaction = compact(&conversation, &budget(conversation.tokens() / 10)).await;
    assert!(compaction.is_compacted());
    assert_eq!(compaction.changes().outcomes()[2], UnitOutcome::Kept);
    assert_eq!(compaction.changes().outcomes()[4], UnitOutcome::Removed);
}

// ANTH-8: a failed compaction stands for nothing, so the one before it is still the newest.
#[tokio::test]
async fn a_compaction_that_failed_does_not_stand_for_what_came_before() {
    let answer = |content: Value, text: &str| {
        json!({"role": "assistant", "content": [
            {"type": "compaction", "content": content}, {"type": "text", "text": text}]})
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let conversation = read(
        &json!({"model": "claude-opus-5", "max_tokens": 9, "messages": [
            user("Mend the tariff parser."),
            answer(json!("The lexer is to blame."), "Go on?"),
            user(&listing("row", 300)),
            answer(json!(null), &listing("thought", 300)),
            user(&listing("row", 300)),
            {"role": "assistant", "content": "Done."},
            user("And now?"),
        ]}),
    );
    assert_eq!(conversation.violations(), []);
    let compaction = compact(&conversation, &budget(conversation.tokens() / 10)).await;
    assert!(compaction.is_compacted());
    assert_eq!(compaction.changes().outcomes()[1], UnitOutcome::Kept);
    assert_eq!(compaction.changes().outcomes()[3], UnitOutcome::Removed);
}

#[test]
fn what_the_provider_reported_corrects_the_counts() {
    let options = |used| ReadOptions::default().with_used(Some(used));
    let bare = json!([{"role": "user", "content": listing("thing", 300)}]);
    let whole = json!({"model": "gpt-5", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": listing("thing", 300)}]});
    let read = |document: &Value, options| {
        host()
            .read_with(document.to_string().into_bytes(), options)
            .expect("it reads")
    };
    // Without system prompt and tools, what is more is what the document does not show.
    let counted = read(&bare, ReadOptions::default());
    let hidden = read(&bare, options(counted.tokens() + 5_000));
    assert_eq!(hidden.tokens(), counted.tokens() + 5_000);
    assert_eq!(hidden.overhead(), counted.overhead() + 5_000);
    assert_eq!(hidden.units()[0].tokens, counted.units()[0].tokens);
    // With them it is the vocabulary that differs; where it is the model's own, only what is estimated is
    // too high.
    let counted = read(&whole, ReadOptions::default());
    let less = read(&whole, options(counted.tokens() * 3 / 4));
    assert_eq!(less.tokens(), counted.tokens());
    let mut whole = whole;
    whole["model"] = json!("of-our-own");
    for used in [counted.tokens() * 3 / 2, counted.tokens() * 3 / 4] {
        let scaled = read(&whole, options(used));
        let difference = scaled.tokens().abs_diff(used);
        assert!(
            difference <= used / 100 + 5,
            "{} for {used}",
            scaled.tokens()
        );
        let share = f64::from(scaled.units()[1].tokens) / f64::from(counted.units()[1].tokens);
        let wanted = f64::from(used) / f64::from(counted.tokens());
        assert!((share - wanted).abs() < 0.05, "{share} for {wanted}");
    }
}

#[tokio::test]
async fn receipt_reports_the_effect_on_the_providers_cache() {
    let mut conversation = read(&json!([
        {"role": "system", "content": listing("rule", 100)},
        {"role": "user", "content": "Mend the tariff parser."},
        {"role": "assistant", "content": listing("thought", 300)},
        {"role": "user", "content": "And the lexer."},
    ]));
    let tokens = conversation.tokens();
    assert!(
        compact(&conversation, &budget(tokens / 2))
            .await
            .receipt()
            .cache
            .is_none()
    );
    conversation.mark_sent();
    conversation
        .append(r#"{"role":"assistant","content":"Done."}"#)
        .expect("a message");
    assert_eq!(conversation.units_sent(), Some(4));
    let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
    let receipt = compaction.receipt();
    let cache = receipt.cache.expect("it is known what was sent");
    let lost: u32 = conversation.units()[2..4]
        .iter()
        .map(|unit| unit.tokens)
        .sum();
    assert_eq!(cache.tokens_cached, tokens);
    assert_eq!(cache.tokens_thrown_away, lost);
    assert_eq!(
        cache.tokens_saved,
        receipt.tokens.before - receipt.tokens.after
    );
    // The first two messages are still what the provider has seen.
    assert_eq!(compaction.conversation().units_sent(), Some(2));
}

#[test]
fn previous_request_shows_what_is_unchanged() {
    let first = json!({"model": "gpt-5", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]});
    let mut longer = first.clone();
    let messages = longer["messages"].as_array_mut().expect("a list");
    messages.push(json!({"role": "user", "content": "c"}));
    let (before, after) = (read(&first), read(&longer));
    assert_eq!(after.messages_unchanged_since(&before), 2);
    longer["messages"][1]["content"] = json!("B");
    assert_eq!(read(&longer).messages_unchanged_since(&before), 1);
    longer["model"] = json!("gpt-6");
    assert_eq!(read(&longer).messages_unchanged_since(&before), 0);
}

const LOG: &str = concat!(
    r#"{"type":"user","sessionId":"s1","uuid":"1","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"Mend the tariff parser."}}"#,
    "\n",
    r#"{"type":"assistant","sessionId":"s1","uuid":"2","parentUuid":"1","isSidechain":false,"message":{"id":"msg_1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"src/tariff.rs"}}],"usage":{"input_tokens":20000,"output_tokens":40}}}"#,
    "\n",
    r#"{"type":"user","sessionId":"s1","uuid":"3","parentUuid":"2","isSidechain":false,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"fn parse() {}"}]}}"#,
    "\n",
);

#[test]
fn a_log_is_read_as_the_request_that_it_would_go_on_with() {
    let conversation = host().read(LOG).expect("it reads");
    assert_eq!(conversation.format(), Format::Anthropic);
    assert_eq!(
        conversation.log().map(|(kind, _)| kind),
        Some(LogKind::ClaudeCode)
    );
    assert_eq!(conversation.violations(), []);
    // The system prompt and the tools are not in the log, but the provider counted them.
    assert!(conversation.overhead() > 19_000);
    let body: Value = serde_json::from_str(conversation.document()).expect("JSON");
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(3));
    let again = host().read(conversation.document()).expect("a request");
    assert!(again.log().is_none());
    assert_eq!(again.units(), conversation.units());
}

#[test]
fn a_log_that_is_being_written_may_end_anywhere() {
    let with_tail = format!("{LOG}{{\"type\":\"assistant\",\"message\":{{\"content\":\"日本");
    for end in LOG.len()..with_tail.len() {
        let bytes = with_tail.as_bytes()[..end].to_vec();
        let conversation = host().read_bytes(bytes).expect("it reads");
        assert_eq!(conversation.units().len(), 2, "cut at {end}");
    }
}

#[test]
fn a_format_that_a_log_does_not_have_is_wrong() {
    let host = Host::builder()
        .format(Format::Gemini)
        .build()
        .expect("a host");
    let error = host.read(LOG).expect_err("it is another format");
    assert_eq!(
        error.to_string(),
        "a log of claude-code becomes a request of anthropic, not of gemini; leave the format out"
    );
}

/// A summary that a program recorded is a summary to strategies, as the log is its witness; the
/// same words in a message of the user's are the user's.
#[test]
fn a_recorded_summary_is_a_summary_and_words_like_it_are_not() {
    let words = "This session is being continued from a previous conversation.";
    let log = format!(
        "{}\n{}\n{}\n",
        json!({"type": "system", "sessionId": "s1", "subtype": "compact_boundary", "uuid": "0", "parentUuid": null, "content": "Conversation compacted", "compactMetadata": {"trigger": "auto", "preTokens": 155_000}}),
        json!({"type": "user", "sessionId": "s1", "uuid": "1", "parentUuid": "0", "isSidechain": false, "isCompactSummary": true, "message": {"role": "user", "content": words}}),
        json!({"type": "user", "sessionId": "s1", "uuid": "2", "parentUuid": "1", "isSidechain": false, "message": {"role": "user", "content": format!("{words} Is that so?")}}),
    );
    let conversation = host().read(log).expect("it reads");
    let kinds: Vec<UnitKind> = conversation.units().iter().map(|unit| unit.kind).collect();
    assert_eq!(kinds, [UnitKind::Summary, UnitKind::User]);
}

// ANTH-5: without interleaved thinking only the first response of a loop thinks.
#[tokio::test]
async fn the_only_thinking_of_an_open_loop_stays_in_front_of_it() {
    let mut document = thinking(
        "claude-sonnet-4-5",
        json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    );
    for step in 1..6 {
        let blocks = document["messages"][2 * step + 1]["content"].as_array_mut();
        blocks.expect("blocks").drain(..2);
    }
    let conversation = read(&document);
    assert_eq!(conversation.violations(), []);
    let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
    assert!(compaction.is_compacted());
    assert!(!compaction.receipt().fell_back);
    let result: Value = serde_json::from_str(compaction.document()).expect("JSON");
    let messages = result["messages"].as_array().expect("messages");
    let first = messages.iter().find(|own| own["role"] == "assistant");
    assert_eq!(
        first.map(|own| &own["content"][0]["thinking"]),
        Some(&json!("Day 0."))
    );
}

// ANTH-5: the API takes such a loop, and does not think for that request.
#[tokio::test]
async fn an_open_loop_that_came_in_without_thinking_is_compacted() {
    let mut document = thinking(
        "claude-sonnet-4-5",
        json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    );
    for step in 0..6 {
        let blocks = document["messages"][2 * step + 1]["content"].as_array_mut();
        blocks.expect("blocks").drain(..2);
    }
    let conversation = read(&document);
    let messages: Vec<usize> = conversation
        .violations()
        .iter()
        .map(|own| own.message)
        .collect();
    assert_eq!(messages, [12]);
    assert!(!conversation.is_broken());
    let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
    assert!(compaction.is_compacted());
    assert!(!compaction.receipt().fell_back);
}

// ANTH-5: where the newest step thinks too, the first one need not stay, however large it is.
#[tokio::test]
async fn an_open_loop_goes_on_from_its_newest_thinking() {
    let document = thinking(
        "claude-sonnet-4-5",
        json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    );
    let mut long = document.clone();
    long["messages"][2]["content"][0]["content"] = json!(listing("rain", 9_000));
    let floors = [document, long].map(|document| {
        let conversation = read(&document);
        assert_eq!(conversation.violations(), []);
        conversation
    });
    let mut sizes = Vec::new();
    for conversation in &floors {
        let compaction = compact(conversation, &budget(1)).await;
        let result: Value = serde_json::from_str(compaction.document()).expect("JSON");
        let mut messages = result["messages"].as_array().expect("messages").iter();
        let newest = messages.rfind(|own| own["role"] == "assistant");
        let kind = newest.map(|own| &own["content"][0]["type"]);
        assert_eq!(kind, Some(&json!("thinking")));
        assert_eq!(blocks(compaction.document(), "tool_use"), 1);
        sizes.push(compaction.receipt().tokens.floor);
    }
    assert_eq!(sizes[0], sizes[1]);
}

// ALL-3, ANTH-2, ANTH-5: a client may write each block of a response as a message of its own.
#[tokio::test]
async fn a_response_over_neighbouring_messages_keeps_its_thinking_at_every_budget() {
    let mut document = thinking(
        "claude-sonnet-4-5",
        json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    );
    let mut split = Vec::new();
    for message in document["messages"].as_array().expect("messages") {
        match message["content"].as_array() {
            Some(blocks) if message["role"] == "assistant" => split.extend(
                blocks
                    .iter()
                    .map(|block| json!({"role": "assistant", "content": [block]})),
            ),
            _ => split.push(message.clone()),
        }
    }
    document["messages"] = Value::Array(split);
    let conversation = read(&document);
    assert_eq!(conversation.violations(), []);
    let mut partial = 0;
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        for tokens in (0..conversation.tokens()).step_by(10) {
            let request = budget(tokens).with_pins(baler_host::Pins::None);
            let compaction = host()
                .compact(&conversation, std::slice::from_ref(&strategy), &request)
                .await
                .expect("no archive that could fail");
            let what = format!("{} {tokens}", strategy.name());
            let after = compaction.document();
            let sound = sound::check("anthropic", conversation.document(), after);
            assert_eq!(sound, Ok(()), "{what}");
            let kept = blocks(after, "tool_use");
            assert_eq!(blocks(after, "thinking"), kept, "{what}");
            assert_eq!(blocks(after, "redacted_thinking"), kept, "{what}");
            partial += usize::from((1..6).contains(&kept));
        }
    }
    assert!(partial > 100, "only {partial} results");
}

// RESP-1, RESP-2: an `item_reference` may stand for the call of an output.
#[tokio::test]
async fn outputs_stay_with_the_references_that_may_stand_for_their_calls() {
    let mut items = vec![json!({"role": "user", "content": "Chart the reef."})];
    for turn in 0..6 {
        for call in ["depth", "tide"] {
            items.push(
                json!({"type": "reasoning", "id": format!("rs_{turn}_{call}"), "summary": []}),
            );
            items.push(json!({"type": "item_reference", "id": format!("fc_{turn}_{call}")}));
        }
        for call in ["depth", "tide"] {
            let id = format!("call_{turn}_{call}");
            items.push(json!({"type": "function_call_output", "call_id": id, "output": listing("fathoms", 120)}));
        }
        items.push(json!({"role": "user", "content": format!("And reef {turn}?")}));
    }
    let conversation = read(&json!({"model": "gpt-5", "input": items}));
    let mut whole = host()
        .read(r#"{"model":"gpt-5","input":[{"role":"user","content":"Chart the reef."}]}"#)
        .expect("it reads");
    for item in &items[1..] {
        whole.append(&item.to_string()).expect("an item");
    }
    assert_eq!(whole.units(), conversation.units());
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        for share in [0.2, 0.4, 0.6] {
            let request = Request::default().with_budget(Budget::Share(share));
            let compaction = host()
                .compact(&conversation, std::slice::from_ref(&strategy), &request)
                .await
                .expect("no archive that could fail");
            assert!(compaction.is_compacted());
            for turn in 0..6 {
                let is_there = |id: String| compaction.document().contains(&id);
                let parts = ["depth", "tide"].map(|call| {
                    [
                        is_there(format!("\"fc_{turn}_{call}\"")),
                        is_there(format!("\"call_{turn}_{call}\"")),
                    ]
                });
                assert!(
                    parts == [[true; 2]; 2] || parts == [[false; 2]; 2],
                    "{share}, {turn}: {parts:?}"
                );
            }
        }
    }
}

// RESP-2: an `item_reference` may stand for the output of a call.
#[tokio::test]
async fn calls_stay_with_the_references_that_may_stand_for_their_outputs() {
    let mut items = vec![json!({"role": "user", "content": "Chart the reef."})];
    for turn in 0..6 {
        let depths = json!({"depths": listing("fathoms", 120)}).to_string();
        items.extend([
            json!({"type": "function_call", "call_id": format!("call_{turn}_a"), "name": "chart", "arguments": depths}),
            json!({"type": "function_call", "call_id": format!("call_{turn}_b"), "name": "chart", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": format!("call_{turn}_b"), "output": "Drawn."}),
            json!({"id": format!("fco_{turn}")}),
            json!({"role": "user", "content": format!("And reef {turn}?")}),
        ]);
    }
    let conversation = read(&json!({"model": "gpt-5", "input": items}));
    assert_eq!(conversation.violations(), []);
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        for share in [0.2, 0.4, 0.6] {
            let request = Request::default().with_budget(Budget::Share(share));
            let compaction = host()
                .compact(&conversation, std::slice::from_ref(&strategy), &request)
                .await
                .expect("no archive that could fail");
            assert!(compaction.is_compacted());
            for turn in 0..6 {
                let is_there = |id: String| compaction.document().contains(&id);
                assert_eq!(
                    is_there(format!("\"call_id\":\"call_{turn}_a\"")),
                    is_there(format!("{{\"id\":\"fco_{turn}\"}}")),
                    "{share}, {turn}"
                );
            }
        }
    }
}

// ANTH-7: code that the provider runs calls a tool of the client's.
#[tokio::test]
async fn code_that_calls_the_clients_tools_stays_with_its_result() {
    stays_with_its_result(None).await;
    // The user's words behind the results are one message with them.
    stays_with_its_result(Some("Hurry.")).await;
}

async fn stays_with_its_result(remark: Option<&str>) {
    let mut messages = vec![json!({"role": "user", "content": "Sum up the catches."})];
    for day in 0..5 {
        let (code, call) = (format!("srvtoolu_{day}"), format!("toolu_{day}"));
        messages.extend([
            json!({"role": "assistant", "content": [
                {"type": "server_tool_use", "id": code, "name": "code_execution", "input": {"code": "sum()"}},
                {"type": "tool_use", "id": call, "name": "catches", "input": {"day": day},
                 "caller": {"type": "code_execution_20250825", "tool_id": code}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": call, "content": listing("cod", 100)}]}),
        ]);
        messages.extend(remark.map(|remark| json!({"role": "user", "content": remark})));
        messages.extend([
            json!({"role": "assistant", "content": [
                {"type": "code_execution_tool_result", "tool_use_id": code,
                 "content": {"type": "code_execution_result", "stdout": "6", "stderr": "", "return_code": 0, "content": []}},
                {"type": "text", "text": "Six barrels."}]}),
            json!({"role": "user", "content": format!("And on day {}?", day + 1)}),
        ]);
    }
    let body = |messages: &[Value]| json!({"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": messages});
    let conversation = read(&body(&messages));
    assert_eq!(conversation.violations(), []);
    let lengths: Vec<usize> = conversation
        .units()
        .iter()
        .map(|unit| unit.messages)
        .collect();
    let step = 3 + usize::from(remark.is_some());
    assert_eq!(lengths, [1, step, 1, step, 1, step, 1, step, 1, step, 1]);
    let mut grown = read(&body(&messages[..1]));
    for (index, message) in messages.iter().enumerate().skip(1) {
        grown.append(&message.to_string()).expect("a message");
        assert_eq!(grown.violations(), [], "{index}");
    }
    assert_eq!(grown.units(), conversation.units());
    let compaction = compact(&conversation, &budget(conversation.tokens() / 2)).await;
    assert!(compaction.is_compacted());
    let document = compaction.document();
    assert!(blocks(document, "server_tool_use") > 0, "{document}");
    assert_eq!(
        blocks(document, "server_tool_use"),
        blocks(document, "code_execution_tool_result")
    );
    assert_eq!(
        blocks(document, "server_tool_use"),
        blocks(document, "tool_use")
    );
}
