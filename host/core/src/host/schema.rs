//! Checks a value against a JSON schema. Both are untrusted.

use std::borrow::Cow;

use serde_json::Value;

use crate::strategy::{ConfigError, MAX_CONFIG_BYTES, SchemaProblem};

/// Maximum number of comparisons: values of the schema times values of the config. Each comparison can end in
/// an error of some hundred bytes.
const MAX_WORK: usize = 200_000;

/// Maximum work for listing problems: values of the schema times bytes of the config. Each case of `anyOf` or
/// `oneOf` that does not match ends in an error with a copy of the compared value.
const MAX_LISTING_WORK: usize = 4 << 20;

/// Maximum number of patterns in a schema.
const PATTERNS: usize = 32;

/// Maximum work for matching: patterns times bytes of the config. A hostile pattern takes about 15 µs for
/// each byte, so this is about a second, and nothing can interrupt it.
const MAX_MATCHES: usize = 64 << 10;

/// Maximum work for matching while problems are listed: patterns times bytes of the config times depth of the
/// schema. Nested cases are matched again at each level.
const MAX_LISTING_MATCHES: usize = 256 << 10;

/// Maximum bytes of a compiled pattern, and of the cache of its matching. A pattern of a few characters can
/// need an automaton of many megabytes.
const PATTERN_BYTES: usize = 256 << 10;

/// Maximum characters of one problem, which may quote the config.
const PROBLEM_CHARACTERS: usize = 300;

/// Checks a config, which has `bytes` bytes of JSON, against the JSON schema `schema` of the strategy with this name.
pub(super) fn check(
    strategy: &str,
    config: &Value,
    bytes: usize,
    schema: &str,
) -> Result<(), ConfigError> {
    let unusable = |problem: SchemaProblem| ConfigError::Schema {
        strategy: strategy.to_owned(),
        problem,
    };
    let schema = parse_schema(schema).map_err(unusable)?;
    let rules = nodes(&schema);
    let patterns = patterns(&schema);
    if let Some(problem) = too_much(rules, nodes(config), patterns, bytes) {
        return Err(unusable(problem));
    }
    let validator = validator(&schema, patterns).map_err(unusable)?;
    // Unlike a list of errors, this needs no memory for each error.
    if validator.is_valid(config) {
        return Ok(());
    }
    let problems = match too_much_to_list(rules, patterns, depth(&schema), bytes) {
        Some(why) => vec![format!(
            "it does not match the schema; the place is unknown, as {why} is the maximum for finding it; try a \
             smaller config"
        )],
        None => problems(&validator, &schema, config),
    };
    Err(ConfigError::Invalid {
        strategy: strategy.to_owned(),
        problems,
    })
}

/// Parses a schema. Rejects one that is too large, no JSON, or has a keyword that could harm the host.
fn parse_schema(schema: &str) -> Result<Value, SchemaProblem> {
    if schema.len() > MAX_CONFIG_BYTES {
        return Err(SchemaProblem::TooLarge {
            max: MAX_CONFIG_BYTES,
        });
    }
    // serde_json rejects values that are nested deeper than 128 levels, so walking the schema is safe.
    let schema: Value =
        serde_json::from_str(schema).map_err(|error| SchemaProblem::NotJson(error.into()))?;
    if has_unsupported(&schema) {
        return Err(SchemaProblem::Unsupported);
    }
    Ok(schema)
}

/// Compiles a schema with this number of patterns.
fn validator(schema: &Value, patterns: usize) -> Result<jsonschema::Validator, SchemaProblem> {
    // This engine does not backtrack, so no pattern can hang the host.
    let engine = jsonschema::PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    jsonschema::options()
        .with_pattern_options(engine)
        .build(schema)
        .map_err(|error| {
            let rule = match patterns {
                0 => String::new(),
                _ => format!(
                    "; patterns have no look-around and no back-references, and each has at most \
                     {PATTERN_BYTES} bytes compiled"
                ),
            };
            SchemaProblem::Rejected(format!("{}{rule}", short(&error.to_string())))
        })
}

/// Returns the first problems of a config, each with its place and what is allowed there.
fn problems(validator: &jsonschema::Validator, schema: &Value, config: &Value) -> Vec<String> {
    validator
        .iter_errors(config)
        .take(5)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() {
                "the config".to_owned()
            } else {
                format!("`{place}`")
            };
            let allowed = allowed(schema, error.schema_path().as_str());
            format!(
                "at {}: {}{allowed}",
                short(&place),
                short(&error.to_string())
            )
        })
        .collect()
}

/// Returns why a schema is not checked against a config, given their sizes; `None` if it is checked.
fn too_much(rules: usize, values: usize, patterns: usize, bytes: usize) -> Option<SchemaProblem> {
    let work = rules.saturating_mul(values);
    if work > MAX_WORK {
        return Some(SchemaProblem::TooMuchWork {
            work,
            max: MAX_WORK,
        });
    }
    if patterns > PATTERNS {
        return Some(SchemaProblem::TooManyPatterns {
            patterns,
            max: PATTERNS,
        });
    }
    let work = patterns.saturating_mul(bytes);
    (work > MAX_MATCHES).then_some(SchemaProblem::TooMuchMatching {
        patterns,
        bytes,
        work,
        max: MAX_MATCHES,
    })
}

/// Returns why the problems of a config are not listed, given the sizes; `None` if they are listed.
fn too_much_to_list(rules: usize, patterns: usize, depth: usize, bytes: usize) -> Option<String> {
    let work = rules.saturating_mul(bytes);
    if work > MAX_LISTING_WORK {
        return Some(format!(
            "the values of the schema ({rules}) times the bytes of the config ({bytes}) are {work}, and {MAX_LISTING_WORK}"
        ));
    }
    let matched = patterns.saturating_mul(bytes).saturating_mul(depth);
    (matched > MAX_LISTING_MATCHES).then(|| {
        format!(
            "the patterns of the schema ({patterns}) times its levels ({depth}) times the bytes of the config \
             ({bytes}) are {matched}, and {MAX_LISTING_MATCHES}"
        )
    })
}

/// Cuts a text after [`PROBLEM_CHARACTERS`] characters.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(PROBLEM_CHARACTERS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Returns the allowed fields or values, as the end of a message. `path` is the place of the broken rule in
/// the schema.
fn allowed(schema: &Value, path: &str) -> String {
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

/// Maximum number of names in a message.
const LISTED: usize = 40;

/// Returns a short form of one case of `oneOf` or `anyOf`.
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
    use crate::host::config::check;

    const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"properties":{"keep":{"type":"integer","minimum":1}}}"#;

    #[test]
    fn check_accepts_a_config_that_matches_the_schema() {
        assert!(check("s", r#"{"keep":3}"#, SCHEMA).is_ok());
        assert!(check("s", "{}", "").is_ok());
    }

    #[test]
    fn problem_names_its_place_and_what_is_allowed() {
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
    fn harmful_schema_is_rejected() {
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
    fn patterns_are_limited_in_size_and_number() {
        // Each of these would take some megabytes.
        let large = r#"{"patternProperties":{"(\\w{60}){300}":{}}}"#;
        let many: String = (0..=PATTERNS)
            .map(|index| format!(r#"{{"pattern":"^a{index}$"}},"#))
            .collect();
        let many = format!(r#"{{"allOf":[{}]}}"#, many.trim_end_matches(','));
        for (schema, expected) in [(large, "262144 bytes compiled"), (&many, "33 patterns")] {
            let error = check("s", r#"{"a":"b"}"#, schema).unwrap_err();
            assert!(matches!(error, ConfigError::Schema { .. }), "{error}");
            let text = crate::error::with_causes(&error);
            assert!(text.contains(expected), "{text}");
        }
        let ordinary = r#"{"properties":{"model":{"pattern":"^[a-z0-9.-]{1,64}$"}}}"#;
        assert!(check("s", r#"{"model":"gpt-5.2"}"#, ordinary).is_ok());
        assert!(check("s", r#"{"model":"GPT"}"#, ordinary).is_err());
    }

    #[test]
    fn large_config_is_rejected_and_a_long_value_is_quoted_in_part() {
        let config = |length: usize| format!(r#"{{"keep":"{}"}}"#, "x".repeat(length));
        let error = check("s", &config(MAX_CONFIG_BYTES), SCHEMA).unwrap_err();
        assert!(matches!(error, ConfigError::TooLarge { bytes } if bytes == MAX_CONFIG_BYTES + 11));
        let error = check("s", &config(MAX_CONFIG_BYTES / 2), SCHEMA).unwrap_err();
        assert!(matches!(error, ConfigError::Invalid { .. }));
        assert!(error.to_string().len() < 1_000, "{error:.200}");
    }

    #[test]
    fn schema_and_config_with_too_many_comparisons_are_rejected() {
        let list = |item: &str, count: usize| vec![item; count].join(",");
        let schema = format!(r#"{{"items":{{"allOf":[{}]}}}}"#, list("false", 1_000));
        let config = |count: usize| format!("[{}]", list("0", count));
        let error = check("s", &config(1_000), &schema).unwrap_err();
        assert!(matches!(error, ConfigError::Schema { .. }), "{error}");
        let error = check("s", &config(100), &schema).unwrap_err();
        assert!(matches!(error, ConfigError::Invalid { .. }), "{error:.200}");
    }

    /// Each case that does not match would hold a copy of the config.
    #[test]
    fn problems_are_not_listed_for_many_cases_and_a_long_config() {
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
    fn patterns_and_config_with_too_much_matching_are_rejected() {
        let slow: String = (0..8)
            .map(|index| format!(r#"{{"pattern":"[ab]*a[ab]{{800}}[^ab{index}]"}},"#))
            .collect();
        let slow = format!(r#"{{"allOf":[{}]}}"#, slow.trim_end_matches(','));
        let config = |length: usize| format!(r#""{}""#, "ab".repeat(length / 2));
        let error = check("s", &config(60_000), &slow).unwrap_err();
        assert!(matches!(error, ConfigError::Schema { .. }), "{error:.200}");
        let told = "its patterns (8) times the bytes of the config (60002) are 480016";
        let text = crate::error::with_causes(&error);
        assert!(text.contains(told), "{text:.300}");
        // Each level of nested cases would match again.
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
    fn pattern_cannot_hang_the_host() {
        let schema = r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#;
        let config = format!(r#"{{"a":"{}b"}}"#, "a".repeat(5_000));
        assert!(matches!(
            check("s", &config, schema),
            Err(ConfigError::Invalid { .. })
        ));
    }
}
