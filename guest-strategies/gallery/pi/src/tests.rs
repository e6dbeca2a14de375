use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel, call};
use baler_strategy::{Conversation, Decision, Situation, Strategy};

use crate::{Config, Pi as Own};

const PLENTY: u32 = 100_000;

/// Two turns: in the first a message of 300 tokens, in the second one of 50; then a call of 20 with its output of 100, and an
/// answer of 30.
fn two_turns() -> Recording {
    let turn = |recording: Recording, n: usize| {
        recording
            .user(&" ".repeat([0, 1_200, 200][n]))
            .step("", [call("look", &" ".repeat(76), &"x".repeat(400))])
            .step(&format!("{n:<120}"), [])
    };
    let recording = (1..3).fold(Recording::new(), turn);
    recording.model(ScriptedModel::answering("They looked twice."))
}

/// What is kept and what the model is told, with so many recent tokens.
fn cut(keep: u32) -> (Vec<usize>, String) {
    let recording = two_turns();
    let config = format!(r#"{{"keep-recent-tokens":{keep}}}"#);
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), &config);
    (tested.kept(), asked_[0].instructions.clone())
}

#[test]
fn the_message_that_reaches_the_tokens_stays_but_no_output_without_its_call() {
    assert_eq!(cut(200).0, [3, 4, 5]);
    assert_eq!(cut(201).0, [2, 3, 4, 5]);
    assert_eq!(cut(330).0, [2, 3, 4, 5]);
    assert_eq!(cut(331).0, [1, 2, 3, 4, 5]);
    // The message of the newest turn is protected.
    assert_eq!(cut(130).0, [3, 5]);
    assert_eq!(cut(131).0, [3, 4, 5]);
}

#[test]
fn sections_of_the_turn_are_asked_for_if_the_cut_divides_it() {
    let (_, told) = cut(200);
    for heading in [
        "## Goal",
        "## Constraints & Preferences",
        "### Done",
        "### In Progress",
        "### Blocked",
        "## Key Decisions",
        "## Next Steps",
        "## Critical Context",
    ] {
        assert!(told.contains(&format!("\n{heading}\n")), "{heading}");
    }
    assert!(!told.contains("## Original Request"));
    let (_, told) = cut(201);
    for heading in [
        "## Original Request",
        "## Early Progress",
        "## Context for Suffix",
    ] {
        assert!(told.contains(&format!("\n{heading}\n")), "{heading}");
    }
}

#[test]
fn an_earlier_checkpoint_is_brought_up_to_date_with_its_files() {
    let earlier = "The conversation before this point was long. This is its checkpoint:\n\n<summary>\n## Goal\nThe parser.\n</summary>\
                   \n\n<read-files>\na.rs\nb.rs\n</read-files>\n\n<modified-files>\nc.rs\n</modified-files>";
    let path = |name: &str| format!(r#"{{"path":"{name}"}}"#);
    let calls = [
        call("read", &path("d.rs"), "text"),
        call("edit", &path("b.rs"), "done"),
        call("write", &path("e.rs"), "done"),
        call("write", &path("f\n.rs"), "done"),
        call("grep", &path("g.rs"), "found"),
    ];
    let recording = Recording::new()
        .summary(earlier)
        .step("more", calls)
        .tokens(3_000)
        .user("and now?");
    let recording = recording.model(ScriptedModel::answering("## Goal\nThe parser and more."));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(1_500), "");
    let inserted = "<summary>\\n## Goal\\nThe parser and more.\\n</summary>\
                    \\n\\n<read-files>\\na.rs\\nd.rs\\n</read-files>\
                    \\n\\n<modified-files>\\nb.rs\\nc.rs\\ne.rs\\n</modified-files>\"\n";
    assert!(tested.render().contains(inserted), "{}", tested.render());
    assert!(
        asked_[0]
            .instructions
            .contains("Bring the checkpoint up to date")
    );
    assert!(asked_[0].prompt.contains("The parser."));
}

#[test]
fn lists_of_files_have_a_quarter_of_the_room() {
    let recording = (0..300).fold(Recording::new(), |recording, n| {
        let path = format!(r#"{{"path":"src/file-{n:03}.rs"}}"#);
        recording
            .step("", [call("read", &path, "text")])
            .tokens(100)
    });
    let recording = recording
        .user("and now?")
        .model(ScriptedModel::answering("Files were read."));
    let (tested, _) = asked::<Own>(
        &recording,
        &recording.situation(2_000),
        r#"{"keep-recent-tokens":0}"#,
    );
    let shown = tested.render();
    assert!(
        shown.contains("src/file-299.rs") && !shown.contains("src/file-000.rs"),
        "{shown}"
    );
}

#[test]
fn it_is_time_when_less_than_the_reserve_is_free() {
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
    assert!(matches!(decide(1_000 + 16_383), Ok(Decision::Compact(_))));
    assert!(matches!(decide(1_000 + 16_384), Ok(Decision::Wait(_))));
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"keep-recent-tokens":0}"#);
}
