use baler_strategy::testing::{Call, Recording, TestRun, call, run};
use baler_strategy::{Conversation, Decision, Strategy as _};

use crate::{Cliffcompaction, Config};

fn long() -> Call {
    call("cat", r#"{"path":"main.rs"}"#, &"fn main() {}\n".repeat(80))
}

/// The task, two steps with a long output, one with a short one, an answer, and two more steps.
fn agent() -> Recording {
    Recording::new()
        .system("Be careful.")
        .user("Fix it.")
        .step("I look first.", [long()])
        .thinking("Where is it?")
        .step("", [long()])
        .step("", [call("ls", "{}", " a\nb\n")])
        .step("It is in main.", [])
        .step("", [long()])
        .step("", [long()])
}

#[track_caller]
fn compacted(recording: &Recording, budget: u32, config: &str) -> TestRun {
    let tested = run::<Cliffcompaction>(recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(
        tested.plan().is_none() || tested.fits(),
        "over budget: {}",
        tested.render()
    );
    tested
}

/// The text of the summary.
fn summary(tested: &TestRun) -> String {
    let text = tested.render();
    let line = text.lines().find_map(|line| line.strip_prefix("insert "));
    let line = line.unwrap_or_else(|| panic!("no summary: {text}"));
    line.trim_matches('"')
        .replace("\\n", "\n")
        .replace("\\\"", "\"")
}

#[test]
fn older_steps_become_a_summary() {
    let tested = compacted(&agent(), 10_000, "");
    assert_eq!(tested.kept(), [0, 1, 5, 6, 7]);
    assert_eq!(
        summary(&tested),
        "The following is a summary of your previous actions (long observations omitted):\n\n\
         thinking: Where is it?\nassistant: I look first.\n[cat] {\"path\":\"main.rs\"}\n\n---\n\n\
         [cat] {\"path\":\"main.rs\"}\n\n---\n\n\
         [ls] {}\n\n---\n\n\
         result: a\nb"
    );
}

#[test]
fn texts_are_cut() {
    let config =
        r#"{"thought-max-chars":3,"cmd-max-chars":2,"result-max-chars":2,"keep-thinking":false}"#;
    let text = summary(&compacted(&agent(), 10_000, config));
    let parts: Vec<&str> = text.split("\n\n---\n\n").collect();
    assert!(
        parts[0].ends_with(":\n\nassistant: I l...\n[cat] {\"..."),
        "{text}"
    );
    assert_eq!(parts[1..], ["[cat] {\"...", "[ls] {}"]);
}

#[test]
fn the_ladder_is_climbed_while_the_result_exceeds_the_budget() {
    let tokens = |tested: &TestRun| u32::try_from(tested.tokens()).expect("it is small");
    let recording = agent().step(&"a long thought ".repeat(40), []);
    let by_config = compacted(&recording, 10_000, r#"{"keep-recent":2}"#);
    let just = compacted(&recording, tokens(&by_config), r#"{"keep-recent":2}"#);
    assert_eq!(just.render(), by_config.render());
    let one = compacted(&recording, tokens(&by_config) - 1, r#"{"keep-recent":2}"#);
    assert_eq!(one.kept(), [0, 1, 8]);
    assert!(summary(&one).contains("thinking: Where is it?"));
    let lean = compacted(&recording, tokens(&one) - 1, "");
    assert!(!summary(&lean).contains("thinking"), "{}", lean.render());
    assert!(summary(&lean).contains("I look first."));
    let truncated = compacted(&recording, tokens(&lean) - 1, "");
    assert_eq!(truncated.kept(), [0, 1, 8]);
    let text = summary(&truncated);
    assert!(
        !text.contains("I look first.") && text.contains("It is in main."),
        "{text}"
    );
}

#[test]
fn a_summary_without_a_place_does_not_cost_the_newest_step() {
    let recording = agent();
    let whole = recording.situation(0);
    let least = compacted(&recording, whole.floor + 280, "");
    assert_eq!(least.kept(), [0, 1, 7]);
    assert!(!least.render().contains("insert"), "{}", least.render());
}

#[test]
fn an_earlier_summary_is_dropped_and_the_users_words_stay() {
    let recording = Recording::new()
        .user("Fix it.")
        .summary("What was before.")
        .step("", [long()])
        .user("Faster!")
        .pin()
        .step("", [long()])
        .step("", [long()]);
    let tested = compacted(&recording, 10_000, r#"{"keep-recent":1}"#);
    assert_eq!(tested.kept(), [0, 3, 5]);
    let text = summary(&tested);
    assert!(
        !text.contains("Faster") && !text.contains("before"),
        "{text}"
    );
    assert!(
        tested.render().starts_with("keep 0 user\ninsert"),
        "{}",
        tested.render()
    );
    // A summary alone is no reason.
    let tested = compacted(&recording, 10_000, "");
    assert!(tested.unchanged().is_some());
}

#[test]
fn it_is_due_above_the_threshold() {
    let recording = agent();
    let decision = |config: Config| {
        let situation = recording.situation(10_000);
        Cliffcompaction::should_compact(&Conversation::new(&recording), &situation, &config)
            .expect("it decides")
    };
    let low = Config {
        threshold_tokens: 500,
        ..Config::default()
    };
    assert!(matches!(decision(low), Decision::Compact(_)));
    assert!(matches!(
        decision(Config {
            keep_recent: 6,
            ..low
        }),
        Decision::Wait(_)
    ));
    assert!(matches!(decision(Config::default()), Decision::Wait(_)));
}
