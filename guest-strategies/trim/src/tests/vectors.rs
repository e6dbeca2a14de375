//! The vectors of ptc_runner. It keeps `2 k` messages where it says `k` turns: here that is
//! `keep-recent-messages`. Where a turn is a message of the user's and a reply, as many turns
//! give the same.

use baler_strategy::testing::{Recording, call};
use baler_strategy::{Conversation, Decision, Strategy};

use super::{PLENTY, alternate, flag, reason, trimmed, trimmed_in};
use crate::{Config, Trim};

/// The results for `2 k` messages and for `k` turns, which are the same.
#[track_caller]
fn kept(recording: &Recording, turn: u32, k: u32, more: &str) -> Vec<usize> {
    let messages = format!(r#"{{"keep-recent-messages":{}{more}}}"#, 2 * k);
    let messages = trimmed(recording, turn, &messages).kept();
    let turns = format!(r#"{{"keep-recent-turns":{k}{more}}}"#);
    assert_eq!(trimmed(recording, turn, &turns).kept(), messages);
    messages
}

const TURNS_1: &str = r#","trigger":{"turns":1}"#;

fn reading(recording: Recording, path: &str) -> Recording {
    recording.step("", [call("read", path, "text")])
}

/// T1, PT-I1, PT-I4
#[test]
fn without_pressure_nothing_happens() {
    let tested = trimmed(&alternate(6), 3, "");
    assert!(tested.unchanged().is_some());
    assert!(!flag(&tested, "triggered"));
    assert_eq!(reason(&tested), "none");
    assert_eq!(tested.count("messages-before"), Some(6));
    assert_eq!(tested.count("messages-after"), Some(6));
}

/// T2, PT-N16, ALL-N10
#[test]
fn pressure_without_anything_to_remove_says_so() {
    let tested = trimmed(&alternate(2), 50, "");
    assert_eq!(
        tested.unchanged(),
        Some("turn_pressure, but nothing to remove")
    );
    assert!(!flag(&tested, "triggered"));
}

/// T3, PT-T2, PT-T7, PT-I3
#[test]
fn more_turns_than_the_trigger_says_are_too_many() {
    let trigger = r#","trigger":{"turns":5}"#;
    assert_eq!(kept(&alternate(12), 6, 2, trigger), [0, 8, 9, 10, 11]);
    assert_eq!(kept(&alternate(12), 5, 2, trigger).len(), 12);
    let tested = trimmed(&alternate(12), 6, r#"{"trigger":{"turns":5}}"#);
    assert_eq!(reason(&tested), "turn_pressure");
}

/// T4, PT-T3
#[test]
fn tokens_are_pressure_too() {
    let config = r#"{"trigger":{"tokens":200},"keep-recent-messages":4}"#;
    let tested = trimmed(&alternate(10), 1, config);
    assert_eq!(reason(&tested), "token_pressure");
    assert_eq!(tested.count("estimated-tokens-before"), Some(250));
    assert_eq!(tested.count("estimated-tokens-after"), Some(125));
    assert_eq!(tested.kept().len(), 5);
    assert!(!flag(&tested, "over-budget"));
}

/// Ten messages of so many characters.
fn ten(characters: usize) -> Recording {
    let text = "x".repeat(characters);
    (0..5).fold(Recording::new(), |recording, _| {
        recording.user(&text).step(&text, [])
    })
}

/// T5, PT-T3, PT-T4, PT-T5
#[test]
fn either_trigger_is_enough() {
    let config = r#"{"trigger":{"turns":100,"tokens":50},"keep-recent-messages":4,"token-counter":"quarter"}"#;
    let tested = trimmed(&ten(40), 1, config);
    assert_eq!(reason(&tested), "token_pressure");
    assert_eq!(tested.count("estimated-tokens-before"), Some(100));
    let tested = trimmed(&ten(40), 101, config);
    assert_eq!(reason(&tested), "turn_pressure", "turns come first");
}

/// T6, PT-T6, PT-T8
#[test]
fn a_first_message_of_the_models_goes() {
    let recording = (1..=3).fold(Recording::new().step("a0", []), |recording, n| {
        recording.user(&format!("u{n}")).step(&format!("a{n}"), [])
    });
    let recording = recording.user("u4");
    assert_eq!(kept(&recording, 5, 2, TURNS_1), [5, 6, 7]);
    let tested = trimmed(
        &recording,
        5,
        r#"{"keep-recent-turns":2,"trigger":{"turns":1}}"#,
    );
    assert!(!flag(&tested, "kept-initial-user"));
}

/// T7, PT-T7
#[test]
fn the_first_request_stays_if_it_is_to_stay() {
    let without = format!(r#","keep-initial-user":false{TURNS_1}"#);
    assert_eq!(kept(&alternate(8), 5, 2, &without), [4, 5, 6, 7]);
    assert_eq!(kept(&alternate(8), 5, 2, TURNS_1), [0, 4, 5, 6, 7]);
    let config = r#"{"keep-recent-turns":2,"trigger":{"turns":1}}"#;
    assert!(flag(
        &trimmed(&alternate(8), 5, config),
        "kept-initial-user"
    ));
}

/// T8, PT-T8
#[test]
fn a_reply_in_front_goes() {
    assert_eq!(kept(&alternate(7), 5, 2, TURNS_1), [0, 4, 5, 6]);
}

/// T9, PT-T9, PT-N15, PT-I7
#[test]
fn a_result_over_the_trigger_is_flagged() {
    let huge = "x".repeat(4000);
    let recording = alternate(6).user(&huge).step("final", []);
    let config = r#"{"trigger":{"tokens":100},"keep-recent-messages":4}"#;
    let tested = trimmed(&recording, 1, config);
    assert_eq!(tested.kept(), [0, 4, 5, 6, 7]);
    assert!(flag(&tested, "over-budget"));
    let config = r#"{"trigger":{"turns":5},"keep-recent-messages":4}"#;
    assert!(!flag(&trimmed(&alternate(12), 6, config), "over-budget"));
    // The total is compared, not only each message.
    let config = r#"{"trigger":{"tokens":60},"keep-recent-messages":4}"#;
    assert!(flag(&trimmed(&alternate(12), 1, config), "over-budget"));
}

/// T10, PT-T11, PT-T12, ALL-N5
#[test]
fn a_second_run_changes_nothing() {
    let trigger = r#","trigger":{"turns":3}"#;
    assert_eq!(
        kept(&alternate(14), 7, 3, trigger),
        [0, 8, 9, 10, 11, 12, 13]
    );
    let again = (0..3).fold(Recording::new().user("1"), |recording, _| {
        recording.user("u").step("a", [])
    });
    assert_eq!(kept(&again, 7, 3, trigger).len(), 7);
}

/// T11, PT-T5
#[test]
fn short_messages_count_one_each() {
    let recording = (0..6).fold(Recording::new(), |recording, _| {
        recording.user("u1").step("a10", [])
    });
    let config = r#"{"trigger":{"tokens":5},"keep-recent-messages":4,"token-counter":"quarter"}"#;
    let tested = trimmed(&recording, 1, config);
    assert_eq!(reason(&tested), "token_pressure");
    assert_eq!(tested.count("estimated-tokens-before"), Some(12));
}

/// T12, PT-T6
#[test]
fn what_comes_before_the_first_request_is_older_than_any_turn() {
    let recording = Recording::new()
        .step("a1", [])
        .user("u1")
        .step("a2", [])
        .user("u2")
        .step("a3", []);
    assert_eq!(kept(&recording, 5, 2, TURNS_1), [1, 2, 3, 4]);
}

/// T13, PT-N11, ALL-N4
#[test]
fn calls_stay_with_their_outputs() {
    let recording = ["1", "2", "3"]
        .into_iter()
        .fold(Recording::new().user("u"), reading);
    let config = r#"{"keep-recent-messages":4,"trigger":{"turns":1}}"#;
    assert_eq!(trimmed(&recording, 5, config).kept(), [0, 2, 3]);
}

/// T14, PT-N11
#[test]
fn an_output_without_its_call_goes() {
    let recording = reading(Recording::new().user("u"), "x1")
        .step("x2", [])
        .other("an output that nobody asked for");
    let recording = reading(recording, "keep");
    for messages in [2, 3] {
        let config = format!(r#"{{"keep-recent-messages":{messages},"trigger":{{"turns":1}}}}"#);
        assert_eq!(trimmed(&recording, 5, &config).kept(), [0, 4]);
    }
}

/// T15, ALL-N6
#[test]
fn the_newest_request_stays_beside_the_vector() {
    let recording = Recording::new().step("a", []).user("u");
    let recording = reading(reading(recording, "1"), "2");
    let config = r#"{"keep-recent-messages":4,"keep-initial-user":false,"trigger":{"turns":1}}"#;
    assert_eq!(trimmed(&recording, 5, config).kept(), [1, 2, 3]);
}

/// T19, PT-T6
#[test]
fn messages_that_are_just_enough_all_stay() {
    let config = r#"{"keep-recent-messages":6}"#;
    assert!(trimmed(&alternate(7), 9, config).unchanged().is_some());
    assert_eq!(
        trimmed(&alternate(8), 9, config).kept(),
        [0, 2, 3, 4, 5, 6, 7]
    );
}

/// T20, PT-T8, PT-N11
#[test]
fn a_batch_that_is_cut_goes_as_a_whole() {
    let recording = Recording::new()
        .user("u0")
        .step("", [call("a", "{}", ""), call("b", "{}", "")])
        .step("a", [])
        .user("u1")
        .step("a1", []);
    let config = r#"{"keep-recent-messages":4,"trigger":{"turns":1}}"#;
    assert_eq!(trimmed(&recording, 5, config).kept(), [0, 3, 4]);
}

/// T21, PT-N12
#[test]
fn a_batch_larger_than_the_limit_survives() {
    let calls = ["a", "b", "c"].map(|name| call(name, "{}", ""));
    let recording = Recording::new().user("u0").step("", calls);
    let config = r#"{"keep-recent-messages":2,"trigger":{"turns":1}}"#;
    assert_eq!(trimmed(&recording, 5, config).kept(), [0, 1]);
    let recording = reading(Recording::new().user("u0"), "old")
        .step("", ["a", "b", "c"].map(|name| call(name, "{}", "")));
    assert_eq!(trimmed(&recording, 5, config).kept(), [0, 2]);
}

/// T22, PT-N12, ALL-N6
#[test]
fn the_newest_request_and_calls_survive() {
    let recording = reading(Recording::new().user("u0"), "a")
        .step("a", [])
        .user("u1");
    let recording = reading(recording, "b").step("a2", []);
    let config = r#"{"keep-recent-messages":2,"trigger":{"turns":1}}"#;
    assert_eq!(trimmed(&recording, 5, config).kept(), [0, 3, 4, 5]);
    let config = r#"{"keep-recent-turns":1,"trigger":{"turns":1}}"#;
    assert_eq!(trimmed(&recording, 5, config).kept(), [0, 3, 4, 5]);
}

/// PT-N13
#[test]
fn turns_are_turns_however_many_messages_they_have() {
    let recording = (0..4).fold(Recording::new(), |recording, n| {
        let recording = recording.user(&n.to_string());
        reading(reading(recording, "a"), "b").step("done", [])
    });
    let config = r#"{"keep-recent-turns":2,"trigger":{"turns":1}}"#;
    let tested = trimmed(&recording, 5, config);
    assert_eq!(tested.kept(), [0, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(tested.count("kept-recent-turns"), Some(2));
}

/// PT-T10, PT-I4, PT-N7
#[test]
fn there_are_always_eleven_figures() {
    for turn in [1, 9] {
        let tested = trimmed(&alternate(12), turn, "");
        let metrics = tested.report.metrics.iter();
        let names: Vec<&str> = metrics.map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, Trim::METRIC_NAMES);
        assert_eq!(names.len(), 11);
        assert_eq!(flag(&tested, "triggered"), turn == 9);
    }
}

#[track_caller]
fn decision(recording: &Recording, turn: u32, used: u32, config: &str) -> Decision {
    let mut situation = recording.situation(PLENTY);
    situation.context = format!(r#"{{"turn":{turn}}}"#);
    situation.used = used;
    let config: Config = serde_json::from_str(config).expect("it is a config");
    Trim::should_compact(&Conversation::new(recording), &situation, &config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

/// PT-T2, PT-T3, PT-T4, PT-I1, PT-N16
#[test]
fn it_says_when_it_is_time() {
    let tokens = r#"{"trigger":{"tokens":1000}}"#;
    let compact = |reason: &str| Decision::Compact(reason.to_owned());
    let is_wait = |decision| matches!(decision, Decision::Wait(_));
    assert_eq!(
        decision(&alternate(12), 9, 0, "{}"),
        compact("turn_pressure")
    );
    assert!(is_wait(decision(&alternate(12), 8, 0, "{}")));
    assert_eq!(
        decision(&alternate(12), 1, 1000, tokens),
        compact("token_pressure")
    );
    assert!(is_wait(decision(&alternate(12), 99, 999, tokens)));
    // Nothing to remove, so it would only be asked again.
    assert!(is_wait(decision(&alternate(2), 99, 0, "{}")));
    assert_eq!(
        decision(&alternate(2), 1, PLENTY + 1, "{}"),
        Decision::HostDecides
    );
}

/// PT-T2
#[test]
fn where_nobody_says_the_turn_it_is_counted() {
    let recording = alternate(18);
    let tested = trimmed_in(&recording, &recording.situation(PLENTY), "");
    assert_eq!(reason(&tested), "turn_pressure");
    let recording = alternate(16);
    let tested = trimmed_in(&recording, &recording.situation(PLENTY), "");
    assert_eq!(reason(&tested), "none");
}

#[test]
fn the_example_of_the_readme_is_true() {
    let recording = (1..=5).fold(Recording::new().system("Be careful."), |recording, _| {
        reading(recording.user("a request"), "a file").step("a reply", [])
    });
    let config = r#"{"keep-recent-turns":2,"trigger":{"turns":4}}"#;
    let tested = trimmed_in(&recording, &recording.situation(PLENTY), config);
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&tested.render()), "{}", tested.render());
}
