//! What two strategies are together.

use baler_strategy::{Failure, Introspection, Metric, Value};
use serde_json::{Value as Json, json};

use crate::config::{FIRST, OTHERWISE};

pub(crate) fn of_both(
    first: Introspection,
    second: Introspection,
) -> Result<Introspection, Failure> {
    // Both are in memory at once, and the second may run after the first. Without a limit of one there is only that of the host.
    let sum = |one: Option<u32>, other: Option<u32>| one?.checked_add(other?);
    Ok(Introspection {
        name: format!("{}-or-{}", first.name, second.name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description: format!(
            "{} If that fails: {}",
            first.description, second.description
        ),
        config_schema: schema(&first, &second)?,
        timeout_ms: sum(first.timeout_ms, second.timeout_ms),
        memory_mib: sum(first.memory_mib, second.memory_mib),
        fuel: first.fuel.and_then(|fuel| fuel.checked_add(second.fuel?)),
        metadata: [facts(&first), facts(&second)].concat(),
        reason_codes: union(first.reason_codes, second.reason_codes),
        metric_names: union(first.metric_names, second.metric_names),
    })
}

/// Returns what a strategy says of itself, with its name and version if that says neither.
fn facts(own: &Introspection) -> Vec<Metric> {
    match own.metadata.is_empty() {
        true => vec![Metric {
            name: own.name.clone(),
            value: Value::Text(own.version.clone()),
        }],
        false => own.metadata.clone(),
    }
}

fn union(mut names: Vec<String>, more: Vec<String>) -> Vec<String> {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn schema(first: &Introspection, second: &Introspection) -> Result<String, Failure> {
    let schema = json!({
        "type": "object",
        "properties": {FIRST: member(first, FIRST)?, OTHERWISE: member(second, OTHERWISE)?},
        "additionalProperties": false,
    });
    Ok(schema.to_string())
}

fn member(own: &Introspection, name: &str) -> Result<Json, Failure> {
    if own.config_schema.is_empty() {
        return Ok(json!({"type": "object", "maxProperties": 0}));
    }
    let mut schema: Json = serde_json::from_str(&own.config_schema)
        .map_err(|_| Failure::Other(format!("the schema of `{}` is no JSON", own.name)))?;
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        // With a name of its own, what it refers to is looked up in itself.
        if own.config_schema.contains("\"$ref\"") {
            members.insert("$id".to_owned(), json!(format!("urn:baler:{name}")));
        }
    }
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategy(name: &str, schema: &str) -> Introspection {
        Introspection {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            description: format!("Does {name}."),
            config_schema: schema.to_owned(),
            reason_codes: vec!["old".to_owned(), name.to_owned()],
            metric_names: Vec::new(),
            timeout_ms: Some(500),
            memory_mib: None,
            fuel: Some(7),
            metadata: Vec::new(),
        }
    }

    #[test]
    fn a_description_has_both() {
        let schema = r##"{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{}}}"##;
        let both = of_both(strategy("one", schema), strategy("two", "")).expect("is described");
        assert_eq!(both.name, "one-or-two");
        assert_eq!(both.description, "Does one. If that fails: Does two.");
        assert_eq!(both.reason_codes, ["old", "one", "two"]);
        assert_eq!(
            (both.timeout_ms, both.memory_mib, both.fuel),
            (Some(1000), None, Some(14))
        );
        let schema: Json = serde_json::from_str(&both.config_schema).expect("is JSON");
        assert_eq!(schema["properties"]["first"]["$id"], "urn:baler:first");
        assert_eq!(schema["properties"]["otherwise"]["maxProperties"], 0);
        let names: Vec<_> = both.metadata.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
    }
}
