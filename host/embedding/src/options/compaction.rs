//! The options of a compaction and of a compactor.

use std::str::FromStr as _;

#[cfg(not(target_family = "wasm"))]
use baler_host::CompactorOptions;
use baler_host::conversation::Deadline;
use baler_host::request::{Policy, Trigger};
use baler_host::{Budget, Format, Pins, Request};
use serde_json::Value;

use super::{Options, count, flag, text};
use crate::error::Error;

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

fn trigger(name: Option<String>, instructions: Option<String>) -> Result<Trigger, Error> {
    match (name.as_deref(), instructions) {
        (None | Some("manual"), Some(wish)) => Ok(Trigger::Manual(Some(wish))),
        (Some(_), Some(_)) => Err(Error::option(
            "instructions",
            "expected the trigger \"manual\", since they come from a person; leave `trigger` out",
        )),
        (None | Some("threshold"), None) => Ok(Trigger::Threshold),
        (Some("overflow"), None) => Ok(Trigger::Overflow),
        (Some("manual"), None) => Ok(Trigger::Manual(None)),
        (Some("scheduled"), None) => Ok(Trigger::Scheduled),
        (Some(other), None) => Err(Error::option(
            "trigger",
            format!(
                "expected \"threshold\", \"overflow\", \"manual\" or \"scheduled\", found {other:?}"
            ),
        )),
    }
}

fn policy(value: &Value) -> Result<Policy, String> {
    serde_json::from_value(value.clone())
        .map_err(|error| format!("expected what plans may do, as in `baler.toml`, but {error}"))
}

/// Reads the options of a compaction from JSON. `base`: what plans may do unless the options say otherwise.
///
/// # Errors
/// An option is unknown or has a value that is not allowed.
pub fn compaction(json: &str, base: &Policy, deadline: &Deadline) -> Result<Request, Error> {
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

/// Returns the wire format with this name.
///
/// # Errors
/// There is none.
pub fn format(name: &str) -> Result<Format, Error> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        let known = known.join(", ");
        Error::option("format", format!("expected auto, {known}; found {name:?}"))
    })
}

/// Reads the options of a compactor, which are those of the library.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn of_compactor(json: &str, base: &Policy) -> Result<CompactorOptions, Error> {
    let mut options = Options::read(json)?;
    let own = options.take("policy", policy)?;
    let read: CompactorOptions = serde_json::from_value(options.into_value())
        .map_err(|error| Error::new(crate::Kind::Option, error.to_string()))?;
    Ok(read.with_policy(own.unwrap_or_else(|| base.clone())))
}
