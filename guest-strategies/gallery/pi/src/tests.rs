use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel, call};
use baler_strategy::{Conversation, Decision, Situation, Strategy};

use crate::{Config, Pi as Own};

const PLENTY: u32 = 100_000;

/// What the model is told and where the kept part begins, with so many recent tokens.
fn cut(keep: u32) -> (Vec<usize>, String) {
    let recording = turns(4, "They looked at main.");
    let config = format!(r#"{{"keep-recent-tokens":{keep}}}"#);
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), &config);
    (tested.kept(), asked_[0].instructions.clone())
}

#[test]
fn the_message_that_reaches_the_tokens_stays_but_no_output_without_its_call() {
    // From the end: 80 (unit 11), 400 (10, of which the output has 3), 20 (9), 80 (8), 400 (7).
    assert_eq!(cut(500).0, [9, 10, 11]);
    assert_eq!(cut(501).0, [8, 9, 10, 11]);
    // Unit 10 is reached by its output at 83, by its call at 84; unit 9 is protected.
    assert_eq!(cut(83).0, [9, 11]);
    assert_eq!(cut(84).0, [9, 10, 11]);
}

#[test]
fn sections_of_the_turn_are_asked_for_if_the_cut_divides_it() {
    let (_, told) = cut(500);
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
    let (_, told) = cut(501);
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
