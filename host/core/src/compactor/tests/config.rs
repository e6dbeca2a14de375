use serde_json::{Value, json};

use crate::compactor::{CompactorConfig, CompactorOptions};

fn on(setting: &Value) -> (String, Value, CompactorOptions) {
    match CompactorConfig::from_json(&setting.to_string()).expect("is a form") {
        CompactorConfig::Off => panic!("{setting} is off"),
        CompactorConfig::On {
            strategy,
            config,
            options,
        } => {
            let config = if config.is_empty() {
                Value::Null
            } else {
                serde_json::from_str(&config).expect("is JSON")
            };
            (strategy, config, *options)
        }
    }
}

/// NZ1, NZ2, PT-11, PT-12, TV1
#[test]
fn nothing_and_false_are_off() {
    for setting in ["null", "false"] {
        let config = CompactorConfig::from_json(setting).expect("is a form");
        assert_eq!(config, CompactorConfig::Off);
    }
}

/// NZ3, TV2
#[test]
fn true_is_the_default() {
    let (strategy, config, options) = on(&json!(true));
    assert_eq!((strategy.as_str(), config), ("native:digest", Value::Null));
    assert_eq!(options, CompactorOptions::default());
}

/// NZ4, NZ9
#[test]
fn a_name_is_a_strategy_with_its_defaults() {
    for setting in [
        json!("coalesce"),
        json!(["coalesce"]),
        json!(["coalesce", {}]),
    ] {
        let (strategy, config, _) = on(&setting);
        assert_eq!((strategy.as_str(), config), ("coalesce", Value::Null));
    }
}

/// NZ5, NZ6, NZ7, PT-15: the strategy merges them over its own defaults.
#[test]
fn a_name_with_options_is_a_strategy_with_these() {
    for options in [
        json!({"println-limit": 5}),
        json!({"println-limit": 10, "tool-call-limit": 30}),
        json!({"custom-opt": "value"}),
    ] {
        let (strategy, config, _) = on(&json!(["coalesce", options]));
        assert_eq!((strategy.as_str(), config), ("coalesce", options));
    }
}

/// NZ8, NZ5
#[test]
fn options_go_over_those_of_a_preset() {
    let (strategy, config, options) =
        on(&json!({"preset": "ptc-runner", "config": {"println-limit": 5}}));
    assert_eq!(strategy, "coalesce");
    assert_eq!(config, json!({"println-limit": 5, "tool-call-limit": 20}));
    assert_eq!(options.triggers.turns, Some(8));
    let (_, config, _) = on(&json!({"preset": "ptc-runner"}));
    assert_eq!(config, json!({"println-limit": 15, "tool-call-limit": 20}));
}

/// AP-7, AP-8, AP-I10, PL-7, PL-9, P1, PU-13, PU-S19, PU-8
#[test]
fn presets_are_those_of_the_systems_that_baler_learned_from() {
    let (strategy, _, options) = on(&json!({"preset": "apeira"}));
    assert_eq!(strategy, "anchored");
    assert_eq!(options.threshold(), Some(115_200));
    let (_, _, options) = on(&json!({"preset": "planck", "compactor": {"context-window": 1000}}));
    assert_eq!(options.threshold(), Some(800));
    assert_eq!(options.undeclared_timeout_ms, Some(120_000));
    let (_, config, options) = on(&json!({"preset": "puck", "config": {"keep-last-messages": 2}}));
    assert_eq!(options.threshold(), None);
    assert_eq!(config["keep-last-messages"], 2);
}

/// NZ10, TV5, TV7, TV9, PL-N18
#[test]
fn any_other_form_is_an_error_that_names_it() {
    for (setting, expected) in [
        (json!(7), "expected a setting for compaction, found 7"),
        (
            json!(""),
            "expected the name of a strategy, found an empty text",
        ),
        (json!([]), "expected a list of a strategy's name"),
        (json!(["a", 3]), "expected a list of a strategy's name"),
        (json!({"stratagem": "x"}), "unknown option `stratagem`"),
        (
            json!({"strategy": 3}),
            "expected `strategy` to be the name of a strategy",
        ),
        (json!({"config": true}), "expected `config` to be an object"),
        (
            json!({"preset": "plank"}),
            "expected `preset` to be one of planck",
        ),
        (
            json!({"compactor": {"target": 3}}),
            "`compactor` is invalid: unknown field `target`",
        ),
        (
            json!({"compactor": {"triggers": {"turns": 0}}}),
            "`compactor` is invalid: `triggers.turns` must be at least 1",
        ),
        (
            json!({"compactor": {"triggers": {"minutes": 5}}}),
            "`compactor` is invalid: unknown field `minutes`",
        ),
        (
            json!({"compactor": {"ask-strategy": "yes"}}),
            "`compactor` is invalid: invalid type",
        ),
    ] {
        let error = CompactorConfig::from_json(&setting.to_string()).expect_err(expected);
        let error = crate::error::with_causes(&error);
        assert!(error.starts_with(expected), "{error}");
    }
    let error = CompactorConfig::from_json("{").expect_err("is cut");
    let expected = "the setting for compaction is not JSON: EOF";
    assert!(
        crate::error::with_causes(&error).starts_with(expected),
        "{error}"
    );
}
