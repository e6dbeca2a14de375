use baler_strategy::Failure;
use baler_strategy::testing::run;

use super::agent;
use crate::MaskToolOutputs;

#[test]
fn a_bad_config_names_the_field_and_what_is_allowed() {
    let recording = agent();
    let refusal =
        |config: &str| match run::<MaskToolOutputs>(&recording, &recording.situation(0), config) {
            Err(Failure::BadConfig(message)) => message,
            other => panic!("not refused: {other:?}"),
        };
    assert!(
        refusal(r#"{"keep":-1}"#).starts_with("`keep`: invalid value: integer `-1`, expected u32")
    );
    assert!(refusal(r#"{"exclude":["a","*b*"]}"#).starts_with("`exclude[1]` must be a name"));
    assert!(refusal(r#"{"min_tokens":1}"#).contains("expected one of `keep`, `min-tokens`"));
}

#[test]
fn the_schema_has_the_defaults_of_the_config() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../config.schema.json")).expect("it is JSON");
    let defaults: serde_json::Map<_, _> = schema["properties"]
        .as_object()
        .expect("it has properties")
        .iter()
        .map(|(name, property)| (name.clone(), property["default"].clone()))
        .collect();
    assert_eq!(defaults.len(), 5);
    let config: crate::Config = serde_json::from_value(defaults.into()).expect("they are a config");
    assert_eq!(config, crate::Config::default());
}
