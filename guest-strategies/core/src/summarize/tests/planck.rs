//! The vectors of planck, section 1.3 of its description.

use baler_strategy::testing::{call, failed};
use baler_strategy::{Purpose, Role};

use super::*;

const PLANCK: &str = r#"{"preset":"planck"}"#;

fn keeping(messages: usize) -> String {
    format!(r#"{{"preset":"planck","keep-last-messages":{messages}}}"#)
}

/// P3: 10 of 800 tokens are no reason to compact, and there is nothing to summarise.
/// PL-S4, PL-S6: at most 10 messages, so nothing is old.
#[test]
fn a_short_conversation_is_left_alone() {
    assert!(!compacts(10, 1_000, PLANCK));
    let recording = with_answer(users(5, 10), "never asked");
    assert!(summarized(&recording, PLENTY, PLANCK).unchanged().is_some());
    assert!(recording.asked().is_empty());
}

/// P4, PL-S9, PL-13, PL-4, PL-5: one summary with exactly the model's text, then what is kept.
/// ALL-N11, PU-N6: it is told to be a summary.
#[test]
fn the_older_part_becomes_one_summary() {
    let recording = with_answer(users(3, 4_000), "Summary of old messages.");
    let tested = summarized(&recording, 2_000, &keeping(1));
    assert_eq!(
        tested.render(),
        "insert \"Summary of old messages.\"\n\
         drop 0 user\n\
         drop 1 user\n\
         keep 2 user protected\n"
    );
    let inserted = insertions(&tested)[0];
    assert_eq!(
        (inserted.role, inserted.purpose),
        (Role::User, Purpose::Summary)
    );
    assert_eq!(tested.count("units-summarized"), Some(2));
    assert_eq!(tested.count("model-calls"), Some(1));
}

/// P5, PL-S3, PL-10: the last two messages stay.
#[test]
fn the_newest_messages_stay() {
    let recording = with_answer(users(5, 4_000), "a, b and c.");
    assert_eq!(summarized(&recording, 3_000, &keeping(2)).kept(), [3, 4]);
}

/// P6: a ratio of 0.01 is a threshold of 10.
#[test]
fn a_low_ratio_compacts_early() {
    let config = r#"{"preset":"planck","trigger-share":0.01,"keep-last-messages":1}"#;
    assert!(compacts(75, 1_000, config));
    assert!(!compacts(9, 1_000, config));
}

/// P7, PL-S7, PL-14, PL-N13, ALL-N10: an error of the model changes nothing, and is told.
#[test]
fn an_error_of_the_model_changes_nothing() {
    let recording = failing(users(12, 400), "down");
    assert_eq!(
        attempt(&recording, &recording.situation(PLENTY), PLANCK),
        Err(Failure::Model("the model did not answer: down".to_owned()))
    );
}

/// P8, PL-S8, PL-N12, ALL-N3: neither does no text, or a blank one.
#[test]
fn a_blank_text_changes_nothing() {
    for text in ["", " \n "] {
        let recording = with_answer(users(12, 400), text);
        assert_eq!(
            attempt(&recording, &recording.situation(PLENTY), PLANCK),
            Err(Failure::Model("no summary: the answer is blank".to_owned()))
        );
    }
}

/// P10: the model sees what was said and no thinking.
#[test]
fn thinking_is_not_summarised() {
    let recording = Recording::new()
        .step("", [])
        .thinking("Internal reasoning, lots of it.")
        .tokens(500)
        .step("Visible reply.", [])
        .thinking("More reasoning.")
        .tokens(500)
        .user(&chars(4_000));
    let recording = with_answer(recording, "A reply.");
    assert_eq!(summarized(&recording, PLENTY, &keeping(1)).kept(), [2]);
    assert_eq!(recording.asked()[0].prompt, "Assistant: Visible reply.");
}

/// P11: arguments count whole: 2 calls of 804 tokens are over 800.
/// PL-N16: they count whole in any case, because the host counts them.
#[test]
fn long_arguments_compact_too() {
    assert!(compacts(1_608, 1_000, PLANCK));
    let long = format!(r#"{{"command":"{}"}}"#, chars(3_200));
    let recording = Recording::new()
        .step("", [call("bash", &long, "")])
        .step("", [call("bash", &long, "")]);
    let recording = with_answer(recording, "A command ran.");
    assert_eq!(summarized(&recording, PLENTY, &keeping(1)).kept(), [1]);
}

/// P16: another strategy keeps 3 messages of 20.
#[test]
fn a_fixed_summary_and_three_messages() {
    let recording = with_answer(users(20, 200), "Test summary.");
    let tested = summarized(&recording, 500, &keeping(3));
    assert_eq!(tested.kept(), [17, 18, 19]);
    assert_eq!(summary(&tested), "Test summary.");
}

/// P19, P20, PL-S2: from the threshold on, not only above it.
#[test]
fn the_threshold_itself_compacts() {
    assert!(compacts(800, 1_000, PLANCK));
    assert!(!compacts(799, 1_000, PLANCK));
}

/// P21, P22, P23, PL-S1, PL-9: the product is an IEEE double and is truncated.
#[test]
fn the_threshold_is_truncated() {
    let with = |share| format!(r#"{{"preset":"planck","trigger-share":{share}}}"#);
    for (window, share, threshold) in [(1_001, 0.8, 800), (999, 0.8, 799), (100, 0.57, 56)] {
        assert!(compacts(threshold, window, &with(share)), "{window}");
        assert!(!compacts(threshold - 1, window, &with(share)), "{window}");
    }
}

/// P24, P25, PL-S5, PL-S10, PL-I4, PL-N2, PL-N5, ALL-N2: without material the model is not
/// asked, however often it comes up.
#[test]
fn without_material_the_model_is_not_asked() {
    let eight = users(8, 4_000);
    let ten = (0..10).fold(Recording::new().summary("First."), |recording, _| {
        recording.user(&chars(4_000))
    });
    for recording in [eight, ten] {
        let recording = with_answer(recording, "never asked");
        let tested = summarized(&recording, PLENTY, PLANCK);
        assert_eq!(
            tested.unchanged(),
            Some("there is nothing to summarise except units that are kept")
        );
        assert!(recording.asked().is_empty());
    }
}

/// PL-N3, ALL-N4: a call and its outputs stay together: the unit that holds the message stays.
#[test]
fn the_cut_never_parts_a_call_from_its_output() {
    let recording = Recording::new()
        .user("Go.")
        .step("", [call("ls", "{}", &chars(4_000))])
        .step("", [call("a", "{}", "1"), call("b", "{}", "2")])
        .user("And now?");
    let recording = with_answer(recording, "Files were listed.");
    let tested = summarized(&recording, PLENTY, &keeping(2));
    assert_eq!(tested.kept(), [2, 3]);
}

/// PL-N9: the model sees the calls with their arguments; PL-S16: alone with the instruction.
#[test]
fn the_model_sees_the_calls() {
    let recording = Recording::new()
        .user("Build it.")
        .tokens(8_000)
        .step("", [failed("bash", r#"{"command":"make"}"#, "no rule")])
        .user("Well?");
    let recording = with_answer(recording, "The build failed.");
    summarized(&recording, PLENTY, &keeping(1));
    let asked = &recording.asked()[0];
    assert_eq!(
        asked.prompt,
        "User: Build it.\n\nCall: bash {\"command\":\"make\"}\n\nTool result (failed): no rule"
    );
    assert_eq!(asked.instructions, Config::prompt_of_planck());
}

/// PL-S17: what the instruction asks for, and that recent matters come first.
#[test]
fn the_instruction_asks_for_what_matters() {
    let prompt = Config::prompt_of_planck();
    for words in [
        "finished work and settled decisions in brief",
        "the current work and the latest requests",
        "facts, file paths, decisions and constraints",
        "lets an agent continue",
    ] {
        assert!(prompt.contains(words), "{words}");
    }
    assert!(prompt.ends_with("Recent matters come first."));
}

/// PV2, PV3, PL-I2, PL-I3, PL-N7: what the host says is in use decides, system prompt
/// included, and the gate asks no model.
#[test]
fn the_system_prompt_counts() {
    assert!(!compacts(600, 1_000, PLANCK));
    assert!(compacts(900, 1_000, PLANCK));
}

/// PL-6, PL-I7: it asks for a deadline of its own, of ten minutes.
#[test]
fn it_asks_for_a_deadline() {
    assert_eq!(Summarize::LIMITS.timeout_ms, Some(600_000));
}

/// PV7: it does the work where another strategy could not.
#[test]
fn it_stands_in_for_another_strategy() {
    let recording = with_answer(users(12, 400), "fallback summary");
    assert_eq!(
        summary(&summarized(&recording, PLENTY, PLANCK)),
        "fallback summary"
    );
}

/// PL-I9: a forced compaction hands the user's text on.
#[test]
fn what_the_user_wants_kept_is_handed_on() {
    let recording = with_answer(users(3, 40_000), "The API.");
    let mut situation = recording.situation(PLENTY);
    situation.trigger = baler_strategy::Trigger::Manual(Some("keep the API design".to_owned()));
    attempt(&recording, &situation, &keeping(1)).expect("the model answers");
    assert!(
        recording.asked()[0]
            .instructions
            .ends_with("\n\nThe user asks for this in particular: keep the API design")
    );
}
