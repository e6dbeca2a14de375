//! What a strategy says of itself, and how it takes a config.

use std::collections::BTreeSet;

use baler_host::strategy::{ConfigError, IntrospectError, Introspection};
use baler_host::{Host, Strategy, with_causes};
use semver::Version;
use serde_json::{Map, Value, json};

use crate::advice;
use crate::report::{Check, Severity};

/// Checks `introspect`, and the config by its schema.
///
/// # Errors
/// The host or the machine failed.
pub(crate) async fn checks(host: &Host, strategy: &Strategy) -> anyhow::Result<Vec<Check>> {
    let mut check = Check::new("introspect", "asked twice");
    let said = match host.introspect(strategy, None).await {
        Ok(said) => said,
        Err(IntrospectError::Host(error)) => return Err(error.into()),
        Err(error) => {
            let remedy = match &error {
                IntrospectError::Fault(fault) => advice::for_author(fault),
                _ => "`introspect` has to answer without a config",
            };
            check.add(Severity::Error, with_causes(&error), remedy);
            return Ok(vec![check]);
        }
    };
    if host.introspect(strategy, None).await.ok().as_ref() != Some(&said) {
        check.add(
            Severity::Error,
            "it described itself in another way when it was asked again",
            "`introspect` has to give the same answer each time",
        );
    }
    names(&mut check, &said);
    Ok(vec![check, config(host, strategy, &said).await?])
}

/// Decides whether a name is in kebab-case: words of small letters and digits with single hyphens between them.
#[must_use]
pub fn is_kebab(name: &str) -> bool {
    let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.split('-')
        .all(|word| !word.is_empty() && word.chars().all(is_fit))
}

/// Checks what the strategy declares.
fn names(check: &mut Check, said: &Introspection) {
    if !is_kebab(&said.name) {
        check.add(
            Severity::Warning,
            format!("expected a name in kebab-case; found `{}`", said.name),
            "name it in lower-case letters, digits and single hyphens, such as `keep-newest`",
        );
    }
    if let Err(error) = Version::parse(&said.version) {
        let found = &said.version;
        check.add(
            Severity::Warning,
            format!("expected a version such as 0.1.0; found `{found}`: {error}"),
            "declare a semantic version: `baler push` takes no other",
        );
    }
    if said.description.trim().is_empty() {
        check.add(
            Severity::Warning,
            "it has no description",
            "say in one sentence what it keeps: `baler introspect` shows it",
        );
    }
    for (what, all) in [
        ("reason code", &said.reason_codes),
        ("metric", &said.metric_names),
    ] {
        let distinct: BTreeSet<&String> = all.iter().collect();
        let wrong = all.iter().find(|name| !is_kebab(name));
        if let Some(wrong) = wrong {
            check.add(
                Severity::Warning,
                format!("expected names of {what}s in kebab-case; found `{wrong}`"),
                "receipts and metrics hold these names",
            );
        }
        if distinct.len() < all.len() {
            check.add(
                Severity::Warning,
                format!("it declares a {what} twice"),
                "declare each once",
            );
        }
    }
}

/// Checks that the schema can be used, that nothing need be set, and that a mistake is found.
async fn config(host: &Host, strategy: &Strategy, said: &Introspection) -> anyhow::Result<Check> {
    if said.config_schema.trim().is_empty() {
        return Ok(Check::new("config", "it has none"));
    }
    let schema: Value = serde_json::from_str(&said.config_schema).unwrap_or_default();
    let properties = schema["properties"].as_object();
    let members = properties.map_or(0, Map::len);
    let mut check = Check::new(
        "config",
        match members {
            1 => "a schema with 1 member".to_owned(),
            _ => format!("a schema with {members} members"),
        },
    );
    if let Err(error) = configured(host, strategy, &json!({})).await? {
        let remedy = match error {
            ConfigError::Schema { .. } => "declare a JSON Schema of one object, without `$ref`",
            _ => "give every member a default, so that a user need not set any",
        };
        check.add(
            Severity::Error,
            format!(
                "expected that `{{}}` is a valid config: {}",
                with_causes(&error)
            ),
            remedy,
        );
        return Ok(check);
    }
    let unknown = json!({"no-such-member-of-any-config": true});
    if configured(host, strategy, &unknown).await?.is_ok() {
        check.add(
            Severity::Warning,
            "it accepts a config with an unknown member, so a misspelled one is ignored in silence",
            "declare `\"additionalProperties\": false`",
        );
    }
    for (name, property) in properties.into_iter().flatten() {
        let Some(default) = property.get("default") else {
            continue;
        };
        let config = json!({name.as_str(): default});
        if let Err(error) = configured(host, strategy, &config).await? {
            check.add(
                Severity::Error,
                format!(
                    "the default of `{name}` is not a valid value of it: {}",
                    with_causes(&error)
                ),
                "correct the default in the schema, or the check of the config",
            );
        }
    }
    let undescribed = properties.into_iter().flatten();
    let undescribed: Vec<&str> = undescribed
        .filter(|(_, property)| property["description"].as_str().is_none_or(str::is_empty))
        .map(|(name, _)| name.as_str())
        .collect();
    if !undescribed.is_empty() {
        check.add(
            Severity::Warning,
            format!("members without a description: {}", undescribed.join(", ")),
            "say in the schema what each does, and in which unit: it is all that a user sees",
        );
    }
    Ok(check)
}

/// Gives the strategy a config. The outer error is the host's.
async fn configured(
    host: &Host,
    strategy: &Strategy,
    config: &Value,
) -> anyhow::Result<Result<(), ConfigError>> {
    match host.configure(strategy.clone(), &config.to_string()).await {
        Ok(_) => Ok(Ok(())),
        Err(ConfigError::NoIntrospection { source, .. })
            if matches!(*source, IntrospectError::Host(_)) =>
        {
            Err(anyhow::anyhow!(with_causes(&*source)))
        }
        Err(error) => Ok(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_with_single_hyphens() {
        for (name, expected) in [
            ("keep-newest", true),
            ("k2", true),
            ("", false),
            ("keep--newest", false),
            ("-keep", false),
            ("Keep", false),
            ("keep_newest", false),
            ("värme", false),
        ] {
            assert_eq!(is_kebab(name), expected, "{name}");
        }
    }
}
