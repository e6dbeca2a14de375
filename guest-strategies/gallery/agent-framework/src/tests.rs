use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel, run};
use baler_strategy::{Conversation, Decision, Strategy};

use crate::{AgentFramework as Own, Config};

const PLENTY: u32 = 100_000;

#[test]
fn the_newest_groups_stay_and_the_rest_is_five_sentences() {
    let recording = turns(4, "They looked at main.");
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    // Four messages are the last turn.
    assert_eq!(tested.kept(), [9, 10, 11]);
    assert!(asked_[0].instructions.contains("at most five sentences"));
    assert!(asked_[0].prompt.starts_with("User: request 0"));
    let (tested, _) = asked::<Own>(
        &recording,
        &recording.situation(PLENTY),
        r#"{"target-count":1}"#,
    );
    // The user's newest message is protected.
    assert_eq!(tested.kept(), [9, 11]);
}

#[test]
fn what_is_too_much_for_the_model_stays_between() {
    let recording = turns(8, "They looked at main.");
    let config = r#"{"max-summary-input-tokens":1200}"#;
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), config);
    // Beside the instruction there is room for two turns and the third message of the user.
    assert_eq!(tested.kept(), (7..24).collect::<Vec<_>>());
    assert!(
        tested
            .render()
            .starts_with("insert \"They looked at main.\"\ndrop 0 user")
    );
    assert!(asked_[0].prompt.contains("request 2") && !asked_[0].prompt.contains("answer 2"));
    let (tested, _) = asked::<Own>(&recording, &recording.situation(2_000), config);
    assert!(tested.kept().len() < 10, "{}", tested.render());
}

#[test]
fn a_group_that_is_too_large_is_passed_over() {
    let recording = turns(0, "").user("long").tokens(9_000);
    let recording = (0..4).fold(recording, |recording, n| {
        recording
            .user(&format!("request {n}"))
            .tokens(50)
            .step("answer", [])
            .tokens(50)
    });
    let recording = recording.model(ScriptedModel::answering("They asked and were answered."));
    let (tested, _) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), [0, 5, 6, 7, 8]);
}

#[test]
fn an_earlier_summary_goes_into_the_new_one() {
    let recording = Recording::new().summary("The parser is done.").tokens(50);
    let recording = (0..4).fold(recording, |recording, n| {
        recording
            .user(&format!("request {n}"))
            .tokens(50)
            .step("answer", [])
            .tokens(50)
    });
    let recording = recording.model(ScriptedModel::answering("The parser is done, and more."));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), [5, 6, 7, 8]);
    assert!(
        asked_[0]
            .prompt
            .contains("Earlier summary: The parser is done.")
    );
}

#[test]
fn target_and_threshold_trigger_together() {
    let recording = turns(2, "");
    let decide = |threshold| {
        let config = Config {
            threshold,
            ..Config::default()
        };
        Own::should_compact(
            &Conversation::new(&recording),
            &recording.situation(9),
            &config,
        )
    };
    assert!(matches!(decide(3), Ok(Decision::Compact(_))));
    assert!(matches!(decide(4), Ok(Decision::Wait(_))));
    let tested = run::<Own>(
        &recording,
        &recording.situation(PLENTY),
        r#"{"threshold":4}"#,
    );
    assert!(tested.expect("no failure").unchanged().is_some());
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"target-count":1,"threshold":0}"#);
}
