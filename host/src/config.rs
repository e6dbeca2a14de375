//! Checking a strategy's config against the schema that it declares, before it is called.

use serde_json::Value;

/// The most bytes of a schema that is looked at.
const SCHEMA_BYTES: usize = 64 << 10;

/// A config cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not JSON.
    #[error("the config is not JSON: {0}")]
    NotJson(String),
    /// The strategy takes none.
    #[error("`{strategy}` takes no config")]
    NotTaken {
        /// The strategy.
        strategy: String,
    },
    /// It does not obey the strategy's schema.
    #[error("the config of `{strategy}` is wrong: {}", problems.join("; "))]
    Invalid {
        /// The strategy.
        strategy: String,
        /// Where, and what is allowed there.
        problems: Vec<String>,
    },
    /// The strategy's schema cannot be used.
    #[error("`{strategy}` declares a config schema that cannot be used: {what}")]
    Schema {
        /// The strategy.
        strategy: String,
        /// Why not.
        what: String,
    },
    /// The strategy could not be asked for its schema.
    #[error("`{strategy}` could not be asked for its config schema: {what}")]
    NoIntrospection {
        /// The strategy.
        strategy: String,
        /// What happened.
        what: String,
    },
}

/// Checks `config` against `schema`. Both may come from a stranger.
pub(crate) fn check(strategy: &str, config: &str, schema: &str) -> Result<(), ConfigError> {
    let config: Value =
        serde_json::from_str(config).map_err(|error| ConfigError::NotJson(error.to_string()))?;
    if schema.trim().is_empty() {
        let is_empty = config.as_object().is_some_and(serde_json::Map::is_empty);
        return if is_empty {
            Ok(())
        } else {
            Err(ConfigError::NotTaken {
                strategy: strategy.to_owned(),
            })
        };
    }
    let unusable = |what: String| ConfigError::Schema {
        strategy: strategy.to_owned(),
        what,
    };
    if schema.len() > SCHEMA_BYTES {
        return Err(unusable(format!("it has more than {SCHEMA_BYTES} bytes")));
    }
    // serde_json refuses what is nested deeper than 128 levels, so walking it is safe.
    let schema: Value =
        serde_json::from_str(schema).map_err(|error| unusable(error.to_string()))?;
    if has_reference(&schema) {
        return Err(unusable("references (`$ref`) are not supported".to_owned()));
    }
    let validator = jsonschema::options()
        // Without backtracking, so that no pattern can hang the host.
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(&schema)
        .map_err(|error| unusable(error.to_string()))?;
    let problems: Vec<String> = validator
        .iter_errors(&config)
        .take(5)
        .map(|error| {
            let at = error.instance_path().to_string();
            let at = if at.is_empty() {
                "the config".to_owned()
            } else {
                format!("`{at}`")
            };
            let known = known(&schema, error.schema_path().as_str());
            format!("at {at}: {error}{known}")
        })
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ConfigError::Invalid {
            strategy: strategy.to_owned(),
            problems,
        })
    }
}

/// The names of the fields or values that are allowed, where one that is not was refused. `path`
/// is the place of the rule in the schema.
fn known(schema: &Value, path: &str) -> String {
    if path.ends_with("/enum") {
        let values = schema.pointer(path).and_then(Value::as_array);
        let values = values.into_iter().flatten().take(LISTED);
        let values: Vec<String> = values.map(ToString::to_string).collect();
        return format!("; allowed: {}", values.join(", "));
    }
    if path.ends_with("/oneOf") || path.ends_with("/anyOf") {
        let forms = schema.pointer(path).and_then(Value::as_array);
        let forms: Vec<String> = forms.into_iter().flatten().filter_map(form).collect();
        return if forms.is_empty() {
            String::new()
        } else {
            format!("; allowed: {}", forms.join(", "))
        };
    }
    let fields = path
        .strip_suffix("/additionalProperties")
        .and_then(|place| schema.pointer(place)?.get("properties")?.as_object());
    fields.map_or(String::new(), |fields| {
        let names: Vec<&str> = fields.keys().map(String::as_str).take(LISTED).collect();
        format!("; known: {}", names.join(", "))
    })
}

/// The most names in a message.
const LISTED: usize = 40;

/// One of several forms that a value may have, in short.
fn form(schema: &Value) -> Option<String> {
    if let Some(value) = schema.get("const") {
        return Some(value.to_string());
    }
    if let Some(names) = schema.get("required").and_then(Value::as_array) {
        let names: Vec<String> = names
            .iter()
            .filter_map(Value::as_str)
            .map(|name| format!("\"{name}\": …"))
            .collect();
        return Some(format!("{{{}}}", names.join(", ")));
    }
    Some(schema.get("type")?.as_str()?.to_owned())
}

/// A reference can lead in a circle, which would overflow the validator's stack.
fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") || has_reference(value)
        }),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"properties":{"keep":{"type":"integer","minimum":1}}}"#;

    #[test]
    fn a_config_that_obeys_is_taken() {
        assert!(check("s", r#"{"keep":3}"#, SCHEMA).is_ok());
        assert!(check("s", "{}", "").is_ok());
    }

    #[test]
    fn a_problem_is_told_with_its_place_and_what_is_allowed() {
        let message = |config| check("s", config, SCHEMA).unwrap_err().to_string();
        assert!(message(r#"{"keep":0}"#).contains("at `/keep`: 0 is less than the minimum of 1"));
        assert!(message(r#"{"kep":3}"#).ends_with("('kep' was unexpected); known: keep"));
        assert!(message("{").contains("not JSON"));
        let forms = r#"{"properties":{"keep":{"oneOf":[{"const":"all"},{"type":"object","required":["units"]}]}}}"#;
        let message = check("s", r#"{"keep":5}"#, forms).unwrap_err().to_string();
        assert!(
            message.ends_with(r#"; allowed: "all", {"units": …}"#),
            "{message}"
        );
        let values = r#"{"properties":{"work":{"enum":["auto","coding","service","chat"]}}}"#;
        let message = check("s", r#"{"work":"codng"}"#, values)
            .unwrap_err()
            .to_string();
        assert!(
            message.ends_with(r#"; allowed: "auto", "coding", "service", "chat""#),
            "{message}"
        );
    }

    #[test]
    fn a_schema_that_could_harm_the_host_is_refused() {
        for schema in [
            r##"{"$ref":"#"}"##,
            "[".repeat(100_000).as_str(),
            "nonsense",
        ] {
            assert!(
                matches!(check("s", "{}", schema), Err(ConfigError::Schema { .. })),
                "{schema:.20}"
            );
        }
    }

    #[test]
    fn a_pattern_cannot_hang_the_host() {
        let schema = r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#;
        let config = format!(r#"{{"a":"{}b"}}"#, "a".repeat(5_000));
        assert!(matches!(
            check("s", &config, schema),
            Err(ConfigError::Invalid { .. })
        ));
    }
}
