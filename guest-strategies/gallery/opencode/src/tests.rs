use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Call, Recording, ScriptedModel, call, failed};
use baler_strategy::{Conversation, Decision, Situation, Strategy};

use crate::{Config, Opencode as Own};

const PLENTY: u32 = 1_000_000;

/// Turns with an output of 10,000 tokens each, oldest first.
fn outputs(calls: impl IntoIterator<Item = Call>) -> Recording {
    let recording = calls.into_iter().fold(Recording::new(), |recording, call| {
        recording.user("Look.").step("", [call]).step("I see.", [])
    });
    recording.model(ScriptedModel::answering("I looked at pages."))
}

fn page(tool: &str) -> Call {
    call(tool, "{}", &"page text\n".repeat(4_000))
}

/// The units whose outputs are cleared, and the number of questions.
fn cleared(recording: &Recording, budget: u32) -> (Vec<usize>, usize) {
    let (tested, asked_) = asked::<Own>(recording, &recording.situation(budget), "");
    let rendered = tested.render();
    let lines = rendered
        .lines()
        .filter_map(|line| line.strip_prefix("rewrite "));
    let units = lines.filter_map(|line| line.split(' ').next()?.parse().ok());
    (units.collect(), asked_.len())
}

#[test]
fn outputs_behind_the_newest_are_cleared_without_a_question() {
    // The newest two turns do not count, of the next four the outputs are protected.
    let recording = outputs(["read"; 9].map(page));
    assert_eq!(cleared(&recording, 70_000), (vec![1, 4, 7], 0));
    let (tested, _) = asked::<Own>(&recording, &recording.situation(70_000), "");
    assert!(
        tested
            .render()
            .contains("rewrite 1 step\n  1.0 [Old tool result content cleared]\n")
    );
}

#[test]
fn outputs_of_skills_and_failed_calls_stay() {
    let mut calls = ["read"; 12].map(page);
    calls[1] = page("skill");
    calls[2] = failed("read", "{}", &"error\n".repeat(4_000));
    assert_eq!(cleared(&outputs(calls), 110_000), (vec![1, 10, 13, 16], 0));
}

#[test]
fn no_output_is_cleared_before_one_that_is_already() {
    let mut calls = ["read"; 10].map(page);
    calls[0] = page("read");
    calls[1] = call("read", "{}", "gone").rewritten();
    let recording = outputs(calls);
    // Two outputs behind the protected ones do not save enough, so the model is asked.
    assert_eq!(cleared(&recording, 75_000), (vec![], 1));
}

#[test]
fn if_pruning_is_not_enough_the_model_is_asked_for_the_sections() {
    let recording = outputs(["read"; 9].map(page));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(30_000), "");
    // The newest turn alone does not fit 2,000 tokens, its answer does.
    assert_eq!(tested.kept(), [24, 26]);
    let told = &asked_[0].instructions;
    for heading in [
        "## Objective",
        "## Important Details",
        "### Completed",
        "### Active",
        "### Blocked",
        "## Next Move",
        "## Relevant Files",
    ] {
        assert!(told.contains(&format!("\n{heading}\n")), "{heading}");
    }
}

#[test]
fn the_newest_turns_stay_and_of_the_one_before_the_newest_steps() {
    let recording = turns(10, "They looked at main.");
    let kept = |config: &str| {
        asked::<Own>(&recording, &recording.situation(PLENTY), config)
            .0
            .kept()
    };
    // A turn has 500 tokens, its answer 80.
    assert_eq!(kept(""), (18..30).collect::<Vec<_>>());
    assert_eq!(
        kept(r#"{"preserve-recent-tokens":1100}"#),
        (23..30).collect::<Vec<_>>()
    );
    assert_eq!(kept(r#"{"tail-turns":2}"#), (24..30).collect::<Vec<_>>());
    assert_eq!(kept(r#"{"tail-turns":0}"#), [27]);
    // If all turns fit, none stays but what is protected.
    assert_eq!(kept(r#"{"preserve-recent-tokens":5000}"#), [27]);
}

#[test]
fn an_earlier_summary_is_carried_on() {
    let recording = Recording::new().summary("## Objective\n- The parser.");
    let recording = recording.step("more", []).tokens(3_000).user("and now?");
    let recording = recording.model(ScriptedModel::answering(
        "## Objective\n- The parser, and more.",
    ));
    let (_, asked_) = asked::<Own>(&recording, &recording.situation(1_000), "");
    assert!(
        asked_[0]
            .instructions
            .contains("The earlier summary tells what came before")
    );
    assert!(asked_[0].prompt.contains("- The parser."));
}

#[test]
fn it_is_time_when_the_usable_window_is_full() {
    let recording = turns(2, "");
    let decide = |context_window| {
        let situation = Situation {
            context_window,
            ..recording.situation(9)
        };
        Own::should_compact(
            &Conversation::new(&recording),
            &situation,
            &Config::default(),
        )
    };
    assert!(matches!(decide(53_000), Ok(Decision::Compact(_))));
    assert!(matches!(decide(53_001), Ok(Decision::Wait(_))));
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"preserve-recent-tokens":0}"#);
}
