use baler_strategy::testing::{Call, Recording, TestRun, call, run};
use baler_strategy::{Conversation, Decision, Situation, Strategy as _};

use crate::{Config, LangchainClearToolUses};

fn read(name: &str) -> Call {
    call(name, "{}", &"x".repeat(800))
}

/// The task, a step with two outputs of 200 tokens, and three steps with one each.
fn agent() -> Recording {
    Recording::new()
        .user("Fix it.")
        .step("", [read("ls"), read("cat")])
        .step("", [read("ls")])
        .step("", [read("cat")])
        .step("", [read("ls")])
}

#[track_caller]
fn cleared(situation: &Situation, config: &str) -> TestRun {
    run::<LangchainClearToolUses>(&agent(), situation, config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

fn plenty() -> Situation {
    agent().situation(10_000)
}

#[test]
fn all_but_the_newest_three_are_cleared() {
    assert_eq!(
        cleared(&plenty(), "").render(),
        "keep 0 user protected\n\
         rewrite 1 step\n  1.0 [cleared]\n  2.0 [cleared]\n\
         keep 2 step\nkeep 3 step\nkeep 4 step\n"
    );
    assert_eq!(cleared(&plenty(), r#"{"keep":5}"#).plan(), None);
    assert_eq!(
        cleared(&plenty(), r#"{"keep":0}"#).count("outputs-replaced"),
        Some(5)
    );
}

#[test]
fn excluded_tools_stay() {
    let tested = cleared(
        &plenty(),
        r#"{"keep":1,"exclude-tools":["cat"],"placeholder":"(gone)"}"#,
    );
    assert!(
        tested
            .render()
            .contains("rewrite 1 step\n  1.0 (gone)\nrewrite 2 step"),
        "{}",
        tested.render()
    );
    assert_eq!(tested.count("outputs-replaced"), Some(2));
}

#[test]
fn clearing_ends_when_it_saved_enough() {
    // Each output saves 200 tokens less 43.
    let tested = cleared(&plenty(), r#"{"keep":0,"clear-at-least":158}"#);
    assert_eq!(tested.count("outputs-replaced"), Some(2));
    let tested = cleared(&plenty(), r#"{"keep":0,"clear-at-least":157}"#);
    assert_eq!(tested.count("outputs-replaced"), Some(1));
}

#[test]
fn what_is_still_too_large_is_removed() {
    let tested = cleared(&agent().situation(500), "");
    assert_eq!(tested.kept(), [0, 3, 4]);
    assert!(tested.fits());
}

#[test]
fn it_is_due_above_the_trigger_as_long_as_something_can_be_cleared() {
    let recording = agent();
    let conversation = Conversation::new(&recording);
    let decision = |config: Config| {
        LangchainClearToolUses::should_compact(&conversation, &plenty(), &config)
            .expect("it decides")
    };
    let low = Config {
        trigger: 900,
        ..Config::default()
    };
    assert!(matches!(decision(low.clone()), Decision::Compact(_)));
    assert!(matches!(
        decision(Config { keep: 5, ..low }),
        Decision::Wait(_)
    ));
    assert!(matches!(decision(Config::default()), Decision::Wait(_)));
}
