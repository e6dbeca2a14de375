//! How many turns stay.

use super::*;

/// AP-S7, AP-2, A9: the cut lies before the second user message from the end.
#[test]
fn the_newest_turns_stay() {
    let recording = turn(turn(Recording::new(), "u1", 1_000), "u2", 10).user("u3");
    let recording = with_answer(recording, "An answer.");
    let tested = anchored(&recording, PLENTY, "");
    assert_eq!(tested.kept(), [0, 2, 3, 4]);
    assert_eq!(
        prompt(&recording),
        "Assistant: answer to u1\n\nSummarize the conversation."
    );
}

/// A9, A15, A16, AP-S9, PL-N5: too few turns, or nothing older, changes nothing, and the model
/// is not asked.
#[test]
fn too_few_turns_change_nothing() {
    let one = turn(Recording::new(), "u1", 1_000);
    let two = turn(one.clone(), "u2", 1_000);
    for recording in [Recording::new(), one, two] {
        let recording = with_answer(recording, "never asked");
        assert!(anchored(&recording, PLENTY, "").unchanged().is_some());
        assert!(recording.asked().is_empty());
    }
}

fn in_a_window_of_1000(recording: &Recording, config: &str) -> Vec<usize> {
    let mut situation = recording.situation(950);
    situation.context_window = 1_000;
    anchored_in(recording, &situation, config).kept()
}

/// A13, AP-S10, AP-15: two turns of 1067 tokens are more than 95 % of the window, so one stays.
#[test]
fn turns_that_are_too_large_are_fewer() {
    let recording = turn(Recording::new(), "u1", 10);
    let recording = turn(turn(recording, "u2", 1_000), "u3", 10);
    let recording = with_answer(recording, "Answers.");
    assert_eq!(in_a_window_of_1000(&recording, ""), [0, 2, 4, 5]);
}

/// A14, AP-S10: where not even the newest turn fits, none is preserved, and its user message
/// stays as the others do; the summary follows them.
#[test]
fn the_newest_turn_may_be_too_large() {
    let recording = turn(Recording::new(), "u1", 10);
    let recording = turn(turn(recording, "u2", 10), "u3", 1_000);
    let recording = with_answer(recording, "Answers.");
    assert_eq!(in_a_window_of_1000(&recording, ""), [0, 2, 4]);
}

/// AP-I1, AP-N4: the number of turns goes down one by one.
#[test]
fn turns_go_one_by_one() {
    let recording = (0..6).fold(Recording::new(), |recording, n| {
        turn(recording, &format!("u{n}"), 200)
    });
    let recording = with_answer(recording, "Answers.");
    let config = r#"{"preserve-turns":5,"max-retained-user-tokens":0}"#;
    assert_eq!(
        in_a_window_of_1000(&recording, config),
        [6, 7, 8, 9, 10, 11]
    );
}

/// AP-N5, ALL-N7, ALL-N13: the whole request is tested: system prompt, tools and the live
/// messages take turns away as well.
#[test]
fn the_whole_request_is_tested() {
    let history = |definitions| {
        let recording = Recording::new().definitions(definitions);
        let recording = turn(turn(recording, "u1", 250), "u2", 250);
        let recording = turn(recording, "u3", 250)
            .user("now")
            .live()
            .step("working", [])
            .tokens(100)
            .live();
        with_answer(recording, "Answers.")
    };
    assert_eq!(in_a_window_of_1000(&history(0), ""), [0, 2, 3, 4, 5, 6, 7]);
    assert_eq!(in_a_window_of_1000(&history(300), ""), [0, 2, 4, 5, 6, 7]);
}

/// AP-S8: with no turns to preserve, everything older than what is live may go.
#[test]
fn no_turn_may_be_preserved() {
    let recording = turn(Recording::new(), "u1", 1_000).user("now").live();
    let recording = with_answer(recording, "An answer.");
    let config = r#"{"preserve-turns":0}"#;
    assert_eq!(
        anchored(&recording, PLENTY, config).render(),
        "keep 0 user\n\
         insert \"<context_summary>\\nAn answer.\\n</context_summary>\"\n\
         drop 1 step\n\
         keep 2 user protected\n"
    );
}

/// AP-S25, AP-N8, AP-N15, ALL-N4: calls stay with their outputs, and one without an output
/// stays whatever the turns.
#[test]
fn a_pending_call_stays_after_the_summary() {
    use baler_strategy::testing::{call, pending};
    let recording = Recording::new()
        .user("u1")
        .step("", [call("ls", "{}", "a"), call("ls", "{}", "b")])
        .tokens(2_000)
        .step("", [pending("make", "{}")]);
    let recording = with_answer(recording, "Files were listed.");
    let tested = anchored(&recording, 500, "");
    assert_eq!(
        tested.render(),
        "keep 0 user protected\n\
         insert \"<context_summary>\\nFiles were listed.\\n</context_summary>\"\n\
         drop 1 step\n\
         keep 2 step pending protected\n"
            .replace(" pending", "")
    );
}
