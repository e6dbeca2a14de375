use std::collections::BTreeSet;

use baler_strategy::Failure;
use baler_strategy::testing::run;
use serde_json::Value;

use super::{PLENTY, agent};
use crate::{Coalesce, Config};

#[track_caller]
fn refusal(config: &str, context: &str) -> Failure {
    let recording = agent(1);
    let mut situation = recording.situation(PLENTY);
    situation.context = context.to_owned();
    match run::<Coalesce>(&recording, &situation, config) {
        Err(failure) => failure,
        Ok(tested) => panic!("not refused: {}", tested.render()),
    }
}

/// PT-I5, PT-N9, ALL-N12
#[test]
fn a_bad_config_names_the_field_and_what_is_allowed() {
    let message = |config| match refusal(config, "") {
        Failure::BadConfig(message) => message,
        other => panic!("no bad config: {other:?}"),
    };
    assert!(
        message(r#"{"println-limit":-1}"#)
            .starts_with("`println-limit`: invalid value: integer `-1`, expected u32")
    );
    assert!(message(r#"{"tool-call-limit":"5"}"#).starts_with("`tool-call-limit`: invalid type"));
    assert!(
        message(r#"{"println_limit":5}"#)
            .contains("unknown field `println_limit`, expected one of `println-limit`")
    );
    assert_eq!(
        message(r#"{"line-limit":39}"#),
        "`line-limit` must be at least 40: 39"
    );
}

/// PT-7, PT-13, PT-15, PT-S2
#[test]
fn the_defaults_are_those_of_ptc_runner() {
    let config: Config = serde_json::from_str(r#"{"println-limit":5}"#).expect("a config");
    assert_eq!(
        config,
        Config {
            println_limit: 5,
            ..Config::default()
        }
    );
    let Config {
        println_limit,
        tool_call_limit,
        sample_limit,
        sample_printable_limit,
        ..
    } = Config::default();
    assert_eq!((println_limit, tool_call_limit), (15, 20));
    assert_eq!((sample_limit, sample_printable_limit), (3, 80));
}

/// PT-I5
#[test]
fn a_bad_context_names_the_field() {
    for (context, said) in [
        ("[", "EOF while parsing"),
        ("[]", "it must be an object"),
        (
            r#"{"tools":[{"name":"a","nam":"b"}]}"#,
            "`tools[0]` has an unknown field `nam`, expected one of `signature`, `description`, `name`",
        ),
        (r#"{"tools":[{}]}"#, "`tools[0]` has no `name`"),
        (r#"{"turns-left":"3"}"#, "`turns-left` must be an integer"),
        (
            r#"{"turns":[{"tool-calls":[{"name":1}]}]}"#,
            "`turns[0].tool-calls[0].name` must be a text",
        ),
        (
            r#"{"memory":{"functions":{}}}"#,
            "`memory.functions` must be a list",
        ),
        (
            r#"{"turns":[{"success":1}]}"#,
            "`turns[0].success` must be true or false",
        ),
        (
            r#"{"turns":[{"number":2},{"number":1}]}"#,
            "`turns` must come in the order of their numbers",
        ),
        ("{} {}", "trailing characters"),
    ] {
        match refusal("", context) {
            Failure::Other(message) => assert!(
                message.starts_with(&format!("the context of this call: {said}")),
                "{message}"
            ),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn fields_of_the_context_for_other_strategies_are_passed_over() {
    let recording = agent(5);
    let mut situation = recording.situation(PLENTY);
    let without = run::<Coalesce>(&recording, &situation, "");
    situation.context = r#"{"agent":"a","todo":[1]}"#.to_owned();
    assert_eq!(
        run::<Coalesce>(&recording, &situation, "").map(|tested| tested.report),
        without.map(|tested| tested.report)
    );
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// PT-N17, ALL-N16
#[test]
fn the_schema_has_the_defaults_of_the_config() {
    let schema = schema(include_str!("../../config.schema.json"));
    let defaults: serde_json::Map<_, _> = schema["properties"]
        .as_object()
        .expect("it has properties")
        .iter()
        .map(|(name, property)| (name.clone(), property["default"].clone()))
        .collect();
    assert_eq!(defaults.len(), 8);
    let config: Config = serde_json::from_value(defaults.into()).expect("they are a config");
    assert_eq!(config, Config::default());
}

/// PT-N17, ALL-N16
#[test]
fn the_schema_of_the_context_has_the_fields_that_are_read() {
    let schema = schema(include_str!("../../context.schema.json"));
    let names = |schema: &Value| -> BTreeSet<String> {
        let properties = schema["properties"].as_object();
        properties
            .expect("it has properties")
            .keys()
            .cloned()
            .collect()
    };
    let expected = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let properties = &schema["properties"];
    let turn = &properties["turns"]["items"];
    for (schema, fields) in [
        (
            &schema,
            expected(&[
                "tools",
                "data",
                "memory",
                "turns-left",
                "signature",
                "field-descriptions",
                "turns",
            ]),
        ),
        (
            &properties["tools"]["items"],
            expected(&["name", "signature", "description"]),
        ),
        (&properties["memory"], expected(&["values", "functions"])),
        (
            &properties["memory"]["properties"]["functions"]["items"],
            expected(&["name", "params", "rest", "doc", "returns"]),
        ),
        (
            turn,
            expected(&[
                "number",
                "program",
                "result",
                "prints",
                "tool-calls",
                "success",
                "error",
            ]),
        ),
        (
            &turn["properties"]["tool-calls"]["items"],
            expected(&["name", "arguments", "result"]),
        ),
    ] {
        assert_eq!(names(schema), fields);
    }
}
