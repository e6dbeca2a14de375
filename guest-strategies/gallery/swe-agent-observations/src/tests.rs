use baler_strategy::testing::{Recording, TestRun, call, run};

use crate::{SweAgentObservations, lines};

/// So many steps with an output of three lines and 201 tokens.
fn steps(recording: Recording, steps: usize) -> Recording {
    let output = format!("one\ntwo\n{}\n", "x".repeat(795));
    (0..steps).fold(recording, |recording, n| {
        let name = if n == 1 { "submit" } else { "bash" };
        recording.step("", [call(name, "{}", &output)])
    })
}

fn agent(count: usize) -> Recording {
    steps(
        Recording::new().system("Be careful.").user("Fix it."),
        count,
    )
}

#[track_caller]
fn elided(recording: &Recording, config: &str) -> TestRun {
    run::<SweAgentObservations>(recording, &recording.situation(100_000), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

/// The units whose outputs are elided.
fn units(tested: &TestRun) -> Vec<usize> {
    let text = tested.render();
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("rewrite "));
    lines
        .filter_map(|line| line.split(' ').next()?.parse().ok())
        .collect()
}

#[test]
fn the_newest_five_stay() {
    let tested = elided(&agent(7), "");
    assert_eq!(units(&tested), [2, 3]);
    assert!(
        tested
            .render()
            .contains("  1.0 Old environment output: (3 lines omitted)\n"),
        "{}",
        tested.render()
    );
    assert!(elided(&agent(5), "").unchanged().is_some());
}

#[test]
fn without_a_task_the_first_output_stays() {
    assert_eq!(units(&elided(&steps(Recording::new(), 8), "")), [1, 2]);
}

#[test]
fn polling_elides_in_larger_steps() {
    // The task and eleven outputs; ten of these twelve count.
    assert_eq!(
        units(&elided(&agent(11), r#"{"n":3,"polling":5}"#)),
        [2, 3, 4, 5, 6, 7]
    );
    assert_eq!(units(&elided(&agent(8), r#"{"n":3,"polling":5}"#)), [2]);
}

#[test]
fn tools_stand_for_tags() {
    assert_eq!(
        units(&elided(&agent(7), r#"{"keep-output-of":["submit"]}"#)),
        [2]
    );
    assert_eq!(
        units(&elided(&agent(3), r#"{"remove-output-of":["submit"]}"#)),
        [3]
    );
}

#[test]
fn what_is_still_too_large_is_removed() {
    let recording = agent(7);
    let tested =
        run::<SweAgentObservations>(&recording, &recording.situation(700), "").expect("a report");
    assert_eq!(tested.kept(), [0, 1, 6, 7, 8]);
    assert!(tested.fits());
}

#[test]
fn lines_are_those_of_python() {
    let counted = ["", "a", "a\n", "a\r\nb", "\n\n", "a\u{2028}b\u{c}", "a\rb"].map(lines);
    assert_eq!(counted, [0, 1, 1, 2, 2, 2, 2]);
}
