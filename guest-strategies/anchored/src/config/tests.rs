use baler_strategy::Failure;
use baler_strategy::testing::{Recording, run};

use super::*;
use crate::Anchored;

fn of(text: &str) -> Config {
    serde_json::from_str(text).expect("it is a config")
}

#[track_caller]
fn refusal(config: &str) -> String {
    let recording = Recording::new();
    match run::<Anchored>(&recording, &recording.situation(100), config) {
        Err(Failure::BadConfig(message)) => message,
        other => panic!("not refused: {other:?}"),
    }
}

/// A22, AP-S1: fractions are cut off, and less than 0 is 0.
#[test]
fn turns_are_whole_and_not_negative() {
    let turns = |number: &str| of(&format!(r#"{{"preserve-turns":{number}}}"#)).turns();
    assert_eq!(["2.7", "-1", "0", "3"].map(turns), [2, 0, 0, 3]);
    assert!(refusal(r#"{"preserve-turns":"2"}"#).starts_with("`preserve-turns`: invalid type"));
}

/// A19, AP-S2, AP-7, AP-9: from the share on, and the product is not rounded.
#[test]
fn the_threshold_itself_is_reached() {
    let reached = |used| Config::default().is_reached(used, 1_000);
    assert_eq!([899, 900, 950].map(reached), [false, true, true]);
    assert!(!Config::default().is_reached(900, 1_001));
}

/// A20, AP-8: a window that is not known has 128000 tokens.
#[test]
fn a_window_that_is_not_known_has_a_size() {
    assert!(Config::default().is_reached(115_200, 0));
    assert!(!Config::default().is_reached(115_199, 0));
}

/// ALL-N12: what is absent is as documented: AP-2, AP-3, AP-7.
#[test]
fn what_is_absent_is_as_documented() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../config.schema.json")).expect("it is JSON");
    let fields = schema["properties"].as_object().expect("it has fields");
    assert_eq!(fields.len(), 6);
    for (name, field) in fields {
        let config = format!(r#"{{"{name}":{}}}"#, field["default"]);
        assert_eq!(of(&config), Config::default(), "{config}");
    }
}

#[test]
fn a_bad_config_names_the_field_and_what_is_allowed() {
    for (config, message) in [
        (
            r#"{"threshold":0}"#,
            "`threshold` must be over 0 and at most 1: 0",
        ),
        (
            r#"{"max-output-tokens":63}"#,
            "`max-output-tokens` must be at least 64: 63",
        ),
        (
            r#"{"instructions":""}"#,
            "`instructions` must not be blank: leave it out for the default",
        ),
    ] {
        assert_eq!(refusal(config), message);
    }
    assert!(refusal(r#"{"preserveTurns":2}"#).contains("unknown field `preserveTurns`"));
    assert!(refusal(r#"{"role":"system"}"#).contains("expected `user` or `developer`"));
}
