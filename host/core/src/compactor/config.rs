//! User settings: how a program's users configure the compaction of their conversations.

use serde_json::{Map, Value};

use super::{CompactorOptions, OptionError};
use crate::error::Cause;

/// A user's setting, as read by [`CompactorConfig::from_json`].
///
/// ```
/// use baler_host::compactor::CompactorConfig;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let setting = r#"{"strategy": "sliding-window", "compactor": {"triggers": {"tokens": 50000}}}"#;
/// let CompactorConfig::On { strategy, options, .. } = CompactorConfig::from_json(setting)? else {
///     return Ok(());                                          // `false`: no compaction
/// };
/// assert_eq!(strategy, "sliding-window");
/// assert_eq!(options.threshold(), Some(50_000));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CompactorConfig {
    /// No compaction.
    Off,
    /// Compaction with this strategy and these options.
    On {
        /// The name of the strategy, which the program resolves: a native strategy, one that it loaded, a
        /// file or a URL.
        strategy: String,
        /// The strategy's config as JSON text, which the strategy merges over its defaults; empty for none.
        config: String,
        /// When to compact, and to what size.
        options: Box<CompactorOptions>,
    },
}

/// The accepted forms of a setting.
const FORMS: &str = "give false, true, the name of a strategy, [name, {options}], or {\"strategy\": name, \"config\": {…}, \"compactor\": {…}}";

/// The members of a setting that is an object.
const MEMBERS: [&str; 4] = ["strategy", "config", "compactor", "preset"];

/// A setting is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFormError {
    /// The setting is not JSON.
    #[error("the setting for compaction is not JSON")]
    NotJson(#[source] Cause),
    /// The setting is a number.
    #[error("expected a setting for compaction, found {found}; {FORMS}")]
    Form {
        /// The number.
        found: String,
    },
    /// The setting is an empty text.
    #[error("expected the name of a strategy, found an empty text; {FORMS}")]
    EmptyName,
    /// The setting is a list of another form.
    #[error("expected a list of a strategy's name and an object with its config; {FORMS}")]
    List,
    /// The setting has an unknown member.
    #[error("unknown option `{key}` (expected one of {}); {FORMS}", MEMBERS.join(", "))]
    UnknownKey {
        /// Name of the member.
        key: String,
    },
    /// A member of the setting has another type.
    #[error("expected `{key}` to be {expected}; {FORMS}")]
    Member {
        /// Name of the member.
        key: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// No preset has the given name.
    #[error("expected `preset` to be one of planck, puck, ptc-runner, apeira; {FORMS}")]
    UnknownPreset,
    /// An option of the compactor is unknown, or its value has another type.
    #[error("`compactor` is invalid")]
    OptionsForm(#[source] Cause),
    /// The value of an option of the compactor is not allowed.
    #[error("`compactor` is invalid")]
    Options(#[source] OptionError),
}

impl CompactorConfig {
    /// The strategy for the setting `true`.
    pub const DEFAULT: &'static str = "native:digest";

    /// Reads a setting, which is JSON text:
    ///
    /// - `null` or `false`: off
    /// - `true`: [`CompactorConfig::DEFAULT`]
    /// - a string: the name of a strategy
    /// - a list: the name of a strategy, and an object with its config
    /// - an object with any of `strategy`, `config` (of the strategy), `compactor` ([`CompactorOptions`]) and
    ///   `preset` (`planck`, `puck`, `ptc-runner`, `apeira`). The other members override the preset.
    ///
    /// # Errors
    /// Returns an error for any other form, and for unknown or invalid options.
    pub fn from_json(setting: &str) -> Result<Self, ConfigFormError> {
        let setting: Value = serde_json::from_str(setting)
            .map_err(|error| ConfigFormError::NotJson(error.into()))?;
        match &setting {
            Value::Null | Value::Bool(false) => Ok(Self::Off),
            Value::Bool(true) => Ok(Self::on(Self::DEFAULT, None)),
            Value::String(name) if !name.trim().is_empty() => Ok(Self::on(name, None)),
            Value::Array(pair) => match pair.as_slice() {
                [Value::String(name)] => Ok(Self::on(name, None)),
                [Value::String(name), Value::Null] => Ok(Self::on(name, None)),
                [Value::String(name), Value::Object(config)] => Ok(Self::on(name, Some(config))),
                _ => Err(ConfigFormError::List),
            },
            Value::Object(members) => Self::of_object(members),
            Value::String(_) => Err(ConfigFormError::EmptyName),
            Value::Number(number) => Err(ConfigFormError::Form {
                found: number.to_string(),
            }),
        }
    }

    fn on(strategy: &str, config: Option<&Map<String, Value>>) -> Self {
        let config = config.filter(|config| !config.is_empty());
        Self::On {
            strategy: strategy.to_owned(),
            config: config.map_or(String::new(), |config| {
                Value::from(config.clone()).to_string()
            }),
            options: Box::default(),
        }
    }

    fn of_object(members: &Map<String, Value>) -> Result<Self, ConfigFormError> {
        let wrong = |key, expected| ConfigFormError::Member { key, expected };
        if let Some(unknown) = members.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
            return Err(ConfigFormError::UnknownKey {
                key: unknown.clone(),
            });
        }
        let preset = match members.get("preset") {
            None | Some(Value::Null) => preset("default"),
            Some(Value::String(name)) => preset(name),
            Some(_) => None,
        }
        .ok_or(ConfigFormError::UnknownPreset)?;
        let strategy = match members.get("strategy") {
            None | Some(Value::Null) => preset.strategy.to_owned(),
            Some(Value::String(name)) if !name.trim().is_empty() => name.clone(),
            Some(_) => return Err(wrong("strategy", "the name of a strategy")),
        };
        // The config of a preset is for its own strategy only.
        let mut config = if strategy == preset.strategy {
            preset.config
        } else {
            Map::new()
        };
        match members.get("config") {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) => config.extend(own.clone()),
            Some(_) => return Err(wrong("config", "an object")),
        }
        let mut options = serde_json::to_value(CompactorOptions::default()).unwrap_or_default();
        merge(&mut options, preset.options);
        match members.get("compactor") {
            None | Some(Value::Null) => {}
            Some(own @ Value::Object(_)) => merge(&mut options, own.clone()),
            Some(_) => return Err(wrong("compactor", "an object")),
        }
        let options: CompactorOptions = serde_json::from_value(options)
            .map_err(|error| ConfigFormError::OptionsForm(error.into()))?;
        options.check().map_err(ConfigFormError::Options)?;
        Ok(Self::On {
            strategy,
            config: if config.is_empty() {
                String::new()
            } else {
                Value::from(config).to_string()
            },
            options: Box::new(options),
        })
    }
}

/// The settings of an earlier system (`docs/prior-systems.md`). None of them kept what the user said beside the task.
struct Preset {
    strategy: &'static str,
    config: Map<String, Value>,
    options: Value,
}

fn preset(name: &str) -> Option<Preset> {
    use serde_json::json;
    let (strategy, config, options) = match name {
        "default" => (CompactorConfig::DEFAULT, json!({}), json!({})),
        // PL-9, PL-10.
        "planck" => (
            "summarize",
            json!({"preset": "planck"}),
            // PL-7. Users found this time too short for models that they host (PL-I7).
            json!({"triggers": {"share": 0.8}, "undeclared-timeout-ms": 120_000, "policy": {"user-percent": 0}}),
        ),
        // PU-8, PU-12: the strategy's own `max-tokens` decides when.
        "puck" => (
            "summarize",
            json!({"preset": "puck"}),
            json!({"triggers": {"share": null}, "policy": {"user-percent": 0}}),
        ),
        // TV2: eight turns.
        "ptc-runner" => (
            "coalesce",
            json!({"println-limit": 15, "tool-call-limit": 20}),
            json!({"triggers": {"share": null, "turns": 8}, "policy": {"user-percent": 0}}),
        ),
        // AP-7, AP-8, AP-11.
        "apeira" => (
            "anchored",
            json!({"role": "developer"}),
            json!({
                "context-window": 128_000,
                "triggers": {"share": 0.9},
                "policy": {"summary-role": "developer", "user-percent": 0}
            }),
        ),
        _ => return None,
    };
    let Value::Object(config) = config else {
        return None;
    };
    Some(Preset {
        strategy,
        config,
        options,
    })
}

/// Overrides members of `base` by those of `over`, recursively for objects.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}
