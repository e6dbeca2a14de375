use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel, call, run};
use baler_strategy::{Conversation, Decision, Failure, Situation, Strategy, Trigger};

use crate::{Config, OpenhandsSummarizing as Own};

const PLENTY: u32 = 100_000;

/// A turn has 4 events in 3 units: the message, a call, its output, the answer.
#[test]
fn the_first_and_the_newest_events_stay() {
    let recording = turns(8, "They looked at main.");
    let (tested, asked_) = asked::<Own>(
        &recording,
        &recording.situation(PLENTY),
        r#"{"max-size":20,"keep-first":2}"#,
    );
    // 10 - 2 - 1 = 7 events stay at the end: the turn of 4 events, and of the turn before the answer, the output and the
    // call.
    assert_eq!(tested.kept(), [0, 19, 20, 21, 22, 23]);
    let shown = "keep 0 user\ninsert \"They looked at main.\"\ndrop 1 step\n";
    assert!(tested.render().contains(shown), "{}", tested.render());
    let told = &asked_[0].instructions;
    for heading in [
        "USER_CONTEXT:",
        "TASK_TRACKING:",
        "COMPLETED:",
        "PENDING:",
        "CODE_STATE:",
        "VERSION_CONTROL_STATUS:",
    ] {
        assert!(told.contains(&format!("\n{heading}\n")), "{told}");
    }
}

#[test]
fn a_step_that_a_cut_divides_stays_at_the_beginning_and_goes_at_the_end() {
    let recording = turns(8, "They looked at main.");
    let kept = |config: &str| {
        asked::<Own>(&recording, &recording.situation(PLENTY), config)
            .0
            .kept()
    };
    assert_eq!(
        kept(r#"{"max-size":20,"keep-first":3}"#),
        [0, 1, 20, 21, 22, 23]
    );
    assert_eq!(
        kept(r#"{"max-size":20,"keep-first":4}"#),
        [0, 1, 20, 21, 22, 23]
    );
}

#[test]
fn steps_of_one_thought_are_one_block() {
    let step = |recording: Recording| recording.step("", [call("ls", "{}", "a")]).tokens(100);
    let recording = step(
        Recording::new()
            .user("old")
            .tokens(500)
            .step("done", [])
            .tokens(500)
            .user("go on"),
    );
    let recording = step(step(recording.thinking("How?")));
    let recording = recording
        .user("more")
        .step("end", [])
        .model(ScriptedModel::answering("It was done so."));
    // 4 events stay at the end: the newest two messages and a step, which the thought before belongs to.
    let config = r#"{"max-size":10,"keep-first":0}"#;
    let (tested, _) = asked::<Own>(&recording, &recording.situation(PLENTY), config);
    assert_eq!(tested.kept(), [6, 7]);
}

#[test]
fn on_demand_half_of_the_events_goes() {
    let recording = turns(4, "They looked at main.");
    let situation = Situation {
        trigger: Trigger::Manual(None),
        ..recording.situation(PLENTY)
    };
    // (1 + 16) / 2 - 2 - 1 = 5 events.
    let (tested, _) = asked::<Own>(&recording, &situation, "");
    assert_eq!(tested.kept(), [0, 8, 9, 10, 11]);
    let tested = run::<Own>(&recording, &recording.situation(PLENTY), "").expect("no failure");
    assert!(tested.unchanged().is_some());
}

#[test]
fn the_earlier_summary_is_part_of_the_new_one() {
    let recording = Recording::new()
        .user("task")
        .tokens(100)
        .summary("COMPLETED: the parser.");
    let recording = recording.step("more", []).tokens(3_000).user("and now?");
    let recording = recording.model(ScriptedModel::answering("COMPLETED: the parser and more."));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(1_000), "");
    assert_eq!(tested.kept(), [0, 3]);
    assert!(
        asked_[0]
            .prompt
            .contains("Earlier summary: COMPLETED: the parser.")
    );
}

#[test]
fn the_number_of_events_triggers() {
    let recording = turns(2, "");
    let decide = |max_size| {
        let config = Config {
            max_size,
            keep_first: 0,
        };
        Own::should_compact(
            &Conversation::new(&recording),
            &recording.situation(9),
            &config,
        )
    };
    assert!(matches!(decide(8), Ok(Decision::Compact(_))));
    assert!(matches!(decide(9), Ok(Decision::HostDecides)));
    let failure = run::<Own>(
        &recording,
        &recording.situation(9),
        r#"{"max-size":6,"keep-first":2}"#,
    );
    assert!(matches!(failure, Err(Failure::BadConfig(_))), "{failure:?}");
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"max-size":4,"keep-first":0}"#);
}
