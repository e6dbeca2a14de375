//! The request of a client, as JSON.

use std::collections::BTreeMap;

use baler_host::{Budget, Format, Pins, Request, request::Trigger};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ApiError;
use super::field_types::{BudgetValue, NamedPins, PinsValue, StrategyNames};

/// A request of a client, to any of the three endpoints. All members but `conversation` are optional;
/// `introspect` needs no `conversation` either.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct CompactRequest<'a> {
    /// A provider's request body as it would be sent, its list of messages, or the text of a
    /// session log.
    #[serde(borrow)]
    #[schemars(with = "serde_json::Value")]
    pub(crate) conversation: Option<&'a RawValue>,
    /// The wire format of the conversation. Default: detected.
    pub(crate) format: Option<Format>,
    /// The name of a strategy of this server, or a chain: a list of names, each the fallback of the
    /// one before. Default: the server's chain.
    pub(crate) strategy: Option<StrategyNames>,
    /// The config of the first strategy.
    #[serde(borrow)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) config: Option<&'a RawValue>,
    /// The budget of the result: a number of tokens, or a share such as `"50%"`.
    pub(crate) budget: Option<BudgetValue>,
    /// The pinned units: `first-user`, `none`, or indices of units from 0.
    pub(crate) pins: Option<PinsValue>,
    /// Index of the first live message: it and all later messages are protected.
    pub(crate) live_from: Option<usize>,
    /// The model's context window in tokens.
    pub(crate) context_window: Option<u32>,
    /// The largest size of the result in bytes.
    pub(crate) max_bytes: Option<usize>,
    /// The largest number of images, documents and other media in the result.
    pub(crate) max_media: Option<u32>,
    /// Tokens of the conversation, as the provider reported them.
    pub(crate) used: Option<u32>,
    /// Number of leading units that the provider probably has in its cache.
    pub(crate) cached_units: Option<u32>,
    /// Whether to repair a conversation that breaks rules of its format first.
    pub(crate) repair: bool,
    /// Whether the next strategy of the chain runs if one declines or declares a failure.
    pub(crate) required: bool,
    /// The reason for the compaction: `threshold`, `overflow`, `manual` or `scheduled`.
    pub(crate) trigger: Option<TriggerName>,
    /// A person's instructions on what to keep. They imply the trigger `manual`.
    pub(crate) instructions: Option<String>,
    /// JSON for the strategy.
    #[serde(borrow)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) context: Option<&'a RawValue>,
    /// Consecutive failures, from the receipt of the previous call.
    pub(crate) failures_in_a_row: u32,
    /// Whether the receipt includes the strategies' free-text messages, which may quote the
    /// conversation.
    pub(crate) words: bool,
}

/// The reason for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TriggerName {
    /// A threshold was crossed.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person or program asked for it.
    Manual,
    /// A schedule asked for it.
    Scheduled,
}

/// The members, and the description of their values in error messages.
const MEMBERS: &str = r#"conversation: a provider's request body or its list of messages
format: `openai-chat`, `openai-responses`, `anthropic`, `gemini` or `bedrock-converse`
strategy: the name of a strategy, or a list of at most 256 names
config: JSON
budget: a number of tokens such as 8000, or a share such as "50%"
pins: "first-user", "none", or a list of units such as [0, 3]
live-from: the index of a message
context-window: a number of tokens
max-bytes: a number of bytes
max-media: a number
used: a number of tokens
cached-units: a number of units
repair: true or false
required: true or false
trigger: `threshold`, `overflow`, `manual` or `scheduled`
instructions: a text
context: JSON
failures-in-a-row: a number
words: true or false"#;

fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEMBERS.lines().filter_map(|line| line.split_once(": "))
}

impl<'a> CompactRequest<'a> {
    /// Parses a body.
    pub(crate) fn parse(body: &'a str) -> Result<Self, ApiError> {
        // serde would accept a list of the members' values.
        if body.trim_start().starts_with('[') {
            return Err(ApiError::bad_request(
                "malformed",
                "expected a JSON object, found a list; put the conversation into `conversation`, see GET /openapi.json",
            ));
        }
        serde_json::from_str(body).map_err(|error| parse_error(body, &error))
    }

    /// Returns the conversation, as it is written.
    ///
    /// # Errors
    /// It is missing.
    pub(crate) fn conversation(&self) -> Result<&'a RawValue, ApiError> {
        self.conversation
            .filter(|json| json.get() != "null")
            .ok_or_else(|| {
                ApiError::bad_request(
                    "no-conversation",
                    "`conversation` is missing: give a provider's request body as it would be sent, its list of messages, or the text of a session log",
                )
            })
    }

    /// Returns the names of the strategies; `None` if absent.
    pub(crate) fn strategies(&self) -> Option<Vec<&str>> {
        self.strategy.as_ref().map(|names| match names {
            StrategyNames::One(name) => vec![name.as_str()],
            StrategyNames::Several(names) => names.iter().map(String::as_str).collect(),
        })
    }

    /// Returns the budget; `None` if absent.
    ///
    /// # Errors
    /// It is 0, or not a share from above 0% to 100%.
    pub(crate) fn budget(&self) -> Result<Option<Budget>, ApiError> {
        let invalid = || {
            ApiError::bad_request(
                "budget",
                "`budget` must be a number of tokens, at least 1, or a share such as \"50%\", above 0% and at most 100%",
            )
        };
        match &self.budget {
            None => Ok(None),
            Some(BudgetValue::Tokens(0)) => Err(invalid()),
            Some(BudgetValue::Tokens(tokens)) => Ok(Some(Budget::Tokens(*tokens))),
            Some(BudgetValue::Share(text)) => match text.parse() {
                Ok(share @ Budget::Share(_)) => Ok(Some(share)),
                _ => Err(invalid()),
            },
        }
    }

    /// Returns the request to the host.
    ///
    /// # Errors
    /// The budget is invalid, or the trigger contradicts the instructions.
    pub(crate) fn to_host_request(&self) -> Result<Request, ApiError> {
        let default = Request::default();
        if self.instructions.is_some()
            && self.trigger.is_some_and(|name| name != TriggerName::Manual)
        {
            return Err(ApiError::bad_request(
                "trigger",
                "`instructions` require the trigger `manual`: leave `trigger` out, or set it to `manual`",
            ));
        }
        let trigger = match (self.trigger, &self.instructions) {
            (_, Some(instructions)) => Trigger::Manual(Some(instructions.clone())),
            (Some(TriggerName::Manual), None) => Trigger::Manual(None),
            (Some(TriggerName::Overflow), None) => Trigger::Overflow,
            (Some(TriggerName::Scheduled), None) => Trigger::Scheduled,
            (Some(TriggerName::Threshold) | None, None) => Trigger::Threshold,
        };
        let pins = match &self.pins {
            None => default.pins,
            Some(PinsValue::Named(NamedPins::FirstUser)) => Pins::FirstUser,
            Some(PinsValue::Named(NamedPins::None)) => Pins::None,
            Some(PinsValue::Units(units)) => Pins::Units(units.clone()),
        };
        Ok(Request::default()
            .with_trigger(trigger)
            .with_budget(self.budget()?.unwrap_or(default.budget))
            .with_pins(pins)
            .with_live_from(self.live_from)
            .with_context_window(self.context_window)
            .with_cached_units(self.cached_units)
            .with_max_bytes(self.max_bytes)
            .with_max_media(self.max_media)
            .with_context(self.context.map(|json| json.get().to_owned()))
            .with_required(self.required)
            .with_failures_in_a_row(self.failures_in_a_row)
            .with_free_text_in_receipt(self.words))
    }
}

/// Describes what is wrong with a body, using known member names only: the body's own names could
/// quote the conversation.
fn parse_error(body: &str, error: &serde_json::Error) -> ApiError {
    let not_json = |error: &serde_json::Error| {
        ApiError::bad_request(
            "malformed",
            format!(
                "the body is not a valid JSON object: error at line {}, column {}; see GET /openapi.json",
                error.line(),
                error.column()
            ),
        )
    };
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(body) else {
        return not_json(error);
    };
    let known: Vec<&str> = described().map(|(name, _)| name).collect();
    let is_unknown = |name: &&String| !known.contains(&name.as_str());
    let unknown: Vec<&String> = members.keys().filter(is_unknown).collect();
    if !unknown.is_empty() {
        // Not the member's own name, which may be text of a conversation.
        let meant = |name: &&str| unknown.iter().any(|own| own.replace('_', "-") == **name);
        let meant = known.iter().find(|name| meant(name));
        let hint = meant.map_or_else(
            || "put the conversation into `conversation`".to_owned(),
            |name| format!("`{name}` is written with hyphens"),
        );
        let unknown = unknown.len();
        return ApiError::bad_request(
            "unknown-member",
            format!(
                "unknown members of the body: {unknown}; {hint}. Known: {}",
                known.join(", ")
            ),
        );
    }
    let invalid = described().find(|(name, _)| {
        members.get(*name).is_some_and(|value| {
            let alone = format!("{{\"{name}\":{}}}", value.get());
            serde_json::from_str::<CompactRequest<'_>>(&alone).is_err()
        })
    });
    match invalid {
        Some((name, expected)) => {
            ApiError::bad_request("wrong-member", format!("`{name}` must be {expected}"))
        }
        None => not_json(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn described_members_are_those_of_the_schema() {
        let schema = schemars::schema_for!(CompactRequest<'_>).to_value();
        let mut read: Vec<&String> = schema["properties"]
            .as_object()
            .expect("members")
            .keys()
            .collect();
        let mut described: Vec<&str> = described().map(|(name, _)| name).collect();
        read.sort_unstable();
        described.sort_unstable();
        assert_eq!(read, described);
    }

    #[test]
    fn parse_errors_name_known_members_only() {
        let error_of = |body: &str| {
            format!(
                "{:?}",
                CompactRequest::parse(body).expect_err("is rejected")
            )
        };
        for (body, part) in [
            (r#"{"budget":"private"#, "line 1"),
            (r#"["private"]"#, "expected a JSON object, found a list"),
            (r#"{"private":1}"#, "Known: conversation"),
            (
                r#"{"budget":["private"]}"#,
                "`budget` must be a number of tokens",
            ),
            (r#"{"trigger":"private"}"#, "`trigger` must be"),
            (r#"{"pins":"private"}"#, "`pins` must be"),
            (r#"{"repair":"private"}"#, "`repair` must be true or false"),
        ] {
            let error = error_of(body);
            assert!(error.contains(part), "{body}: {error}");
            assert!(!error.contains("private"), "{error}");
        }
    }

    #[test]
    fn budget_is_a_number_of_tokens_or_a_share() {
        let budget = |json: &str| {
            CompactRequest::parse(&format!(r#"{{"budget":{json}}}"#))
                .and_then(|request| request.budget())
        };
        assert_eq!(budget("8000").expect("tokens"), Some(Budget::Tokens(8_000)));
        assert_eq!(
            budget(r#""12.5%""#).expect("a share"),
            Some(Budget::Share(0.125))
        );
        for wrong in [
            "0",
            "-1",
            r#""0%""#,
            r#""101%""#,
            r#""NaN%""#,
            r#""half""#,
            "1.5",
            "[]",
        ] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
