use baler_strategy::testing::{Call, Recording, TestRun, call, run};

use crate::OpenhandsMask;

fn read() -> Call {
    call("cat", "{}", &"x".repeat(800))
}

/// The task, a step with two calls, and two steps with one. These are nine events.
fn agent() -> Recording {
    Recording::new()
        .user("Fix it.")
        .step("", [read(), read()])
        .step("", [read()])
        .step("", [read()])
}

#[track_caller]
fn masked(budget: u32, config: &str) -> TestRun {
    let recording = agent();
    run::<OpenhandsMask>(&recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

#[test]
fn observations_outside_of_the_window_are_masked() {
    assert_eq!(
        masked(10_000, r#"{"attention-window":5}"#).render(),
        "keep 0 user protected\nrewrite 1 step\n  1.0 <MASKED>\nkeep 2 step\nkeep 3 step\n"
    );
    // The second output of the first step is the fifth event.
    let masks = |window| {
        masked(10_000, &format!(r#"{{"attention-window":{window}}}"#)).count("outputs-replaced")
    };
    assert_eq!(
        [1, 2, 4, 5, 6].map(masks),
        [Some(3), Some(3), Some(2), Some(1), Some(1)]
    );
    assert_eq!(masked(10_000, "").plan(), None);
}

#[test]
fn what_is_still_too_large_is_removed() {
    let tested = masked(320, r#"{"attention-window":1}"#);
    assert_eq!(tested.kept(), [0, 2, 3]);
    assert!(tested.fits());
}
