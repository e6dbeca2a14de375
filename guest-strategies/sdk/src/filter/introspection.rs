//! What a filter and the strategy behind it are together.

use serde_json::{Map, Value as Json, json};

use super::Filter;
use crate::{Failure, Introspection, Metric, Value};

/// Returns the description of a filter before the strategy that `behind` describes.
pub(crate) fn joined<S: Filter>(behind: Introspection) -> Result<Introspection, Failure> {
    let sum = |asked: Option<u32>, more: Option<u32>| {
        asked.map(|asked| asked.saturating_add(more.unwrap_or(0)))
    };
    let named = |name: &str, version: &str| Metric {
        name: name.to_owned(),
        value: Value::Text(version.to_owned()),
    };
    let mut metadata = vec![named(S::NAME, S::VERSION)];
    if behind.metadata.is_empty() {
        metadata.push(named(&behind.name, &behind.version));
    }
    metadata.extend(behind.metadata);
    Ok(Introspection {
        name: format!("{}-{}", S::NAME, behind.name),
        version: version(&behind.version, S::NAME, S::VERSION),
        description: format!("{} Then: {}", S::DESCRIPTION, behind.description),
        config_schema: schema(&behind.config_schema, S::NAME, S::CONFIG_SCHEMA)?,
        reason_codes: union(behind.reason_codes, S::REASON_CODES),
        metric_names: union(behind.metric_names, S::METRIC_NAMES),
        timeout_ms: sum(behind.timeout_ms, S::LIMITS.timeout_ms),
        memory_mib: sum(behind.memory_mib, S::LIMITS.memory_mib),
        fuel: behind
            .fuel
            .map(|fuel| fuel.saturating_add(S::LIMITS.fuel.unwrap_or(0))),
        metadata,
    })
}

/// Returns a version with that of a filter as build metadata: `1.2.0+redact.0.1.0`.
fn version(behind: &str, name: &str, own: &str) -> String {
    let sign = if behind.contains('+') { '.' } else { '+' };
    let own = own.replace('+', ".");
    format!("{behind}{sign}{name}.{own}")
}

fn union(mut names: Vec<String>, more: &[&str]) -> Vec<String> {
    for name in more {
        if !names.iter().any(|own| own == name) {
            names.push((*name).to_owned());
        }
    }
    names
}

/// Returns the schema of a config with the member `name`. Without a schema a strategy takes no config.
fn schema(behind: &str, name: &str, own: &str) -> Result<String, Failure> {
    if own.is_empty() {
        return Ok(behind.to_owned());
    }
    let unread = |whose: &str| Failure::Other(format!("the schema of {whose} is no JSON object"));
    let own: Map<String, Json> = serde_json::from_str(own).map_err(|_| unread(name))?;
    let mut schema = match behind {
        "" => json!({"type": "object", "additionalProperties": false}),
        behind => serde_json::from_str(behind).map_err(|_| unread("the strategy behind"))?,
    };
    let members = schema
        .as_object_mut()
        .ok_or_else(|| unread("the strategy behind"))?;
    members
        .entry("properties")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .ok_or_else(|| unread("the strategy behind"))?
        .insert(name.to_owned(), Json::Object(own));
    Ok(schema.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_a_member_for_the_filter() {
        let own = r#"{"type":"object"}"#;
        for (behind, joined) in [
            (
                "",
                r#"{"additionalProperties":false,"properties":{"filter":{"type":"object"}},"type":"object"}"#,
            ),
            (
                r#"{"properties":{"keep":{}},"additionalProperties":false}"#,
                r#"{"additionalProperties":false,"properties":{"keep":{},"filter":{"type":"object"}}}"#,
            ),
        ] {
            let schema = schema(behind, "filter", own).expect("is joined");
            let read = |text: &str| serde_json::from_str::<Json>(text).expect("is JSON");
            assert_eq!(read(&schema), read(joined));
        }
        assert_eq!(schema("{}", "filter", "").expect("stays"), "{}");
        assert!(schema("true", "filter", own).is_err());
    }

    #[test]
    fn the_version_names_that_of_each_filter() {
        let one = version("1.2.0", "redact", "0.1.0");
        assert_eq!(one, "1.2.0+redact.0.1.0");
        assert_eq!(
            version(&one, "other", "2.0.0"),
            "1.2.0+redact.0.1.0.other.2.0.0"
        );
    }
}
