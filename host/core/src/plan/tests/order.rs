//! The order of messages in results.

use serde_json::{Value, json};

use baler_conversation::{Conversation, Format, Role};

use crate::accept::accept;
use crate::changes::{Changes, Origin};
use crate::fault::{Fault, PlanFault, PlanRule};
use crate::plan::{Applied, Change, Edit, Insertion, InsertionPurpose, Piece, Placement, Plan};
use crate::request::{Budget, Pins, Policy, Request};
use crate::sample;
use crate::situation::Situation;
use crate::strategy::Strategy;

/// Reads a conversation in Anthropic's format.
fn read(body: &Value) -> Conversation {
    crate::sample::conversation(&body.to_string(), Some(Format::Anthropic))
        .expect("a good conversation")
}

/// Returns the messages of the result of a plan, with a large budget and without pins.
fn messages(conversation: &Conversation, pieces: Vec<Piece>) -> Result<Vec<Value>, Fault> {
    let request = Request {
        budget: Budget::Share(0.95),
        pins: Pins::None,
        policy: Policy {
            remove_media: true,
            ..sample::policy()
        },
        ..sample::request()
    };
    let situation = Situation::new(conversation, &request, false);
    let plan = Plan {
        pieces,
        reasons: Vec::new(),
    };
    let good = accept(plan, &Strategy::truncate(), &situation)?;
    let mut result: Value = serde_json::from_str(good.conversation.document()).expect("JSON");
    Ok(serde_json::from_value(result["messages"].take()).expect("a list"))
}

fn keep(units: &[usize]) -> Vec<Piece> {
    let mut plan = Plan::default();
    units.iter().for_each(|unit| plan.keep(*unit));
    plan.pieces
}

fn insertion() -> Piece {
    Piece::Insert(Insertion {
        role: Role::User,
        purpose: InsertionPurpose::Summary,
        placement: Placement::Alone,
        text: "The parser was fixed.".to_owned(),
    })
}

fn joining(placement: Placement, text: &str) -> Piece {
    Piece::Insert(Insertion {
        role: Role::User,
        purpose: InsertionPurpose::Note,
        placement,
        text: text.to_owned(),
    })
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// Returns a text of about 2,000 characters.
fn long() -> String {
    "the parser of the tariff tables drops the last column ".repeat(40)
}

#[test]
fn nothing_precedes_a_signed_compaction() {
    let conversation = |compaction: Value| {
        read(&json!({"model": "claude-opus-5", "messages": [
            {"role": "assistant", "content": [compaction]},
            user("Go on."),
            says(&long()),
            user("And now?"),
        ]}))
    };
    let signed = json!({"type": "compaction", "content": "Fixed.", "signature": "c2ln"});
    let with_text_at = |place: usize| {
        let mut pieces = keep(&[0]);
        pieces.insert(place, insertion());
        pieces.extend(keep(&[1, 3]));
        pieces
    };
    let fault = Fault::InvalidPlan(PlanFault {
        rule: PlanRule::PrecedesFirst,
        piece: Some(1),
        unit: Some(0),
        message: None,
        part: None,
    });
    let of_signed = conversation(signed.clone());
    assert_eq!(messages(&of_signed, with_text_at(0)), Err(fault));
    let after = messages(&of_signed, with_text_at(1)).expect("a good plan");
    assert_eq!(after[0]["content"][0], signed);
    // Unsigned compactions, which the provider makes by itself, may come anywhere.
    let of_unsigned = conversation(json!({"type": "compaction", "content": "Fixed."}));
    assert_eq!(
        messages(&of_unsigned, with_text_at(0)).map(|all| all.len()),
        Ok(4)
    );
}

/// ANTH-1
#[test]
fn expired_instructions_do_not_move_after_the_message_that_ended_them() {
    let brief = json!({"role": "system", "content": "Only list.", "clear_at": "next_user_message"});
    let rule = json!({"role": "system", "content": "Be brief."});
    let of = |system: &Value| {
        read(&json!({"model": "claude-opus-5", "messages": [
            user("a"), system, says(&long()), user("b")]}))
    };
    let without_answer = |system: &Value| messages(&of(system), keep(&[0, 1, 3]));
    assert_eq!(without_answer(&brief), Ok(vec![user("a"), user("b")]));
    assert_eq!(
        without_answer(&rule),
        Ok(vec![user("a"), user("b"), rule.clone()])
    );
    // Instructions still in force stay after the user message.
    let newest = read(&json!({"model": "claude-opus-5", "messages": [
        user("a"), says(&long()), user("b"), brief.clone()]}));
    let expected = vec![user("a"), user("b"), brief.clone()];
    assert_eq!(messages(&newest, keep(&[0, 2, 3])), Ok(expected));
    // So do instructions before the answer that they were for.
    let answered = read(&json!({"model": "claude-opus-5", "messages": [
        user("a"), says(&long()), user("b"), brief.clone(), says("c"), user("d")]}));
    let expected = vec![user("a"), user("b"), brief, says("c"), user("d")];
    assert_eq!(messages(&answered, keep(&[0, 2, 3, 4, 5])), Ok(expected));
}

#[test]
fn text_joins_unprotected_messages_and_is_separate_next_to_protected_ones() {
    let conversation = read(&json!({"model": "claude-opus-5", "messages": [
        user("a"), says(&long()), user("b"), says(&long()), user("c")]}));
    let pieces = [
        keep(&[0]),
        vec![
            joining(Placement::JoinBefore, "First."),
            joining(Placement::JoinBefore, "Second."),
            joining(Placement::JoinAfter, "Third."),
            joining(Placement::JoinAfter, "Fourth."),
        ],
        keep(&[4]),
        vec![
            joining(Placement::JoinBefore, "Fifth."),
            joining(Placement::JoinBefore, "Sixth."),
        ],
    ]
    .concat();
    let after = messages(&conversation, pieces).expect("a good plan");
    assert_eq!(after.len(), 6);
    let has = |value: &Value, text: &str| value.as_str().is_some_and(|own| own.contains(text));
    // The first message is not pinned; the newest user message is always protected.
    assert_eq!(after[0]["content"][0]["text"], "a");
    assert!(has(&after[0]["content"][1]["text"], "First."), "{after:?}");
    assert!(has(&after[0]["content"][2]["text"], "Second."), "{after:?}");
    assert_eq!(after[3], user("c"));
    for (message, text) in [
        (1_usize, "Third."),
        (2, "Fourth."),
        (4, "Fifth."),
        (5, "Sixth."),
    ] {
        let own: &Value = &after[message];
        assert!(has(&own["content"], text), "{own}");
    }
}

/// Otherwise the text would be lost, because only the edits of the message would be written.
#[test]
fn nothing_joins_an_edited_message() {
    let picture =
        json!({"type": "image", "source": {"type": "url", "url": "https://a.test/b.png"}});
    let seen = json!({"role": "user", "content": [picture, {"type": "text", "text": "Look."}]});
    let conversation = read(&json!({"model": "claude-opus-5", "messages": [
        seen, says(&long()), user("b")]}));
    let edits = vec![Edit {
        message: 0,
        part: 0,
        change: Change::Remove,
    }];
    let rewrite = Piece::Rewrite { unit: 0, edits };
    let joined = [
        vec![joining(Placement::JoinAfter, "Lost."), rewrite.clone()],
        vec![rewrite.clone(), joining(Placement::JoinBefore, "Lost.")],
    ];
    for mut pieces in joined {
        pieces.extend(keep(&[2]));
        let fault = messages(&conversation, pieces).expect_err("it joins nothing");
        let Fault::InvalidPlan(fault) = fault else {
            panic!("{fault:?}");
        };
        assert_eq!(fault.rule, PlanRule::JoinsNothing);
    }
    let alone = [vec![rewrite], keep(&[2])].concat();
    assert_eq!(
        messages(&conversation, alone).expect("a good plan").len(),
        2
    );
}

#[test]
fn nothing_joins_a_message_after_another_insertion() {
    let conversation = read(&json!({"model": "claude-opus-5", "messages": [
        user("a"), says(&long()), user("b")]}));
    for unit in [0, 2] {
        let mut pieces = keep(&[0]);
        if unit == 2 {
            pieces.extend(keep(&[2]));
        }
        pieces.push(insertion());
        pieces.push(joining(Placement::JoinBefore, "Late."));
        if unit == 0 {
            pieces.extend(keep(&[2]));
        }
        let fault = Fault::InvalidPlan(PlanFault {
            rule: PlanRule::JoinsNothing,
            piece: Some(if unit == 2 { 3 } else { 2 }),
            unit: None,
            message: None,
            part: None,
        });
        assert_eq!(messages(&conversation, pieces), Err(fault), "{unit}");
    }
}

fn rule(text: &str) -> Value {
    json!({"role": "system", "content": text})
}

/// Returns the result of a plan that keeps these units of a conversation of these messages.
fn kept(messages_before: &[Value], units: &[usize]) -> Vec<Value> {
    let conversation = read(&json!({"model": "claude-opus-5", "messages": messages_before}));
    assert_eq!(conversation.violations(), []);
    messages(&conversation, keep(units)).expect("a good plan")
}

#[test]
fn instructions_move_after_the_user_if_the_answer_between_is_removed() {
    let before = [user("a"), rule("b"), says(&long()), user("c")];
    assert_eq!(kept(&before, &[0, 1, 3]), [user("a"), user("c"), rule("b")]);
    let longer = [&before[..], &[rule("d"), says("e"), user("f")]].concat();
    assert_eq!(
        kept(&longer, &[0, 1, 3, 4, 5, 6]),
        [
            user("a"),
            user("c"),
            rule("b"),
            rule("d"),
            says("e"),
            user("f")
        ]
    );
}

#[test]
fn instructions_get_a_note_before_them_if_no_message_precedes() {
    let before = [user(&long()), rule("b"), says("c"), user("d")];
    let after = kept(&before, &[1, 2, 3]);
    assert_eq!(after.len(), 4);
    assert_eq!(after[0]["role"], "user");
    assert_eq!(after[1..], before[1..]);
}

#[test]
fn directives_stay_in_place_if_nothing_is_removed_around_them() {
    let options = json!({"role": "system", "content": [], "output_config": {"effort": "low"}});
    let before = [
        user("a"),
        says("b"),
        options.clone(),
        user("c"),
        says(&long()),
        user("d"),
    ];
    assert_eq!(
        kept(&before, &[0, 1, 2, 3, 5]),
        [user("a"), says("b"), options, user("c"), user("d")]
    );
}

#[test]
fn instructions_are_placed_if_bound_thinking_is_removed() {
    let thinks = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]});
    let conversation = read(&json!({"model": "claude-opus-5-5", "messages": [
        user("a"), says(&long()), user("b"), rule("c"), thinks, user("d")]}));
    assert_eq!(conversation.violations(), []);
    let after = messages(&conversation, keep(&[0, 2, 3, 4, 5])).expect("a good plan");
    assert_eq!(after, [user("a"), user("b"), user("d"), rule("c")]);
}

fn changes(before: &Conversation, applied: Applied, protected: Vec<bool>) -> Changes {
    let Applied {
        outcomes,
        origins,
        insertions,
        ..
    } = applied;
    Changes::of(before, outcomes, origins, insertions, protected)
}

#[test]
fn origins_distinguish_equal_messages() {
    let ok = || says("Done.");
    let body = json!({"model": "claude-fable-5", "messages": [
        user("Sort the shells by size."), ok(), user("And the corals?"), ok(),
        user(&long()), ok(), user("Now the sea glass, too."),
    ]});
    let conversation = read(&body);
    let request = Request {
        budget: Budget::Share(0.95),
        pins: Pins::None,
        ..sample::request()
    };
    let situation = Situation::new(&conversation, &request, false);
    let plan = Plan {
        pieces: [keep(&[0, 3]), vec![insertion()], keep(&[5, 6])].concat(),
        reasons: Vec::new(),
    };
    let good = accept(plan, &Strategy::truncate(), &situation).expect("a good plan");
    let protected = situation.protected().collect();
    let changes = changes(&conversation, good.applied, protected);
    assert_eq!(
        changes.messages,
        [
            Origin::Kept(0),
            Origin::Kept(3),
            Origin::Inserted,
            Origin::Kept(5),
            Origin::Kept(6)
        ]
    );
    let places: Vec<_> = changes
        .units
        .iter()
        .map(|unit| unit.messages.clone())
        .collect();
    assert_eq!(places, [0..1, 0..0, 0..0, 1..2, 0..0, 3..4, 4..5]);
}

#[test]
fn message_with_a_joined_text_is_changed_in_a_kept_unit() {
    let body = json!({"model": "claude-fable-5", "messages": [
        user("Sort the shells by size."), says(&long()), user("Now the sea glass, too."),
    ]});
    let conversation = read(&body);
    let request = Request {
        budget: Budget::Share(0.95),
        pins: Pins::None,
        ..sample::request()
    };
    let situation = Situation::new(&conversation, &request, false);
    let plan = Plan {
        pieces: [
            keep(&[0]),
            vec![joining(Placement::JoinBefore, "It was sorted.")],
            keep(&[2]),
        ]
        .concat(),
        reasons: Vec::new(),
    };
    let good = accept(plan, &Strategy::truncate(), &situation).expect("a good plan");
    let changes = changes(&conversation, good.applied, vec![false; 3]);
    assert_eq!(changes.messages, [Origin::Changed(0), Origin::Kept(2)]);
    let joined: Vec<bool> = changes.units.iter().map(|unit| unit.is_joined).collect();
    assert_eq!(joined, [true, false, false]);
}
