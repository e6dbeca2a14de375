use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::Recording;
use baler_strategy::{Conversation, Decision, Situation, Strategy, Trigger};

use crate::{Config, LangchainSummarization as Own};

const PLENTY: u32 = 100_000;

#[test]
fn the_newest_messages_stay_and_a_cut_on_an_output_moves_to_its_call() {
    // A turn has 4 messages in 3 units. 20 messages are 5 turns, 2 are an answer and the output before it.
    let recording = turns(8, "They looked at main.");
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    assert_eq!(tested.kept(), (9..24).collect::<Vec<_>>());
    let inserted =
        "insert \"Here is a summary of the conversation to date:\\n\\nThey looked at main.\"\n";
    assert!(tested.render().contains(inserted), "{}", tested.render());
    let (told, prompt) = (&asked_[0].instructions, &asked_[0].prompt);
    for heading in [
        "## SESSION INTENT",
        "## SUMMARY",
        "## ARTIFACTS",
        "## NEXT STEPS",
    ] {
        assert!(told.contains(&format!("\n{heading}\n")), "{told}");
    }
    assert!(
        prompt.contains("<conversation>\nUser: request 0"),
        "{prompt}"
    );
    assert!(prompt.contains("request 2") && !prompt.contains("request 3"));
    let (tested, _) = asked::<Own>(
        &recording,
        &recording.situation(PLENTY),
        r#"{"keep":{"messages":2}}"#,
    );
    assert_eq!(tested.kept(), [21, 22, 23]);
}

#[test]
fn by_tokens_as_much_stays_as_fits() {
    let recording = turns(8, "They looked at main.");
    let situation = Situation {
        context_window: 1_000,
        ..recording.situation(PLENTY)
    };
    // A turn has 500 tokens, and the answer before it 80. The output before that has 3, and brings its call along.
    for (config, first) in [
        (r#"{"keep":{"tokens":582}}"#, 20),
        (r#"{"keep":{"tokens":583}}"#, 19),
        (r#"{"keep":{"fraction":0.582}}"#, 20),
        (r#"{"keep":{"fraction":0.583}}"#, 19),
    ] {
        let (tested, _) = asked::<Own>(&recording, &situation, config);
        assert_eq!(tested.kept(), (first..24).collect::<Vec<_>>(), "{config}");
    }
}

/// The model reads the newest 4,000 tokens, from a message of the user on.
#[test]
fn only_the_newest_of_what_is_removed_is_read() {
    let recording = turns(20, "They looked at main.");
    let (_, asked_) = asked::<Own>(&recording, &recording.situation(PLENTY), "");
    let prompt = &asked_[0].prompt;
    assert!(
        prompt.contains("<conversation>\nUser: request 7\n"),
        "{prompt}"
    );
    let (_, asked_) = asked::<Own>(
        &recording,
        &recording.situation(PLENTY),
        r#"{"trim-tokens-to-summarize":null}"#,
    );
    assert!(
        asked_[0]
            .prompt
            .contains("<conversation>\nUser: request 0\n")
    );
}

#[test]
fn an_earlier_summary_reaches_the_model_however_long_the_rest_is() {
    let recording = (0..9).fold(
        Recording::new()
            .summary("Here is a summary of the conversation to date:\n\nThe parser is done."),
        |recording, n| {
            recording
                .user(&format!("question {n}"))
                .tokens(900)
                .step("answer", [])
                .tokens(900)
        },
    );
    let recording = recording.model(baler_strategy::testing::ScriptedModel::answering(
        "The parser is done. More followed.",
    ));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(12_000), "");
    assert!(!tested.kept().contains(&0));
    let so_far = "<summary_so_far>\nEarlier summary: The parser is done.\n</summary_so_far>";
    assert!(asked_[0].prompt.contains(so_far), "{}", asked_[0].prompt);
}

#[test]
fn clauses_trigger_if_all_of_their_thresholds_are_reached() {
    let recording = turns(2, "");
    let decide = |config: &str| {
        let config: Config = serde_json::from_str(config).expect("a config");
        let situation = Situation {
            context_window: 2_000,
            trigger: Trigger::Threshold,
            ..recording.situation(PLENTY)
        };
        Own::should_compact(&Conversation::new(&recording), &situation, &config)
            .expect("no failure")
    };
    assert_eq!(decide("{}"), Decision::HostDecides);
    for (config, compacts) in [
        (r#"{"trigger":[{"messages":8}]}"#, true),
        (r#"{"trigger":[{"messages":9}]}"#, false),
        (r#"{"trigger":[{"messages":8,"tokens":1001}]}"#, false),
        (r#"{"trigger":[{"messages":8,"tokens":1000}]}"#, true),
        (r#"{"trigger":[{"tokens":5000},{"fraction":0.5}]}"#, true),
        (r#"{"trigger":[{"fraction":0.6}]}"#, false),
    ] {
        assert_eq!(
            matches!(decide(config), Decision::Compact(_)),
            compacts,
            "{config}"
        );
    }
}

#[test]
fn what_holds_for_all() {
    holds::<Own>(r#"{"keep":{"messages":1},"trim-tokens-to-summarize":null}"#);
}
