//! Checking a strategy's config against the schema that it declares, before it is called.

use std::borrow::Cow;

use serde_json::Value;

use crate::strategy::{ConfigError, MAX_CONFIG_BYTES};

/// The most of what may have to be compared: values of the schema times values of the config. Each can
/// end in an error of some hundred bytes.
const MOST_WORK: usize = 200_000;

/// The most for which problems are told: values of the schema times bytes of the config. A form that did not
/// fit, of `anyOf` or `oneOf`, ends in an error with a copy of what it was compared with.
const MOST_TOLD: usize = 4 << 20;

/// The most patterns in a schema.
const PATTERNS: usize = 32;

/// The most that is matched: patterns times bytes of the config. A hostile pattern takes some 15 µs for a byte, so
/// this is a second or so, and nothing can end it earlier.
const MOST_MATCHED: usize = 64 << 10;

/// The most for which problems are told: the same times the depth of the schema. Forms within forms are matched
/// again at each of their levels.
const MOST_TOLD_MATCHED: usize = 256 << 10;

/// The most bytes that a pattern takes compiled, and that its matching remembers: a pattern of a few
/// characters can stand for an automaton of many megabytes.
const PATTERN_BYTES: usize = 256 << 10;

/// The most characters of one problem, which may quote the config.
const PROBLEM: usize = 300;

/// Checks `config` against `schema`. Both may come from a stranger.
pub(crate) fn check(strategy: &str, config: &str, schema: &str) -> Result<(), ConfigError> {
    let bytes = config.len();
    if bytes > MAX_CONFIG_BYTES {
        return Err(ConfigError::TooLarge { bytes });
    }
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
    if schema.len() > MAX_CONFIG_BYTES {
        return Err(unusable(format!(
            "it has more than {MAX_CONFIG_BYTES} bytes"
        )));
    }
    // serde_json refuses what is nested deeper than 128 levels, so walking it is safe.
    let schema: Value =
        serde_json::from_str(schema).map_err(|error| unusable(error.to_string()))?;
    if has_unsupported(&schema) {
        return Err(unusable(
            "`$ref`, `unevaluatedProperties` and `unevaluatedItems` are not supported".to_owned(),
        ));
    }
    let rules = nodes(&schema);
    let patterns = patterns(&schema);
    if let Some(what) = too_much(rules, nodes(&config), patterns, bytes) {
        return Err(unusable(what));
    }
    // Without backtracking, so that no pattern can hang the host.
    let engine = jsonschema::PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let validator = jsonschema::options()
        .with_pattern_options(engine)
        .build(&schema)
        .map_err(|error| {
            let rule = match patterns {
                0 => String::new(),
                _ => format!(
                    "; patterns have no look-around and no back-references, and each takes at most \
                     {PATTERN_BYTES} bytes compiled"
                ),
            };
            unusable(format!("{}{rule}", short(&error.to_string())))
        })?;
    // Unlike a list of errors, this takes no memory for each of them.
    if validator.is_valid(&config) {
        return Ok(());
    }
    let invalid = |problems| {
        Err(ConfigError::Invalid {
            strategy: strategy.to_owned(),
            problems,
        })
    };
    if let Some(why) = too_much_to_tell(rules, patterns, depth(&schema), bytes) {
        return invalid(vec![format!(
            "it does not obey the schema; where cannot be told, as {why} is the most for that; try a smaller config"
        )]);
    }
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
            format!("at {}: {}{known}", short(&at), short(&error.to_string()))
        })
        .collect();
    invalid(problems)
}

/// Why a schema of so many values and patterns is not checked against a config of so many values and bytes; none
/// where it is.
fn too_much(rules: usize, values: usize, patterns: usize, bytes: usize) -> Option<String> {
    let work = rules.saturating_mul(values);
    if work > MOST_WORK {
        return Some(format!(
            "its values times those of the config are {work}; the most is {MOST_WORK}"
        ));
    }
    if patterns > PATTERNS {
        return Some(format!(
            "it has {patterns} patterns; the most is {PATTERNS}"
        ));
    }
    let matched = patterns.saturating_mul(bytes);
    (matched > MOST_MATCHED).then(|| {
        format!(
            "its patterns ({patterns}) times the bytes of the config ({bytes}) are {matched}; the most is \
             {MOST_MATCHED}"
        )
    })
}

/// Why it is not told where a config does not obey; none where it is.
fn too_much_to_tell(rules: usize, patterns: usize, depth: usize, bytes: usize) -> Option<String> {
    let told = rules.saturating_mul(bytes);
    if told > MOST_TOLD {
        return Some(format!(
            "the values of the schema ({rules}) times the bytes of the config ({bytes}) are {told}, and {MOST_TOLD}"
        ));
    }
    let matched = patterns.saturating_mul(bytes).saturating_mul(depth);
    (matched > MOST_TOLD_MATCHED).then(|| {
        format!(
            "the patterns of the schema ({patterns}) times its levels ({depth}) times the bytes of the config \
             ({bytes}) are {matched}, and {MOST_TOLD_MATCHED}"
        )
    })
}

/// Cuts a text after [`PROBLEM`] characters.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(PROBLEM) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
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
        let forms = forms.into_iter().flatten().filter_map(form);
        let forms: Vec<String> = forms.take(LISTED).collect();
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

/// Returns whether a schema has a keyword that could harm the host. A reference can lead in a circle, which
/// would overflow the validator's stack. The unevaluated keywords evaluate everything below them again, so
/// nested ones take exponential time.
fn has_unsupported(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            matches!(
                key.as_str(),
                "$ref"
                    | "$dynamicRef"
                    | "$recursiveRef"
                    | "unevaluatedProperties"
                    | "unevaluatedItems"
            ) || has_unsupported(value)
        }),
        Value::Array(items) => items.iter().any(has_unsupported),
        _ => false,
    }
}

/// Counts the values, nested ones included.
fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(nodes).sum(),
        Value::Array(items) => items.iter().map(nodes).sum(),
        _ => 0,
    }
}

/// Counts the levels of values within values.
fn depth(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Counts the patterns, nested ones included.
fn patterns(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let own = match (key.as_str(), value) {
                    ("pattern", _) => 1,
                    ("patternProperties", Value::Object(patterns)) => patterns.len(),
                    _ => 0,
                };
                own + patterns(value)
            })
            .sum(),
        Value::Array(items) => items.iter().map(patterns).sum(),
        _ => 0,
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
            r#"{"anyOf":[{"properties":{"z":{}}}],"unevaluatedProperties":false}"#,
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
    fn a_pattern_takes_no_more_memory_than_it_may() {
        // Each of these would take some megabytes.
        let large = r#"{"patternProperties":{"(\\w{60}){300}":{}}}"#;
        let many: String = (0..=PATTERNS)
            .map(|index| format!(r#"{{"pattern":"^a{index}$"}},"#))
            .collect();
        let many = format!(r#"{{"allOf":[{}]}}"#, many.trim_end_matches(','));
        for (schema, expected) in [(large, "262144 bytes compiled"), (&many, "33 patterns")] {
            let error = check("s", r#"{"a":"b"}"#, schema).unwrap_err();
            assert!(matches!(error, ConfigError::Schema { .. }), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let ordinary = r#"{"properties":{"model":{"pattern":"^[a-z0-9.-]{1,64}$"}}}"#;
        assert!(check("s", r#"{"model":"gpt-5.2"}"#, ordinary).is_ok());
        assert!(check("s", r#"{"model":"GPT"}"#, ordinary).is_err());
    }

    #[test]
    fn a_large_config_is_refused_and_a_long_value_not_repeated_whole() {
        let config = |length: usize| format!(r#"{{"keep":"{}"}}"#, "x".repeat(length));
        let error = check("s", &config(MAX_CONFIG_BYTES), SCHEMA).unwrap_err();
        assert!(matches!(error, ConfigError::TooLarge { bytes } if bytes == MAX_CONFIG_BYTES + 11));
        let error = check("s", &config(MAX_CONFIG_BYTES / 2), SCHEMA).unwrap_err();
        assert!(matches!(error, ConfigError::Invalid { .. }));
        assert!(error.to_string().len() < 1_000, "{error:.200}");
    }

    #[test]
    fn a_schema_and_a_config_that_multiply_are_refused() {
        let list = |item: &str, count: usize| vec![item; count].join(",");
        let schema = format!(r#"{{"items":{{"allOf":[{}]}}}}"#, list("false", 1_000));
        let config = |count: usize| format!("[{}]", list("0", count));
        let error = check("s", &config(1_000), &schema).unwrap_err();
        assert!(matches!(error, ConfigError::Schema { .. }), "{error}");
        let error = check("s", &config(100), &schema).unwrap_err();
        assert!(matches!(error, ConfigError::Invalid { .. }), "{error:.200}");
    }

    /// Each form that did not fit would hold a copy of the config.
    #[test]
    fn where_many_forms_refuse_a_long_config_only_that_is_told() {
        let text = |length: usize| format!(r#""{}""#, "x".repeat(length));
        for several in ["anyOf", "oneOf"] {
            let forms = vec![r#"{"type":"integer"}"#; 2_000].join(",");
            let schema = format!(r#"{{"{several}":[{forms}]}}"#);
            // An object, a list, and 2000 objects of one member each, times 1998 and two quotes.
            let message = check("s", &text(1_998), &schema).unwrap_err().to_string();
            assert!(
                message.contains("(4002) times the bytes of the config (2000) are 8004000"),
                "{message:.300}"
            );
            let message = check("s", &text(3), &schema).unwrap_err().to_string();
            assert!(message.contains("at the config: "), "{message:.300}");
            let fitting = format!(r#"{{"{several}":[{forms},{{"type":"string"}}]}}"#);
            assert!(check("s", &text(1_998), &fitting).is_ok());
        }
    }

    /// Each of these patterns takes microseconds for each byte.
    #[test]
    fn patterns_and_a_config_that_multiply_are_refused() {
        let slow: String = (0..8)
            .map(|index| format!(r#"{{"pattern":"[ab]*a[ab]{{800}}[^ab{index}]"}},"#))
            .collect();
        let slow = format!(r#"{{"allOf":[{}]}}"#, slow.trim_end_matches(','));
        let config = |length: usize| format!(r#""{}""#, "ab".repeat(length / 2));
        let error = check("s", &config(60_000), &slow).unwrap_err();
        assert!(matches!(error, ConfigError::Schema { .. }), "{error:.200}");
        let told = "its patterns (8) times the bytes of the config (60002) are 480016";
        assert!(error.to_string().contains(told), "{error:.300}");
        // Where forms nest, each level would match again.
        let nested = (0..30).fold(r#"{"pattern":"^c"}"#.to_owned(), |inner, _| {
            format!(r#"{{"anyOf":[{inner}]}}"#)
        });
        let error = check("s", &config(30_000), &nested).unwrap_err();
        assert!(matches!(error, ConfigError::Invalid { .. }), "{error:.200}");
        let told = "the patterns of the schema (1) times its levels (62)";
        assert!(error.to_string().contains(told), "{error:.300}");
        let error = check("s", &config(100), &nested).unwrap_err();
        assert!(
            error.to_string().contains("at the config: "),
            "{error:.300}"
        );
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
