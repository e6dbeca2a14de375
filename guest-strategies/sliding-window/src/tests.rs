mod config;

mod limits;

mod seeds;

use baler_strategy::Piece;
use baler_strategy::testing::{Recording, TestRun, call, failed, pending, run};

use crate::SlidingWindow;

const PLENTY: u32 = 100_000;

/// Instructions, the task, five steps of 100 tokens in two messages each.
fn agent() -> Recording {
    (0..5).fold(
        Recording::new()
            .system("Be careful.")
            .tokens(50)
            .user("Fix it.")
            .tokens(30),
        |recording, n| {
            recording
                .step(&n.to_string(), [call("ls", "{}", "a b")])
                .tokens(100)
        },
    )
}

#[track_caller]
fn window(recording: &Recording, budget: u32, config: &str) -> TestRun {
    let tested = run::<SlidingWindow>(recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(
        tested.plan().is_none() || tested.fits(),
        "over budget: {}",
        tested.render()
    );
    tested
}

#[test]
fn the_newest_units_stay_and_protected_ones_do_not_count() {
    let tested = window(&agent(), PLENTY, r#"{"keep":{"units":2}}"#);
    assert_eq!(
        tested.render(),
        "keep 0 instructions protected\n\
         keep 1 user protected\n\
         drop 2 step\n\
         drop 3 step\n\
         drop 4 step\n\
         keep 5 step\n\
         keep 6 step\n"
    );
    let metrics = ["units-kept", "units-removed", "window-tokens"].map(|name| tested.count(name));
    assert_eq!(metrics, [Some(4), Some(3), Some(200)]);
}

#[test]
fn messages_snap_to_units() {
    // Two steps have four messages; the fifth message would part a step.
    let tested = window(&agent(), PLENTY, r#"{"keep":{"messages":5}}"#);
    assert_eq!(tested.kept(), [0, 1, 5, 6]);
}

#[test]
fn tokens_snap_to_units() {
    let tested = window(&agent(), PLENTY, r#"{"keep":{"tokens":399}}"#);
    assert_eq!(tested.kept(), [0, 1, 4, 5, 6]);
}

#[test]
fn parallel_calls_are_one_unit() {
    let calls = (0..4).map(|n| call("ls", &n.to_string(), "a b"));
    let recording = agent().step("", calls).tokens(100);
    // The newest step alone has five messages.
    assert_eq!(
        window(&recording, PLENTY, r#"{"keep":{"messages":6}}"#).kept(),
        [0, 1, 7]
    );
    assert_eq!(
        window(&recording, PLENTY, r#"{"keep":{"messages":4}}"#).kept(),
        [0, 1]
    );
}

#[test]
fn a_unit_that_does_not_fit_ends_the_window() {
    let recording = Recording::new()
        .user("small")
        .tokens(10)
        .user("medium")
        .tokens(45)
        .user("second")
        .tokens(50)
        .user("newest")
        .tokens(10);
    assert_eq!(window(&recording, 100, "").kept(), [2, 3]);
}

/// The task, ten receipts of 100 tokens, and a log of 10,000 tokens between them and the model's answer.
fn receipts_and_a_log(log: baler_strategy::testing::Call) -> Recording {
    let receipts = Recording::new().user("Pay the bills.").tokens(20);
    (0..10)
        .fold(receipts, |recording, n| {
            let paid = call("pay", &n.to_string(), "paid");
            recording.step("", [paid]).tokens(100)
        })
        .step("", [log])
        .step("All are paid.", [])
        .tokens(20)
        .user("Which ones?")
        .tokens(20)
}

#[test]
fn a_huge_output_is_shortened_and_older_units_stay() {
    let recording = receipts_and_a_log(call("log", "{}", &"lock gate closed\n".repeat(2_400)));
    let tested = window(&recording, 2_000, "");
    assert_eq!(tested.kept(), (0..14).collect::<Vec<_>>());
    let shown = tested.render();
    assert!(
        shown.contains("rewrite 11 step\n  1.0 lock gate closed\n"),
        "{shown}"
    );
    // What the receipts leave of the budget is for the excerpt.
    assert!(tested.tokens() > 1_800, "{}", tested.tokens());
    let in_window = tested.count("window-tokens");
    assert!(
        in_window.is_some_and(|tokens| tokens < 2_000),
        "{in_window:?}"
    );
}

#[test]
fn the_window_passes_over_a_huge_output_that_must_not_be_shortened() {
    let log = call("log", "{}", &"lock gate closed\n".repeat(2_400)).fixed();
    let tested = window(&receipts_and_a_log(log), 2_000, "");
    let kept: Vec<usize> = (0..14).filter(|unit| *unit != 11).collect();
    assert_eq!(tested.kept(), kept);
}

#[test]
fn a_huge_answer_ends_the_window() {
    let recording = agent()
        .step(&"word ".repeat(4_000), [])
        .user("Shorter, please.")
        .tokens(20);
    assert_eq!(window(&recording, 500, "").kept(), [0, 8]);
}

#[test]
fn pins_and_a_pending_call_stay_aside() {
    let recording = Recording::new()
        .user("Keep this in mind.")
        .tokens(20)
        .pin()
        .user("old")
        .tokens(20)
        .step("", [failed("make", "", "error: no rule")])
        .tokens(100)
        .user("newest")
        .tokens(20)
        .step("", [pending("make", "")])
        .tokens(100);
    assert_eq!(
        window(&recording, 150, r#"{"keep":{"units":1}}"#).render(),
        "keep 0 user protected\n\
         drop 1 user\n\
         drop 2 step\n\
         keep 3 user protected\n\
         keep 4 step protected\n"
    );
}

#[test]
fn a_window_that_holds_everything_changes_nothing() {
    let whole = Some("the window holds the whole conversation");
    assert_eq!(window(&agent(), PLENTY, "").unchanged(), whole);
    assert_eq!(
        window(&agent(), PLENTY, r#"{"keep":{"units":5}}"#).unchanged(),
        whole
    );
}

#[test]
fn compacting_the_result_again_changes_nothing() {
    // What was left of `agent` after the first window.
    let again = (0..2).fold(
        Recording::new()
            .system("Be careful.")
            .tokens(50)
            .user("Fix it.")
            .tokens(30),
        |recording, n| {
            recording
                .step(&n.to_string(), [call("ls", "{}", "a b")])
                .tokens(100)
        },
    );
    for config in [
        "",
        r#"{"keep":{"units":2}}"#,
        r#"{"keep":{"messages":4}}"#,
        r#"{"keep":{"tokens":200}}"#,
    ] {
        assert!(
            window(&again, 300, config).unchanged().is_some(),
            "{config}"
        );
    }
}

#[test]
fn text_of_any_script_is_never_read() {
    let recording = Recording::new()
        .user("古い話")
        .user("新しい話")
        .user("最後の話");
    assert_eq!(window(&recording, 16, "").kept(), [1, 2]);
    assert_eq!(recording.units_read(), 0);
}

#[test]
fn nothing_is_inserted() {
    let tested = window(&agent(), 300, "");
    let plan = tested.plan().expect("a plan");
    assert!(!plan.pieces.is_empty());
    assert!(
        plan.pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Keep(_)))
    );
}
