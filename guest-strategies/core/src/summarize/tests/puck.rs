//! The vectors of puck's Summarize, section 2.3 of its description.

use super::*;

fn keeping(messages: u32) -> String {
    format!(r#"{{"preset":"puck","keep-last-messages":{messages}}}"#)
}

/// SU1, SU2, PU-S7, PU-S6: nothing, or no more than stays, is left alone without a call.
#[test]
fn no_more_than_stays_is_left_alone() {
    for recording in [Recording::new(), talk(1)] {
        let recording = with_answer(recording, "never asked");
        let tested = summarized(&recording, PLENTY, r#"{"preset":"puck"}"#);
        assert!(tested.unchanged().is_some());
        assert!(recording.asked().is_empty());
    }
}

/// SU3, PU-S8, PU-S12: a header, a blank line, the summary; then the last two messages.
#[test]
fn the_summary_has_a_header() {
    let text = "This is a summary of the conversation.";
    let recording = with_answer(talk(3), text);
    let tested = summarized(&recording, PLENTY, &keeping(2));
    assert_eq!(
        tested.render(),
        format!(
            "insert \"[Conversation Summary]\\n\\n{text}\"\n\
             drop 0 user\ndrop 1 step\ndrop 2 user\ndrop 3 step\n\
             keep 4 user protected\nkeep 5 step\n"
        )
    );
}

/// ALL-N6, PU-N4: with steps and messages in turn the newest user message stays beside the last
/// step (section 0.5 of the description). What goes into the metadata the host writes.
#[test]
fn the_newest_user_message_stays_beside_the_last() {
    let recording = with_answer(talk(2), "Talk.");
    let tested = summarized(&recording, PLENTY, &keeping(1));
    assert_eq!(tested.kept(), [2, 3]);
    assert_eq!(
        insertions(&tested)[0].purpose,
        baler_strategy::Purpose::Summary
    );
}

/// SU6, PU-S11, PU-N2, PU-12: an own prompt reaches the model as it is; none means the default.
#[test]
fn the_instruction_reaches_the_model() {
    let prompt = |config: &str| {
        let long = Recording::new().user("Q0").tokens(8_000);
        let recording = with_answer(long.step("A0", []).user("Q1"), "Talk.");
        summarized(&recording, PLENTY, config);
        let mut asked = recording.asked();
        asked.remove(0).prompt
    };
    let base = r#""preset":"puck","keep-last-messages":1"#;
    assert!(
        prompt(&format!(r#"{{{base},"prompt":"Only {{names}} please."}}"#))
            .starts_with("Only {names} please.\n\n<conversation>\nUser: Q0\n\nAssistant: A0\n")
    );
    for config in [
        format!("{{{base}}}"),
        format!(r#"{{{base},"prompt":null}}"#),
    ] {
        let prompt = prompt(&config);
        assert!(prompt.starts_with("Summarise the conversation below."));
        assert!(prompt.contains("will replace the history"));
    }
}

/// SU7, PU-S14, PU-S22, PU-N14: the failure is told with its reason.
#[test]
fn a_failure_is_told() {
    let recording = failing(talk(2), "api_error");
    assert_eq!(
        attempt(&recording, &recording.situation(PLENTY), &keeping(1)),
        Err(Failure::Model(
            "the model did not answer: api_error".to_owned()
        ))
    );
}

/// SU8, SU9, PU-S15: from `max_tokens` on; without it the strategy does not ask for it.
#[test]
fn a_number_of_tokens_triggers() {
    let with = |tokens| format!(r#"{{"preset":"puck","trigger-tokens":{tokens}}}"#);
    assert!(compacts(5_000, 0, &with(4_000)));
    assert!(!compacts(5_000, 0, &with(10_000)));
    assert!(compacts(4_000, 0, &with(4_000)));
    assert_eq!(
        gate(5_000, 0, r#"{"preset":"puck"}"#),
        Decision::HostDecides
    );
}

/// SU10, PU-S9, PU-S10: roles as labels, placeholders for what is no text, between tags.
#[test]
fn the_transcript_stands_between_tags() {
    let recording = Recording::new()
        .user("A")
        .attached("image", None)
        .attached("document", Some("f.pdf"))
        .step("B", [])
        .user("Next.");
    let recording = with_answer(recording, "A and B.");
    summarized(&recording, PLENTY, &keeping(1));
    assert!(recording.asked()[0].prompt.ends_with(
        "\n\n<conversation>\nUser: A\n[image]\n[file: f.pdf]\n\nAssistant: B\n</conversation>"
    ));
    assert_eq!(recording.asked()[0].instructions, "");
}

/// SU11: one message of four is summarised.
#[test]
fn a_single_message_is_summarised() {
    let recording = with_answer(talk(2), "A question.");
    let tested = summarized(&recording, PLENTY, r#"{"preset":"puck"}"#);
    assert_eq!(tested.kept(), [1, 2, 3]);
    assert_eq!(tested.count("units-summarized"), Some(1));
}

/// PU-N3, ALL-N3: a header alone is no summary.
#[test]
fn a_header_alone_is_no_summary() {
    let recording = with_answer(talk(2), "[Conversation Summary]\n\n");
    assert!(attempt(&recording, &recording.situation(PLENTY), &keeping(1)).is_err());
}

/// PU-N4, ALL-N6: a step after it does not push the newest user message out.
#[test]
fn no_setting_removes_the_newest_request() {
    let recording = talk(2).step("Working.", []).tokens(1_000);
    let recording = with_answer(recording, "Talk.");
    let tested = summarized(&recording, PLENTY, &keeping(1));
    assert_eq!(tested.kept(), [2, 4]);
}

/// PU-S16, PU-I2, PU-3: it says who it is.
#[test]
fn it_says_who_it_is() {
    assert_eq!(Summarize::NAME, "summarize");
    assert!(Summarize::DESCRIPTION.contains("summarise"));
}
