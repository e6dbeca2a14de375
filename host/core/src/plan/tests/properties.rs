//! Random conversations and random plans: every plan is rejected, or its result obeys every rule.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};
use serde_json::{Value, json};

use baler_conversation::message::Message;
use baler_conversation::{Conversation, Format, Role, UnitKind};

use crate::accept::accept;
use crate::changes::UnitOutcome;
use crate::plan::{
    Change, Edit, Insertion, InsertionPurpose, Piece, Placement, Plan, Reason, Span,
};
use crate::request::{Budget, Pins, Policy, Request, SummaryRole};
use crate::situation::Situation;
use crate::strategy::Strategy as Called;
use crate::unseen;

/// A part of a conversation, not yet in a wire format.
#[derive(Debug, Clone)]
enum Turn {
    User(String),
    Picture,
    Says(String),
    /// Instructions between other messages, if the format allows them there.
    Rule(String),
    /// A response with a call for each of these outputs.
    Calls {
        outputs: Vec<String>,
        signed: bool,
    },
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{1,40}",
        "[ぁ-ん。]{1,20}",
        "(<baler:summary|</baler:|\\\\|\"|\n|never )[a-z<>:/\" ]{1,30}",
        "[a-z]{3}".prop_map(|word| format!("{word} ").repeat(80)),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        3 => text().prop_map(Turn::User),
        1 => Just(Turn::Picture),
        2 => text().prop_map(Turn::Says),
        2 => text().prop_map(Turn::Rule),
        4 => (vec(text(), 1..4), any::<bool>())
            .prop_map(|(outputs, signed)| Turn::Calls { outputs, signed }),
    ]
}

/// A last step with unseen outputs, one of which may be large.
fn ending() -> impl Strategy<Value = Option<Turn>> {
    let large = ("[a-z]{3}", 1usize..2_000).prop_map(|(word, lines)| {
        let lines = (0..lines).map(|line| format!("{word} {line}\n"));
        lines.collect::<String>()
    });
    let outputs = (text(), large, any::<bool>()).prop_map(|(small, large, is_first)| {
        if is_first {
            vec![large, small]
        } else {
            vec![small, large]
        }
    });
    let step = (outputs, any::<bool>())
        .prop_map(|(outputs, signed)| Some(Turn::Calls { outputs, signed }));
    prop_oneof![2 => Just(None), 1 => step]
}

/// A conversation of user messages and steps; the last step may be pending.
fn conversation() -> impl Strategy<Value = (Vec<Turn>, bool)> {
    (vec(turn(), 1..12), ending(), any::<bool>()).prop_map(|(mut turns, ending, pending)| {
        turns.extend(ending);
        (turns, pending)
    })
}

fn openai(turns: &[Turn], pending: bool) -> String {
    let mut messages = vec![json!({"role": "system", "content": "Be kind."})];
    let mut ids = 0;
    for (index, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Picture => messages.push(json!({"role": "user", "content": [
                {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]})),
            Turn::Says(text) => messages.push(json!({"role": "assistant", "content": text})),
            Turn::Rule(_) => {}
            Turn::Calls { outputs, signed } => {
                let first = ids;
                ids += outputs.len();
                let calls: Vec<Value> = (first..ids)
                    .map(|id| json!({"id": format!("c{id}"), "type": "function", "function": {"name": "f", "arguments": "{}"}}))
                    .collect();
                let mut message = json!({"role": "assistant", "content": null, "tool_calls": calls});
                if *signed {
                    message["reasoning_details"] = json!([{"data": "AAAA"}]);
                }
                messages.push(message);
                let waits = pending && index + 1 == turns.len();
                for (output, id) in outputs.iter().skip(usize::from(waits)).zip(first..) {
                    messages.push(json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": output}));
                }
            }
        }
    }
    json!({"model": "m", "messages": messages}).to_string()
}

fn anthropic(turns: &[Turn], pending: bool) -> String {
    let mut messages = vec![json!({"role": "user", "content": "begin"})];
    let mut ids = 0;
    for (index, turn) in turns.iter().enumerate() {
        let before = messages.last().map(|last| last["role"].clone());
        let is_behind = |role: &str| before.as_ref().is_some_and(|before| before == role);
        match turn {
            // A message of the model follows instructions.
            Turn::User(_) | Turn::Picture if is_behind("system") => {}
            Turn::Rule(_) if is_behind("assistant") => {}
            Turn::Rule(text) => messages.push(json!({"role": "system", "content": text})),
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Picture => messages.push(json!({"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}]})),
            Turn::Says(text) => messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": text}]})),
            Turn::Calls { outputs, signed } => {
                let first = ids;
                ids += outputs.len();
                let mut blocks = Vec::new();
                if *signed {
                    blocks.push(json!({"type": "thinking", "thinking": "hm", "signature": "AAAA"}));
                }
                blocks.extend((first..ids).map(|id| json!({"type": "tool_use", "id": format!("c{id}"), "name": "f", "input": {}})));
                messages.push(json!({"role": "assistant", "content": blocks}));
                if pending && index + 1 == turns.len() {
                    continue;
                }
                let mut blocks: Vec<Value> = outputs
                    .iter()
                    .zip(first..)
                    .map(|(output, id)| json!({"type": "tool_result", "tool_use_id": format!("c{id}"), "content": output}))
                    .collect();
                if *signed {
                    blocks.push(json!({"type": "text", "text": "and go on"}));
                }
                messages.push(json!({"role": "user", "content": blocks}));
            }
        }
    }
    json!({"model": "claude", "max_tokens": 9, "system": "Be kind.", "messages": messages})
        .to_string()
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        6 => Just(Role::User),
        1 => Just(Role::System),
        1 => Just(Role::Developer),
        1 => Just(Role::Assistant),
        1 => Just(Role::Tool),
    ]
}

fn insertion() -> impl Strategy<Value = Insertion> {
    let purpose = prop_oneof![
        Just(InsertionPurpose::Summary),
        Just(InsertionPurpose::Note)
    ];
    let placement = prop_oneof![
        4 => Just(Placement::Alone),
        1 => Just(Placement::JoinBefore),
        1 => Just(Placement::JoinAfter),
    ];
    (role(), purpose, placement, text()).prop_map(|(role, purpose, placement, text)| Insertion {
        role,
        purpose,
        placement,
        text,
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    // Ends that lie in many texts, and some that lie in none.
    let run =
        (0u32..400, 0u32..200).prop_map(|(start, length)| start..start.saturating_add(length));
    let change = prop_oneof![
        3 => text().prop_map(Change::Text),
        3 => vec(run, 0..4).prop_map(|mut runs| {
            runs.sort_by_key(|run| run.start);
            Change::Excerpt(runs)
        }),
        1 => Just(Change::Remove),
    ];
    (0u32..4, 0u32..3, change).prop_map(|(message, part, change)| Edit {
        message,
        part,
        change,
    })
}

/// What a plan does with a unit. Most plans go through the units in order, so that many of them are valid;
/// some pieces are out of order.
#[derive(Debug, Clone)]
enum Choice {
    Keep,
    Drop,
    Rewrite(Vec<Edit>),
    Insert(Insertion),
    Wild(Span),
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        12 => Just(Choice::Keep),
        8 => Just(Choice::Drop),
        4 => vec(edit(), 0..3).prop_map(Choice::Rewrite),
        3 => insertion().prop_map(Choice::Insert),
        1 => (any::<u32>(), any::<u32>()).prop_map(|(first, count)| Choice::Wild(Span { first, count })),
    ]
}

fn plan(choices: &[Choice], situation: &Situation) -> Plan {
    let mut plan = Plan::default();
    let units = situation.units().len();
    let mut choices = choices.iter().cycle();
    for unit in 0..units {
        match choices.next() {
            Some(Choice::Drop) if !situation.is_protected(unit) => {}
            Some(Choice::Rewrite(edits)) => plan.pieces.push(Piece::Rewrite {
                unit: unit as u32,
                edits: edits.clone(),
            }),
            Some(Choice::Insert(insertion)) => {
                plan.pieces.push(Piece::Insert(insertion.clone()));
                plan.keep(unit);
            }
            Some(Choice::Wild(span)) if unit % 7 == 6 => plan.pieces.push(Piece::Keep(*span)),
            _ => plan.keep(unit),
        }
    }
    plan.reasons.push(Reason {
        units: Span { first: 0, count: 1 },
        code: "why".to_owned(),
    });
    plan
}

/// A test case: turns and whether the last step is pending, choices, format, share, policy.
type Case = ((Vec<Turn>, bool), Vec<Choice>, bool, f64, bool);

fn case() -> impl Strategy<Value = Case> {
    (
        conversation(),
        vec(choice(), 1..12),
        any::<bool>(),
        0.2f64..1.0,
        any::<bool>(),
    )
}

#[test]
fn plan_is_rejected_or_its_result_obeys_every_rule() {
    const CASES: u32 = 1_500;
    let accepted = Accepted::default();
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&case(), |case| check_case(&case, &accepted))
        .unwrap_or_else(|error| panic!("{error}"));
    // The test is meaningful only if enough plans are accepted.
    for (number, what) in [
        (accepted.all.get(), "plans"),
        (accepted.unseen.get(), "plans with unseen outputs"),
        (accepted.shortened.get(), "plans with shortened outputs"),
    ] {
        assert!(number > CASES / 100, "only {number} {what} were accepted");
    }
    assert!(accepted.all.get() > CASES / 20);
}

/// Number of accepted plans.
#[derive(Default)]
struct Accepted {
    all: Cell<u32>,
    /// Those with unseen outputs.
    unseen: Cell<u32>,
    /// Those with unseen outputs that the host shortened.
    shortened: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// Returns the unseen outputs, each with the id of its call.
fn unseen_outputs(conversation: &Conversation) -> Vec<(String, String)> {
    unseen::units(conversation)
        .flat_map(|unit| conversation.messages(unit))
        .flat_map(Message::outputs)
        .map(|output| {
            let text = output.text(conversation.source()).into_owned();
            (output.call_id.clone(), text)
        })
        .collect()
}

/// Checks that every unseen output is in the result with its unchanged call: unchanged, or shortened by the
/// host.
fn check_unseen(
    before: &Conversation,
    after: &Conversation,
    accepted: &Accepted,
) -> TestCaseResult {
    let (old, new) = (unseen_outputs(before), unseen_outputs(after));
    // If an answer of the model was removed, older outputs are after its last message as well.
    prop_assert!(new.len() >= old.len());
    let new = &new[new.len() - old.len()..];
    let mut is_shortened = false;
    for ((id, whole), (new_id, text)) in old.iter().zip(new) {
        prop_assert_eq!(id, new_id);
        let by_host = text.starts_with("<baler:excerpt by=\"baler\"") && text != whole;
        prop_assert!(
            text == whole || by_host,
            "an unseen output was rewritten by the plan"
        );
        is_shortened |= by_host;
    }
    for unit in unseen::units(before) {
        let response = before.raw_messages(unit).next().unwrap_or_default();
        prop_assert!(after.document().contains(response));
    }
    if !old.is_empty() {
        count(&accepted.unseen);
    }
    if is_shortened {
        count(&accepted.shortened);
    }
    Ok(())
}

fn check_case(
    ((turns, pending), choices, is_anthropic, share, liberal): &Case,
    accepted: &Accepted,
) -> TestCaseResult {
    let (document, format) = if *is_anthropic {
        (anthropic(turns, *pending), Format::Anthropic)
    } else {
        (openai(turns, *pending), Format::OpenAiChat)
    };
    let before = crate::sample::conversation(&document, Some(format)).expect("reads");
    prop_assume!(before.violations().is_empty());
    let policy = if *liberal {
        Policy {
            rewrite_assistant: true,
            remove_media: true,
            summary_role: SummaryRole::System,
            ..Policy::default()
        }
    } else {
        Policy::default()
    };
    let request = Request {
        budget: Budget::Share(*share),
        pins: Pins::FirstUser,
        policy,
        ..Request::default()
    };
    let situation = Situation::new(&before, &request, false);
    let Ok(good) = accept(plan(choices, &situation), &Called::truncate(), &situation) else {
        return Ok(());
    };
    count(&accepted.all);
    let after = &good.conversation;
    prop_assert_eq!(after.violations(), &[]);
    check_unseen(&before, after, accepted)?;
    prop_assert!(after.tokens() < before.tokens());
    prop_assert!(after.tokens() <= situation.target());
    for (unit, outcome) in good.applied.outcomes.iter().enumerate() {
        prop_assert!(*outcome != UnitOutcome::Removed || !situation.is_protected(unit));
        if *outcome == UnitOutcome::Kept && before.units()[unit].kind == UnitKind::Step {
            for message in before.raw_messages(unit) {
                prop_assert!(after.document().contains(message));
            }
        }
    }
    Ok(())
}
