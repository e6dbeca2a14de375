//! Summaries of earlier compactions.

use super::*;

/// A summary, so many steps, and what the user wants now.
fn after(first: &str, steps: u32) -> Recording {
    let recording = Recording::new().summary(first);
    (0..steps)
        .fold(recording, |recording, n| {
            recording.step(&format!("step {n}"), []).tokens(4_000)
        })
        .user("Go on.")
}

const LAST: &str = r#"{"keep-last-messages":1}"#;

/// P9: the model sees neither summary, the first of them stands above the new one, and the
/// second stays as the newest message. PL-N1, PL-I11, ALL-N1: so nothing of them is lost.
#[test]
fn with_planck_an_earlier_summary_stands_above_the_new_one() {
    let config = r#"{"preset":"planck","keep-last-messages":1}"#;
    let steps = (0..3).fold(
        Recording::new().summary("First summary."),
        |recording, _| recording.step(&chars(4_000), []),
    );
    let recording = with_answer(steps.summary("Second summary."), "New.");
    let tested = summarized(&recording, PLENTY, config);
    assert_eq!(
        tested.render(),
        "insert \"First summary.\\n\\nNew.\"\n\
         drop 0 summary\ndrop 1 step\ndrop 2 step\ndrop 3 step\nkeep 4 summary\n"
    );
    let asked = &recording.asked()[0];
    assert!(!asked.prompt.contains("summary") && !asked.instructions.contains("First summary"));
}

/// P9: with user messages the newest of them stays in its place.
#[test]
fn with_planck_the_newest_user_message_stays_in_its_place() {
    let recording = (0..3).fold(
        Recording::new().summary("First summary."),
        |recording, _| recording.user(&chars(4_000)),
    );
    let recording = with_answer(recording.summary("Second summary."), "New.");
    let config = r#"{"preset":"planck","keep-last-messages":1}"#;
    assert_eq!(
        summarized(&recording, PLENTY, config).render(),
        "insert \"First summary.\\n\\nNew.\"\n\
         drop 0 summary\ndrop 1 user\ndrop 2 user\n\
         keep 3 user protected\nkeep 4 summary\n"
    );
}

/// PL-N1, PU-N18, ALL-N1: the model merges them, and they are not wrapped again.
#[test]
fn an_earlier_summary_is_merged() {
    let recording = with_answer(
        after("[Conversation Summary]\n\nThe build is red.", 2),
        "[Conversation Summary]\n\nThe build was red and is green.",
    );
    let tested = summarized(
        &recording,
        PLENTY,
        r#"{"preset":"puck","keep-last-messages":1}"#,
    );
    assert_eq!(
        summary(&tested),
        "[Conversation Summary]\n\nThe build was red and is green."
    );
    let prompt = &recording.asked()[0].prompt;
    assert!(
        prompt.contains("<summary_so_far>\nEarlier summary: The build is red.\n</summary_so_far>")
    );
    assert!(prompt.contains("<conversation>\nAssistant: step 0\n\nAssistant: step 1\n"));
    assert_eq!(tested.count("units-summarized"), Some(2));
}

/// PL-N1, ALL-N1: if the model fails, the earlier summary is where it was.
#[test]
fn a_failure_loses_no_earlier_summary() {
    let recording = failing(after("The build is red.", 2), "down");
    let result = attempt(&recording, &recording.situation(PLENTY), LAST);
    assert!(matches!(result, Err(Failure::Model(_))));
}

/// PL-N5, ALL-N5: the result of a compaction is not compacted again.
#[test]
fn compacting_the_result_again_changes_nothing() {
    let recording = with_answer(after("Done so far.", 0), "never asked");
    for config in [LAST, "", r#"{"preset":"planck"}"#] {
        assert!(summarized(&recording, PLENTY, config).unchanged().is_some());
    }
    assert!(recording.asked().is_empty());
}

#[test]
fn what_leaves_no_room_is_merged_even_with_planck() {
    let long = "The build is red. ".repeat(200);
    let recording = with_answer(after(&long, 1), "Short.");
    let config = r#"{"preset":"planck","keep-last-messages":1,"max-output-tokens":1000}"#;
    let tested = summarized(&recording, PLENTY, config);
    assert_eq!(summary(&tested), "Short.");
    assert!(recording.asked()[0].prompt.contains("<summary_so_far>"));
}

#[test]
fn a_summary_in_the_newest_part_stays_there() {
    let recording = Recording::new()
        .step("old", [])
        .tokens(4_000)
        .summary("Done so far.")
        .user("Go on.");
    let recording = with_answer(recording, "Old things.");
    let tested = summarized(&recording, PLENTY, r#"{"keep-last-units":2}"#);
    assert_eq!(tested.kept(), [1, 2]);
}
