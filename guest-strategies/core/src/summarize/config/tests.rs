use baler_strategy::Failure;
use baler_strategy::testing::{Recording, run};

use super::*;
use crate::summarize::Summarize;

impl Config {
    /// The instruction of planck's form.
    pub(crate) fn prompt_of_planck() -> String {
        let config = Self {
            preset: Some(Preset::Planck),
            ..Self::default()
        };
        config.prompt().to_owned()
    }
}

#[track_caller]
fn refusal(config: &str) -> String {
    let recording = Recording::new();
    match run::<Summarize>(&recording, &recording.situation(100), config) {
        Err(Failure::BadConfig(message)) => message,
        other => panic!("not refused: {other:?}"),
    }
}

/// ALL-N12, PU-N9: a config is checked when it is loaded, and the message names the field and
/// what is allowed.
#[test]
fn a_bad_config_names_the_field_and_what_is_allowed() {
    for (config, message) in [
        (
            r#"{"keep-last-messages":0}"#,
            "`keep-last-messages` must be at least 1: 0",
        ),
        (
            r#"{"keep-share":1.5}"#,
            "`keep-share` must be over 0 and at most 1: 1.5",
        ),
        (
            r#"{"trigger-share":0}"#,
            "`trigger-share` must be over 0 and at most 1: 0",
        ),
        (
            r#"{"max-output-tokens":1}"#,
            "`max-output-tokens` must be at least 64: 1",
        ),
        (
            r#"{"keep-last-units":1,"keep-share":0.5}"#,
            "at most one of `keep-last-messages`, `keep-last-units` and `keep-share` may be \
             given: 2 are",
        ),
        (
            r#"{"trigger-tokens":1,"trigger-share":0.5}"#,
            "at most one of `trigger-tokens` and `trigger-share` may be given: 2 are",
        ),
        (
            r#"{"prompt":" "}"#,
            "`prompt` must not be blank: leave it out for the default",
        ),
    ] {
        assert_eq!(refusal(config), message);
    }
    assert!(refusal(r#"{"keep":1}"#).contains("unknown field `keep`"));
    assert!(refusal(r#"{"preset":"plank"}"#).contains("expected `planck` or `puck`"));
}

/// ALL-N12, PU-N2, PL-N18: what is absent or null is as documented, and all of it can be set.
#[test]
fn what_is_absent_is_as_in_the_preset() {
    let of = |text: &str| -> Config { serde_json::from_str(text).expect("it is a config") };
    let planck = of(r#"{"preset":"planck"}"#);
    assert_eq!(planck.keep(), Keep::Messages(10));
    assert_eq!((planck.header(), planck.earlier()), (None, Earlier::Carry));
    let puck = of(r#"{"preset":"puck","header":null}"#);
    assert_eq!(puck.keep(), Keep::Messages(3));
    assert_eq!(puck.header(), Some("[Conversation Summary]"));
    let own = of(r##"{"preset":"puck","keep-last-units":5,"header":"# So far"}"##);
    assert_eq!(
        (own.keep(), own.header()),
        (Keep::Units(5), Some("# So far"))
    );
    assert_eq!(of("{}"), Config::default());
    assert_eq!(Config::default().keep(), Keep::Share(0.1));
}

#[test]
fn the_schema_agrees_with_what_is_read() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../config.schema.json")).expect("it is JSON");
    let fields = schema["properties"].as_object().expect("it has fields");
    assert_eq!(fields.len(), 10);
    for (name, field) in fields {
        let value = match (field["enum"].get(0), field["type"].get(0)) {
            (Some(value), _) => value.to_string(),
            (None, Some(kind)) if kind == "string" => "\"x\"".to_owned(),
            (None, Some(kind)) if kind == "number" => "0.5".to_owned(),
            _ => "100".to_owned(),
        };
        for value in [value.as_str(), "null"] {
            let config = format!(r#"{{"{name}":{value}}}"#);
            let config = serde_json::from_str::<Config>(&config).expect("it is read");
            assert_eq!(config.check(), Ok(()), "{name}");
        }
    }
}
