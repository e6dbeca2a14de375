//! Options of a call, which Python passes as one dictionary.

use std::str::FromStr as _;

use baler_host::conversation::Deadline;
use baler_host::request::{Policy, Trigger};
use baler_host::{Budget, CompactorOptions, Pins, Request};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::errors;

/// Options by name. Each may be read once; what is left over in the end is unknown.
pub(crate) struct Options(Map<String, Value>);

impl Options {
    pub(crate) fn read(json: &str) -> PyResult<Self> {
        match serde_json::from_str(json) {
            Ok(Value::Object(options)) => Ok(Self(options)),
            _ => Err(errors::option("expected options by name".to_owned())),
        }
    }

    /// Removes and reads an option; `None` if it is missing or null.
    pub(crate) fn take<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> PyResult<Option<T>> {
        let value = self.0.remove(name).filter(|value| !value.is_null());
        value
            .map(|value| {
                read(&value).map_err(|expected| {
                    errors::option(format!("`{name}`: {expected}, found {}", found(&value)))
                })
            })
            .transpose()
    }

    /// Fails if an option is left.
    pub(crate) fn end(self) -> PyResult<()> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(errors::option(format!("no option is called `{name}`"))),
        }
    }
}

/// Returns a value as errors show it.
fn found(value: &Value) -> String {
    let text = value.to_string();
    match text.chars().count() {
        0..=80 => text,
        _ => format!("{}…", text.chars().take(80).collect::<String>()),
    }
}

pub(crate) fn text(value: &Value) -> Result<String, String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| "expected a text".to_owned())
}

pub(crate) fn flag(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| "expected True or False".to_owned())
}

/// Reads a whole number above 0.
pub(crate) fn count<T: TryFrom<u64>>(value: &Value) -> Result<T, String> {
    value
        .as_u64()
        .filter(|number| *number > 0)
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| "expected a whole number above 0 that is not too large".to_owned())
}

fn budget(value: &Value) -> Result<Budget, String> {
    const EXPECTED: &str =
        "expected a number of tokens such as 8000, or a share such as \"50%\" or 0.5";
    if let Value::String(text) = value {
        return Budget::from_str(text).map_err(|error| format!("{EXPECTED}: {error}"));
    }
    if value.is_u64() {
        return count(value).map(Budget::Tokens);
    }
    value
        .as_f64()
        .filter(|share| value.is_f64() && (0.0..=1.0).contains(share))
        .map(Budget::Share)
        .ok_or_else(|| EXPECTED.to_owned())
}

fn pins(value: &Value) -> Result<Pins, String> {
    const EXPECTED: &str =
        "expected \"first-user\", \"none\", or a list of numbers of units such as [0, 3]";
    match value {
        Value::String(text) if text == "first-user" => Ok(Pins::FirstUser),
        Value::String(text) if text == "none" => Ok(Pins::None),
        Value::Array(units) => units
            .iter()
            .map(|unit| usize::try_from(unit.as_u64()?).ok())
            .collect::<Option<_>>()
            .map(Pins::Units)
            .ok_or_else(|| EXPECTED.to_owned()),
        _ => Err(EXPECTED.to_owned()),
    }
}

fn trigger(name: Option<String>, instructions: Option<String>) -> PyResult<Trigger> {
    match (name.as_deref(), instructions) {
        (None | Some("manual"), Some(wish)) => Ok(Trigger::Manual(Some(wish))),
        (Some(_), Some(_)) => Err(errors::option(
            "`instructions`: expected the trigger \"manual\", since they come from a person; leave `trigger` out"
                .to_owned(),
        )),
        (None | Some("threshold"), None) => Ok(Trigger::Threshold),
        (Some("overflow"), None) => Ok(Trigger::Overflow),
        (Some("manual"), None) => Ok(Trigger::Manual(None)),
        (Some("scheduled"), None) => Ok(Trigger::Scheduled),
        (Some(other), None) => Err(errors::option(format!(
            "`trigger`: expected \"threshold\", \"overflow\", \"manual\" or \"scheduled\", found {other:?}"
        ))),
    }
}

pub(crate) fn policy(value: &Value) -> Result<Policy, String> {
    serde_json::from_value(value.clone())
        .map_err(|error| format!("expected what plans may do, as in `baler.toml`, but {error}"))
}

/// Reads the options of a compaction.
pub(crate) fn request(json: &str, base: &Policy, deadline: &Deadline) -> PyResult<Request> {
    let mut options = Options::read(json)?;
    let name = options.take("trigger", text)?;
    let instructions = options.take("instructions", text)?;
    let request = Request::default()
        .with_deadline(deadline.clone())
        .with_trigger(trigger(name, instructions)?)
        .with_pins(options.take("pins", pins)?.unwrap_or(Pins::FirstUser))
        .with_context(options.take("context", |value| Ok(value.to_string()))?)
        .with_context_window(options.take("context_window", count)?)
        .with_max_bytes(options.take("max_bytes", count)?)
        .with_max_media(options.take("max_media", media)?)
        .with_required(options.take("required", flag)?.unwrap_or(false))
        .with_verify(options.take("verify", flag)?.unwrap_or(false))
        .with_free_text_in_receipt(options.take("free_text", flag)?.unwrap_or(false))
        .with_policy(
            options
                .take("policy", policy)?
                .unwrap_or_else(|| base.clone()),
        );
    let budget = options.take("budget", budget)?;
    options.end()?;
    Ok(match budget {
        Some(budget) => request.with_budget(budget),
        None => request,
    })
}

fn media(value: &Value) -> Result<u32, String> {
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| "expected a whole number from 0".to_owned())
}

/// Reads the options of a compactor, which are those of the library.
pub(crate) fn of_compactor(json: &str, base: &Policy) -> PyResult<CompactorOptions> {
    let mut options = Options::read(json)?;
    let own = options.take("policy", policy)?;
    let read: CompactorOptions = serde_json::from_value(Value::Object(options.0))
        .map_err(|error| errors::option(error.to_string()))?;
    Ok(read.with_policy(own.unwrap_or_else(|| base.clone())))
}
