use std::num::NonZeroU32;

use baler_strategy::Failure;
use baler_strategy::testing::run;

use super::{PLENTY, alternate};
use crate::config::Keep;
use crate::{Config, TokenCounter, Trigger, Trim};

#[track_caller]
fn refusal(config: &str) -> String {
    let recording = alternate(2);
    match run::<Trim>(&recording, &recording.situation(PLENTY), config) {
        Err(Failure::BadConfig(message)) => message,
        other => panic!("not refused: {other:?}"),
    }
}

#[track_caller]
fn config(text: &str) -> Config {
    serde_json::from_str(text).expect("it is a config")
}

fn trigger(turns: Option<u32>, tokens: Option<u32>) -> Trigger {
    Trigger {
        turns: turns.and_then(NonZeroU32::new),
        tokens: tokens.and_then(NonZeroU32::new),
    }
}

/// TV2, PT-I3
#[test]
fn the_defaults() {
    let config = Config::default();
    assert_eq!(config.keep(), Keep::Turns(3));
    assert!(config.keep_initial_user);
    assert_eq!(config.trigger, trigger(Some(8), None));
    assert_eq!(config.token_counter, TokenCounter::Host);
}

/// TV3, TV4, ALL-N12
#[test]
fn what_is_given_takes_the_place_of_its_default_alone() {
    let five = config(r#"{"keep-recent-turns":5}"#);
    assert_eq!(five.keep(), Keep::Turns(5));
    assert_eq!(five.trigger, Config::default().trigger);
    let tokens = config(r#"{"trigger":{"tokens":5000}}"#);
    assert_eq!(tokens.trigger, trigger(None, Some(5000)));
    assert_eq!(tokens.keep(), Keep::Turns(3));
    assert_eq!(
        config(r#"{"keep-recent-messages":6}"#).keep(),
        Keep::Messages(6)
    );
}

/// TV5, TV11
#[test]
fn a_config_is_an_object() {
    assert_eq!(refusal("[]"), "expected an object");
    for text in ["5", r#""trim""#, "true"] {
        assert!(refusal(text).starts_with("invalid type"), "{text}");
    }
}

/// TV6, TV7, PT-I5, PT-N9
#[test]
fn an_unknown_field_is_named() {
    assert!(
        refusal(r#"{"keep-recent-turn":5}"#)
            .contains("unknown field `keep-recent-turn`, expected one of `keep-recent-turns`")
    );
    assert!(refusal(r#"{"strategy":"last_n"}"#).contains("unknown field `strategy`"));
}

/// TV8, TV9, PT-I5, PT-N9
#[test]
fn a_value_that_makes_no_sense_is_named() {
    for turns in [0, -1] {
        let message = refusal(&format!(r#"{{"keep-recent-turns":{turns}}}"#));
        assert!(
            message.starts_with(&format!(
                "`keep-recent-turns`: invalid value: integer `{turns}`"
            )) && message.contains("expected a nonzero u32"),
            "{message}"
        );
    }
    assert!(refusal(r#"{"keep-initial-user":"yes"}"#).starts_with("`keep-initial-user`: invalid"));
    assert!(
        refusal(r#"{"keep-recent-turns":1,"keep-recent-messages":2}"#)
            .contains("exclude each other")
    );
}

/// TV10, PT-I5
#[test]
fn a_trigger_is_at_least_one_of_turns_and_tokens() {
    for (trigger, said) in [
        ("{}", "expected at least one of `turns` and `tokens`"),
        (
            r#"{"minutes":5}"#,
            "unknown field `minutes`, expected `turns` or `tokens`",
        ),
        (r#"{"turns":0}"#, "expected a nonzero u32"),
        (r#"{"tokens":-10}"#, "expected a nonzero u32"),
        ("8", "expected a map"),
        ("[8]", "expected a map"),
    ] {
        let message = refusal(&format!(r#"{{"trigger":{trigger}}}"#));
        assert!(
            message.starts_with("`trigger") && message.contains(said),
            "{message}"
        );
    }
}

/// TV11
#[test]
fn a_token_counter_is_one_of_two() {
    assert!(
        refusal(r#"{"token-counter":"other/2"}"#)
            .contains("unknown variant `other/2`, expected `host` or `quarter`")
    );
}

/// PT-N17, ALL-N16
#[test]
fn the_schema_has_the_defaults_of_the_config() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../config.schema.json")).expect("it is JSON");
    let defaults: serde_json::Map<_, _> = schema["properties"]
        .as_object()
        .expect("it has properties")
        .iter()
        .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())))
        .collect();
    assert_eq!(defaults.len(), 4);
    let config: Config = serde_json::from_value(defaults.into()).expect("they are a config");
    assert_eq!(config.keep(), Config::default().keep());
    assert_eq!(
        Config {
            keep_recent_turns: None,
            ..config
        },
        Config::default()
    );
}
