use baler_strategy::testing::{Recording, TestRun, call, run};

use crate::LangchainTrim;

/// Instructions of 10 tokens, a greeting and an answer of 20 each, a step of 50 in two messages, an answer of 20, and
/// the user again.
fn chat() -> Recording {
    Recording::new()
        .system("Be brief.")
        .tokens(10)
        .user("Hello.")
        .tokens(20)
        .step("Hello!", [])
        .tokens(20)
        .step("", [call("ls", "{}", "a b c")])
        .tokens(50)
        .step("Three files.", [])
        .tokens(20)
        .user("Thanks.")
        .tokens(20)
}

#[track_caller]
fn trimmed(budget: u32, config: &str) -> TestRun {
    let recording = chat();
    let tested = run::<LangchainTrim>(&recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(
        tested.plan().is_none() || tested.fits(),
        "over budget: {}",
        tested.render()
    );
    tested
}

#[test]
fn the_last_messages_that_fit_stay() {
    assert_eq!(trimmed(100, "").kept(), [0, 3, 4, 5]);
    // One token less, and the step goes with its output.
    assert_eq!(trimmed(99, "").kept(), [0, 4, 5]);
    assert!(trimmed(140, "").unchanged().is_some());
}

#[test]
fn the_result_starts_on_a_type() {
    assert_eq!(trimmed(139, r#"{"start-on":["human"]}"#).kept(), [0, 5]);
    assert_eq!(
        trimmed(139, r#"{"start-on":["ai"]}"#).kept(),
        [0, 2, 3, 4, 5]
    );
}

#[test]
fn the_result_ends_on_a_type() {
    // What the user said last is not in the window, but protected.
    let config = r#"{"end-on":["ai"],"max-tokens":100}"#;
    assert_eq!(trimmed(1_000, config).kept(), [0, 2, 3, 4, 5]);
    let config = r#"{"end-on":["tool"],"max-tokens":80}"#;
    assert_eq!(trimmed(1_000, config).kept(), [0, 2, 3, 5]);
}

#[test]
fn the_first_messages_that_fit_stay() {
    // Besides what the user said last.
    assert_eq!(trimmed(79, r#"{"strategy":"first"}"#).kept(), [0, 1, 2, 5]);
    assert_eq!(trimmed(69, r#"{"strategy":"first"}"#).kept(), [0, 1, 5]);
    let config = r#"{"strategy":"first","max-tokens":100}"#;
    assert_eq!(trimmed(1_000, config).kept(), [0, 1, 2, 3, 5]);
    let config = r#"{"strategy":"first","max-tokens":100,"end-on":["human"]}"#;
    assert_eq!(trimmed(1_000, config).kept(), [0, 1, 5]);
}

#[test]
fn messages_are_counted_with_instructions() {
    let of = |max: u32| format!(r#"{{"token-counter":"messages","max-tokens":{max}}}"#);
    assert_eq!(trimmed(1_000, &of(5)).kept(), [0, 3, 4, 5]);
    assert_eq!(trimmed(1_000, &of(4)).kept(), [0, 4, 5]);
    assert_eq!(trimmed(1_000, &of(3)).kept(), [0, 4, 5]);
}

#[test]
fn protected_units_come_out_of_the_window() {
    let recording = Recording::new()
        .user("The task.")
        .tokens(40)
        .pin()
        .step("one", [])
        .tokens(40)
        .step("two", [])
        .tokens(40)
        .user("And?")
        .tokens(10);
    let tested = run::<LangchainTrim>(&recording, &recording.situation(100), "").expect("a report");
    assert_eq!(tested.kept(), [0, 2, 3]);
    assert_eq!(tested.count("removed-for-budget"), Some(1));
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    for config in [
        r#"{"strategy":"first","start-on":["human"]}"#,
        r#"{"token-counter":"messages"}"#,
        r#"{"max_tokens":5}"#,
    ] {
        let recording = chat();
        assert!(
            run::<LangchainTrim>(&recording, &recording.situation(50), config).is_err(),
            "{config}"
        );
    }
}
