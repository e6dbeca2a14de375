use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel, call};
use baler_strategy::{Conversation, Decision, Situation, Strategy};

use crate::{Config, GeminiCli as Own};

const PLENTY: u32 = 100_000;

#[test]
fn the_newest_part_stays_from_a_message_of_the_user_on() {
    // All turns have nearly the same size: of 11, the first 8 are 70 % or more.
    let script =
        ScriptedModel::answering("I think.\n<state_snapshot>They looked.</state_snapshot>")
            .then("<state_snapshot>They looked at main.</state_snapshot>");
    let recording = turns(11, "").model(script);
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), (24..33).collect::<Vec<_>>());
    let inserted = "insert \"<state_snapshot>\\nThey looked at main.\\n</state_snapshot>\"\n";
    assert!(tested.render().contains(inserted), "{}", tested.render());
    let [first, review] = &asked_[..] else {
        panic!("{} questions", asked_.len());
    };
    for name in [
        "overall_goal",
        "active_constraints",
        "key_knowledge",
        "artifact_trail",
        "file_system_state",
        "recent_actions",
        "task_state",
    ] {
        assert!(
            first.instructions.contains(&format!("\n<{name}>\n")),
            "{name}"
        );
    }
    assert!(first.prompt.ends_with("\n\nWrite the <state_snapshot>."));
    assert!(
        review
            .instructions
            .starts_with("Compare the `<state_snapshot>`")
    );
    assert!(review.prompt.contains("They looked.") && review.prompt.contains("User: request 0"));
    assert_eq!(tested.count("model-calls"), Some(2));
}

#[test]
fn the_first_snapshot_counts_if_the_review_gives_none() {
    let script =
        ScriptedModel::answering("<state_snapshot>They looked.</state_snapshot>").then(" ");
    let recording = turns(10, "").model(script);
    let (tested, _) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert!(
        tested.render().contains("\\nThey looked.\\n"),
        "{}",
        tested.render()
    );
}

#[test]
fn without_a_message_of_the_user_in_the_newest_part_the_end_decides() {
    let long = "word ".repeat(400);
    let history = || {
        Recording::new()
            .user("one")
            .step(&long, [])
            .tokens(500)
            .user("two")
    };
    let kept = |recording: Recording| {
        let recording = recording.model(ScriptedModel::answering("Words, word by word."));
        asked::<Own>(&recording, &recording.situation(PLENTY), "")
            .0
            .kept()
    };
    // The user's newest message is protected.
    assert_eq!(kept(history().step(&long, []).step("end", [])), [2]);
    let calls = history()
        .step(&long, [])
        .step(&long, [call("ls", "{}", "a")]);
    assert_eq!(kept(calls), [2, 3, 4]);
}

#[test]
fn an_earlier_snapshot_is_brought_up_to_date() {
    let recording =
        Recording::new().summary("<state_snapshot>\nThe parser is done.\n</state_snapshot>");
    let recording = recording.step("more", []).tokens(3_000).user("and now?");
    let recording = recording.model(ScriptedModel::answering("The parser is done, and more."));
    let (_, asked_) = asked::<Own>(&recording, &recording.situation(1_000), "");
    assert!(
        asked_[0]
            .instructions
            .contains("There is an earlier `<state_snapshot>`")
    );
    assert!(asked_[0].prompt.contains("The parser is done."));
}

#[test]
fn it_is_time_at_half_of_the_window() {
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
    assert!(matches!(decide(2_000), Ok(Decision::Compact(_))));
    assert!(matches!(decide(2_002), Ok(Decision::Wait(_))));
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"review":false}"#);
}
