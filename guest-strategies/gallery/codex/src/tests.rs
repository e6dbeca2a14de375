use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel};
use baler_strategy::{Conversation, Decision, Situation, Strategy};

use crate::{Codex as Own, Config};

const PLENTY: u32 = 100_000;

#[test]
fn messages_of_the_user_stay_and_the_handover_follows_them() {
    let recording = turns(3, "They looked at main.");
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), [0, 3, 6]);
    let rendered = tested.render();
    // The newest step is the last unit, and nothing stands behind it.
    assert!(
        rendered.contains("keep 6 user protected\ninsert \"Another model worked"),
        "{rendered}"
    );
    assert!(
        rendered.contains("Its handover:\\n\\nThey looked at main.\""),
        "{rendered}"
    );
    let request = &asked_[0];
    for words in [
        "what the user wants",
        "key decisions",
        "preferences of the user",
        "clear next steps",
        "references it needs",
    ] {
        assert!(request.instructions.contains(words), "{words}");
    }
    // The model reads the messages that stay, too.
    assert!(
        request.prompt.starts_with("User: request 0"),
        "{}",
        request.prompt
    );
    assert!(request.prompt.ends_with("\n\nWrite the handover."));
}

#[test]
fn the_newest_messages_have_the_tokens_first() {
    let recording = turns(4, "They looked at main.");
    let config = r#"{"user-message-tokens":59}"#;
    let (tested, _) = asked::<Own>(&recording, &recording.situation(PLENTY), config);
    assert_eq!(tested.kept(), [6, 9]);
}

#[test]
fn a_message_of_a_program_does_not_stay() {
    let recording =
        Recording::new().user("<environment_context>\n<cwd>/tmp</cwd>\n</environment_context>");
    let recording = recording
        .user("Fix it.")
        .step("Fixed, in the parser.", [])
        .tokens(500)
        .user("And now?");
    let recording = recording.model(ScriptedModel::answering("It was fixed in the parser."));
    let (tested, _) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), [1, 3]);
}

#[test]
fn an_earlier_handover_is_no_message_of_the_user() {
    let recording = Recording::new().user("task").summary("The parser is done.");
    let recording = recording.step("more", []).tokens(3_000).user("and now?");
    let recording = recording.model(ScriptedModel::answering("The parser is done, and more."));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), [0, 3]);
    assert!(
        asked_[0]
            .prompt
            .contains("Earlier summary: The parser is done.")
    );
}

#[test]
fn it_is_time_at_90_percent_of_the_window() {
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
    assert!(matches!(decide(1_111), Ok(Decision::Compact(_))));
    assert!(matches!(decide(1_120), Ok(Decision::Wait(_))));
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"user-message-tokens":0}"#);
}
