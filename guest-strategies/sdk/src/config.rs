use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Failure, Strategy};

/// The config of a strategy without config. It accepts only an empty text or an empty object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Reads a config and checks it by [`Strategy::check`].
pub(crate) fn parse<S: Strategy>(text: &str) -> Result<S::Config, Failure> {
    parse_with(text, S::check)
}

/// Reads a config and checks it.
pub(crate) fn parse_with<C: DeserializeOwned + Default>(
    text: &str,
    check: impl FnOnce(&C) -> Result<(), String>,
) -> Result<C, Failure> {
    let text = text.trim();
    let config = if text.is_empty() || text == "{}" {
        C::default()
    } else {
        let mut json = serde_json::Deserializer::from_str(text);
        let config = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let cause = error.into_inner();
            Failure::BadConfig(match path.as_str() {
                "." => cause.to_string(),
                path => format!("`{path}`: {cause}"),
            })
        })?;
        json.end()
            .map_err(|error| Failure::BadConfig(error.to_string()))?;
        // A derived reader also accepts a list of the values.
        if !text.starts_with('{') {
            return Err(Failure::BadConfig("expected an object".to_owned()));
        }
        config
    };
    check(&config).map_err(Failure::BadConfig)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conversation, Report, Situation};

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Config {
        keep: u32,
    }

    struct Picky;

    impl Strategy for Picky {
        type Config = Config;
        const NAME: &'static str = "picky";
        const VERSION: &'static str = "0.1.0";
        const DESCRIPTION: &'static str = "Has a config.";

        fn check(config: &Config) -> Result<(), String> {
            match config.keep {
                0..=9 => Ok(()),
                keep => Err(format!("`keep` must be at most 9: {keep}")),
            }
        }

        fn compact(_: &Conversation<'_>, _: &Situation, _: &Config) -> Result<Report, Failure> {
            Ok(Report::unchanged("never does"))
        }
    }

    fn message(text: &str) -> String {
        match parse::<Picky>(text) {
            Err(Failure::BadConfig(message)) => message,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn parse_returns_the_default_for_no_text_and_an_empty_object() {
        for text in ["", "  ", "{}", "{ }"] {
            assert_eq!(parse::<Picky>(text), Ok(Config { keep: 0 }), "{text:?}");
        }
    }

    #[test]
    fn parse_error_names_the_field_and_the_allowed_values() {
        assert!(
            message(r#"{"keep":"all"}"#)
                .starts_with("`keep`: invalid type: string \"all\", expected u32")
        );
        assert!(message(r#"{"kep":1}"#).contains("unknown field `kep`, expected `keep`"));
        assert_eq!(message(r#"{"keep":10}"#), "`keep` must be at most 9: 10");
    }

    #[test]
    fn parse_rejects_a_config_that_is_not_an_object() {
        for text in ["[]", "[5]"] {
            assert_eq!(message(text), "expected an object", "{text}");
        }
        assert!(message("5").contains("invalid type"));
    }

    #[test]
    fn parse_rejects_text_after_the_config() {
        assert!(message(r#"{"keep":1} {}"#).contains("trailing characters"));
    }
}
