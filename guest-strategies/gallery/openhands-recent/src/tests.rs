use baler_strategy::testing::{Recording, TestRun, call, run};

use crate::OpenhandsRecent;

/// Instructions, the task, and six steps of two events and 100 tokens.
fn agent() -> Recording {
    (0..6).fold(
        Recording::new().system("Be careful.").user("Fix it."),
        |recording, n| {
            recording
                .step("", [call("ls", &n.to_string(), "a b c")])
                .tokens(100)
        },
    )
}

#[track_caller]
fn recent(budget: u32, config: &str) -> TestRun {
    let recording = agent();
    run::<OpenhandsRecent>(&recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

#[test]
fn the_first_and_the_most_recent_events_stay() {
    // The system prompt and six events of three steps.
    assert_eq!(
        recent(10_000, r#"{"max-events":7}"#).kept(),
        [0, 1, 5, 6, 7]
    );
    // A step whose call is gone goes.
    assert_eq!(recent(10_000, r#"{"max-events":6}"#).kept(), [0, 1, 6, 7]);
    // Prompt, task and the first step, and the last one.
    assert_eq!(
        recent(10_000, r#"{"keep-first":4,"max-events":6}"#).kept(),
        [0, 1, 2, 7]
    );
    assert!(recent(10_000, "").unchanged().is_some());
}

#[test]
fn as_many_first_events_as_events_leave_no_recent_ones() {
    assert_eq!(
        recent(10_000, r#"{"keep-first":4,"max-events":4}"#).kept(),
        [0, 1, 2]
    );
}

#[test]
fn what_is_still_too_large_is_removed() {
    let tested = recent(220, r#"{"max-events":9}"#);
    assert_eq!(tested.kept(), [0, 1, 6, 7]);
    assert_eq!(tested.count("removed-by-rule"), Some(2));
    assert_eq!(tested.count("removed-for-budget"), Some(2));
}
