use baler_strategy::testing::{Recording, TestRun, call, run};
use baler_strategy::{Conversation, Decision, Strategy as _};

use crate::{Config, OpenhandsAmortized};

/// Instructions, the task, and so many steps of two events and 100 tokens.
fn agent(steps: usize) -> Recording {
    let task = Recording::new().system("Be careful.").user("Fix it.");
    (0..steps).fold(task, |recording, n| {
        recording
            .step("", [call("ls", &n.to_string(), "a b c")])
            .tokens(100)
    })
}

#[track_caller]
fn forgotten(budget: u32, config: &str) -> TestRun {
    let recording = agent(6);
    run::<OpenhandsAmortized>(&recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

#[test]
fn half_of_the_size_is_left() {
    // The prompt, and five events of the end: two steps and an output without its call.
    assert_eq!(forgotten(10_000, r#"{"max-size":12}"#).kept(), [0, 1, 6, 7]);
    assert_eq!(
        forgotten(10_000, r#"{"max-size":12,"keep-first":0}"#).kept(),
        [0, 1, 5, 6, 7]
    );
    assert_eq!(
        forgotten(10_000, r#"{"max-size":12,"keep-first":4}"#).kept(),
        [0, 1, 2, 7]
    );
}

#[test]
fn what_is_still_too_large_is_removed() {
    let tested = forgotten(120, r#"{"max-size":12}"#);
    assert_eq!(tested.kept(), [0, 1, 7]);
    assert_eq!(tested.count("removed-for-budget"), Some(1));
}

#[test]
fn it_is_due_above_the_largest_size() {
    let decision = |steps, budget, max_size| {
        let recording = agent(steps);
        let config = Config {
            max_size,
            keep_first: 1,
        };
        let situation = recording.situation(budget);
        OpenhandsAmortized::should_compact(&Conversation::new(&recording), &situation, &config)
            .expect("it decides")
    };
    assert!(matches!(decision(6, 10_000, 13), Decision::Compact(_)));
    assert!(matches!(decision(6, 10_000, 14), Decision::Wait(_)));
    assert_eq!(decision(6, 100, 14), Decision::HostDecides);
}

#[test]
fn too_many_first_events_are_refused() {
    let recording = agent(1);
    let config = r#"{"max-size":10,"keep-first":5}"#;
    assert!(run::<OpenhandsAmortized>(&recording, &recording.situation(10), config).is_err());
}
