//! The forms in which a program's users may say how their conversations are compacted.

use serde_json::{Map, Value};

use super::CompactorOptions;

/// What a user's setting comes to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CompactorConfig {
    /// Nothing is compacted.
    Off,
    /// This is how.
    On {
        /// The name of the strategy, as the program resolves it: one of the host's own, one that
        /// it loaded, a file or a URL.
        strategy: String,
        /// The strategy's config as JSON, merged over its defaults by itself; empty for none.
        config: String,
        /// When, and to what size.
        options: Box<CompactorOptions>,
    },
}

/// A setting of a form that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what}; give false, true, the name of a strategy, [name, {{options}}], or \
     {{\"strategy\": name, \"config\": {{…}}, \"compactor\": {{…}}}}"
)]
pub struct ConfigFormError {
    what: String,
}

impl CompactorConfig {
    /// The strategy that `true` means.
    pub const DEFAULT: &'static str = "native:digest";

    /// Reads a setting: nothing, `null` and `false` are off; `true` is the default; a text is
    /// the name of a strategy; a list is a name with options of the strategy; an object may
    /// have `strategy`, `config` (of the strategy), `compactor` ([`CompactorOptions`]) and
    /// `preset` (`planck`, `puck`, `ptc-runner`, `apeira`), over which the others go.
    ///
    /// # Errors
    /// Any other form, and options that are unknown or make no sense: the message names them.
    pub fn of(setting: &Value) -> Result<Self, ConfigFormError> {
        let wrong = |what: String| Err(ConfigFormError { what });
        match setting {
            Value::Null | Value::Bool(false) => Ok(Self::Off),
            Value::Bool(true) => Ok(Self::on(Self::DEFAULT, None)),
            Value::String(name) if !name.trim().is_empty() => Ok(Self::on(name, None)),
            Value::Array(pair) => match pair.as_slice() {
                [Value::String(name)] => Ok(Self::on(name, None)),
                [Value::String(name), Value::Null] => Ok(Self::on(name, None)),
                [Value::String(name), Value::Object(config)] => Ok(Self::on(name, Some(config))),
                _ => {
                    wrong("a list is the name of a strategy and an object with its options".into())
                }
            },
            Value::Object(members) => Self::of_object(members),
            Value::String(_) => wrong("the name of the strategy is empty".into()),
            Value::Number(number) => wrong(format!("{number} says nothing about compaction")),
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
        let wrong = |what: String| ConfigFormError { what };
        const KNOWN: [&str; 4] = ["strategy", "config", "compactor", "preset"];
        if let Some(unknown) = members.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            let known = KNOWN.join(", ");
            return Err(wrong(format!(
                "`{unknown}` is no option here (known: {known})"
            )));
        }
        let preset = match members.get("preset") {
            None | Some(Value::Null) => preset("default"),
            Some(Value::String(name)) => preset(name),
            Some(_) => None,
        }
        .ok_or_else(|| wrong("`preset` is one of planck, puck, ptc-runner, apeira".to_owned()))?;
        let strategy = match members.get("strategy") {
            None | Some(Value::Null) => preset.strategy.to_owned(),
            Some(Value::String(name)) if !name.trim().is_empty() => name.clone(),
            Some(_) => return Err(wrong("`strategy` is the name of one".to_owned())),
        };
        // Defaults of a preset are those of its own strategy.
        let mut config = if strategy == preset.strategy {
            preset.config
        } else {
            Map::new()
        };
        match members.get("config") {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) => config.extend(own.clone()),
            Some(_) => return Err(wrong("`config` is an object".to_owned())),
        }
        let mut options = serde_json::to_value(CompactorOptions::default()).unwrap_or_default();
        merge(&mut options, preset.options);
        match members.get("compactor") {
            None | Some(Value::Null) => {}
            Some(own @ Value::Object(_)) => merge(&mut options, own.clone()),
            Some(_) => return Err(wrong("`compactor` is an object".to_owned())),
        }
        let options: CompactorOptions = serde_json::from_value(options)
            .map_err(|error| wrong(format!("`compactor`: {error}")))?;
        options
            .check()
            .map_err(|error| wrong(format!("`compactor`: {error}")))?;
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

/// The settings of one of the systems that baler learned from.
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
            // PL-7. Its users found that too short for models of their own (PL-I7).
            json!({"triggers": {"share": 0.8}, "undeclared-timeout-ms": 120_000}),
        ),
        // PU-8, PU-12: its own `max-tokens` says when.
        "puck" => (
            "summarize",
            json!({"preset": "puck"}),
            json!({"triggers": {"share": null}}),
        ),
        // TV2: eight turns.
        "ptc-runner" => (
            "coalesce",
            json!({"println-limit": 15, "tool-call-limit": 20}),
            json!({"triggers": {"share": null, "turns": 8}}),
        ),
        // AP-7, AP-8, AP-11.
        "apeira" => (
            "anchored",
            json!({"role": "developer"}),
            json!({
                "context-window": 128_000,
                "triggers": {"share": 0.9},
                "policy": {"summary-role": "developer"}
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

/// Puts the members of `over` over those of `base`, objects member by member.
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
