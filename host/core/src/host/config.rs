//! Checks a config against the schema that its strategy declares.

use serde_json::Value;

#[cfg(feature = "config-schemas")]
use super::schema;
use crate::strategy::{ConfigError, MAX_CONFIG_BYTES};

/// Checks the JSON text `config` against the JSON schema `schema` of the strategy with this name. Both are
/// untrusted. Without the feature `config-schemas`, a schema is not looked at: the strategy itself checks the config.
pub(crate) fn check(strategy: &str, config: &str, schema: &str) -> Result<(), ConfigError> {
    let bytes = config.len();
    if bytes > MAX_CONFIG_BYTES {
        return Err(ConfigError::TooLarge { bytes });
    }
    let config: Value =
        serde_json::from_str(config).map_err(|error| ConfigError::NotJson(error.into()))?;
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
    #[cfg(feature = "config-schemas")]
    schema::check(strategy, &config, bytes, schema)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_schema_only_an_empty_object_is_taken() {
        assert!(check("s", "{}", "").is_ok());
        let error = check("s", r#"{"keep": 3}"#, " ").unwrap_err();
        assert!(matches!(error, ConfigError::NotTaken { .. }), "{error}");
        let error = check("s", "{", "").unwrap_err();
        assert!(error.to_string().contains("not JSON"), "{error}");
    }
}
