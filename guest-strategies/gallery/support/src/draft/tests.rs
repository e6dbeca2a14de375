use baler_strategy::testing::{Recording, TestRun, call, run};
use baler_strategy::{Conversation, Failure, Report, Situation, Strategy};
use serde::Deserialize;

use crate::{Draft, Output};

/// A rule that keeps the units from `from` on, replaces every output, and inserts a summary.
struct Rule;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    from: usize,
    replace: bool,
    summary: String,
}

impl Strategy for Rule {
    type Config = Config;
    const NAME: &'static str = "rule";
    const VERSION: &'static str = "0.0.0";
    const DESCRIPTION: &'static str = "For tests.";
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let mut draft = Draft::new(conversation, situation);
        draft.retain(|unit, _| unit >= config.from);
        for output in Output::all(conversation) {
            if config.replace {
                draft.replace(&output, "[cleared]");
            }
        }
        if !config.summary.is_empty() {
            draft.summarize(config.from, config.summary.clone());
        }
        draft.report()
    }
}

/// Instructions, the task, and four steps of 100 tokens.
fn agent() -> Recording {
    (0..4).fold(
        Recording::new()
            .system("Be careful.")
            .user("Fix it.")
            .tokens(20),
        |recording, n| {
            let output = "x".repeat(380);
            recording
                .step("", [call("ls", &n.to_string(), &output)])
                .tokens(100)
        },
    )
}

#[track_caller]
fn ruled_in(recording: &Recording, situation: &Situation, config: &str) -> TestRun {
    let tested = run::<Rule>(recording, situation, config).expect("it returns a report");
    assert!(
        tested.plan().is_none() || tested.fits(),
        "over budget: {}",
        tested.render()
    );
    tested
}

#[track_caller]
fn ruled(budget: u32, config: &str) -> TestRun {
    ruled_in(&agent(), &agent().situation(budget), config)
}

#[test]
fn the_rule_decides_and_protected_units_stay() {
    let tested = ruled(10_000, r#"{"from":3}"#);
    assert_eq!(tested.kept(), [0, 1, 3, 4, 5]);
    assert_eq!(tested.count("removed-by-rule"), Some(1));
    assert_eq!(tested.count("removed-for-budget"), Some(0));
}

#[test]
fn what_the_rule_leaves_over_the_budget_goes_oldest_first() {
    let tested = ruled(230, r#"{"from":3}"#);
    assert_eq!(tested.kept(), [0, 1, 4, 5]);
    assert_eq!(tested.count("removed-for-budget"), Some(1));
    assert_eq!(ruled(0, "{}").kept(), [0, 1]);
}

#[test]
fn replacing_outputs_may_be_enough() {
    // Each output of 95 tokens becomes one of 3, with 40 for the mark.
    let tested = ruled(240, r#"{"replace":true}"#);
    assert_eq!(tested.kept(), [0, 1, 2, 3, 4, 5]);
    let overhead = u64::from(agent().situation(0).overhead);
    assert_eq!(tested.tokens(), overhead + 20 + 4 * (100 - 95 + 43));
    // Where that is not enough, a removed step takes its replacement with it.
    let tested = ruled(200, r#"{"replace":true}"#);
    assert_eq!(tested.kept(), [0, 1, 3, 4, 5]);
    assert_eq!(tested.count("outputs-replaced"), Some(3));
}

#[test]
fn an_output_that_would_not_become_shorter_stays() {
    let short = Recording::new()
        .user("Go.")
        .step("", [call("ls", "{}", "a b c")]);
    let tested = ruled_in(&short, &short.situation(10_000), r#"{"replace":true}"#);
    assert!(tested.unchanged().is_some());
    // Half as long is the least for a text that an earlier compaction wrote.
    let text = "y".repeat(320);
    let again = Recording::new()
        .user("Go.")
        .step("", [call("ls", "{}", &text).rewritten()]);
    let tested = ruled_in(&again, &again.situation(10_000), r#"{"replace":true}"#);
    assert!(tested.unchanged().is_some());
}

#[test]
fn a_summary_that_is_longer_than_what_it_replaces_changes_nothing() {
    let long = "word ".repeat(80);
    let config = format!(r#"{{"from":3,"summary":"{long}"}}"#);
    assert_eq!(
        ruled(10_000, &config).unchanged(),
        Some("the result would not be smaller")
    );
    let tested = ruled(10_000, r#"{"from":3,"summary":"It looked around."}"#);
    assert!(
        tested
            .render()
            .contains("insert \"It looked around.\"\ndrop 2 step\nkeep 3"),
        "{}",
        tested.render()
    );
}

#[test]
fn a_summary_gives_way_to_protected_units() {
    let tested = ruled(0, r#"{"from":5,"summary":"It looked around."}"#);
    assert_eq!(tested.kept(), [0, 1]);
    assert!(!tested.render().contains("insert"), "{}", tested.render());
}

#[test]
fn bytes_of_a_summary_are_those_of_its_json() {
    let recording = agent();
    let text = r#"a \"word\"\n"#.repeat(10);
    let config = format!(r#"{{"from":5,"summary":"{text}"}}"#);
    let mut situation = recording.situation(10_000);
    let units = Conversation::new(&recording).units().to_vec();
    let units = [0, 1, 5].map(|unit| units[unit].bytes);
    let mark = situation.insertion_overhead * 8;
    let written = u32::try_from(text.len()).expect("it is short");
    situation.max_bytes = Some(units.iter().sum::<u32>() + mark + written);
    assert_eq!(ruled_in(&recording, &situation, &config).kept(), [0, 1, 5]);
    situation.max_bytes = situation.max_bytes.map(|most| most - 1);
    assert_eq!(ruled_in(&recording, &situation, &config).kept(), [0, 1]);
}

#[test]
fn a_note_that_the_host_has_to_write_is_counted() {
    let recording = (0..3).fold(Recording::new().user("old").tokens(50), |recording, _| {
        recording.step("an answer", []).tokens(100)
    });
    let recording = recording.user("new").tokens(50).tokens(50);
    let mut situation = recording.situation(260);
    assert_eq!(ruled_in(&recording, &situation, "{}").kept(), [2, 3, 4]);
    situation.opening_note = 20;
    assert_eq!(ruled_in(&recording, &situation, "{}").kept(), [3, 4]);
}
