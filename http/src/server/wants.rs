//! What a client wants, as it is written.

use std::collections::BTreeMap;

use baler_host::{Budget, Format, Pins, Request, Trigger};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::either::{Names, Pinned, PinnedName, Size};
use super::error::ApiError;

/// A client's request. All members but `conversation` may be left out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Wants<'a> {
    /// A provider's request body as it would be sent, its list of messages, or the text of a
    /// session log.
    #[serde(borrow)]
    #[schemars(with = "serde_json::Value")]
    pub(crate) conversation: Option<&'a RawValue>,
    /// Its wire format; detected where it is left out.
    pub(crate) format: Option<Format>,
    /// Who decides: the name of a strategy that this server has, or several, each the fallback
    /// of the one before.
    pub(crate) strategy: Option<Names>,
    /// Config of the first strategy.
    #[serde(borrow)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) config: Option<&'a RawValue>,
    /// How large the result may be: a number of tokens, or a share such as `"50%"`.
    pub(crate) budget: Option<Size>,
    /// What stays: `first-user`, `none`, or numbers of units from 0.
    pub(crate) pins: Option<Pinned>,
    /// Index of the first message that is live: it and all after it stay.
    pub(crate) live_from: Option<usize>,
    /// The model's context window in tokens.
    pub(crate) context_window: Option<u32>,
    /// The most bytes of the result.
    pub(crate) max_bytes: Option<usize>,
    /// The most pictures, documents and the like in the result.
    pub(crate) max_media: Option<u32>,
    /// Tokens that the provider reported for the conversation.
    pub(crate) used: Option<u32>,
    /// Leading units that the provider is believed to hold in its cache.
    pub(crate) cached_units: Option<u32>,
    /// Mend what breaks a rule of the format first.
    pub(crate) repair: bool,
    /// A strategy may not say that nothing should be done.
    pub(crate) required: bool,
    /// Why: `threshold`, `overflow`, `manual` or `scheduled`.
    pub(crate) trigger: Option<Why>,
    /// What to keep in mind, as a person asks for it; the trigger is `manual` then.
    pub(crate) instructions: Option<String>,
    /// JSON for the strategy.
    #[serde(borrow)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) context: Option<&'a RawValue>,
    /// Failures in a row that the receipt of the call before told of.
    pub(crate) failures_in_a_row: u32,
    /// Put what strategies say in words into the receipt. It may quote the conversation.
    pub(crate) words: bool,
}

/// Why a compaction is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Why {
    /// A threshold was crossed.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person or program asked.
    Manual,
    /// A schedule said so.
    Scheduled,
}

/// The members, and what each takes, as people are told.
const MEMBERS: [(&str, &str); 19] = [
    (
        "conversation",
        "a provider's request body or its list of messages",
    ),
    (
        "format",
        "`openai-chat`, `openai-responses`, `anthropic` or `gemini`",
    ),
    (
        "strategy",
        "the name of a strategy, or a list of at most 256 names",
    ),
    ("config", "JSON"),
    (
        "budget",
        "a number of tokens such as 8000, or a share such as \"50%\"",
    ),
    (
        "pins",
        "\"first-user\", \"none\", or a list of units such as [0, 3]",
    ),
    ("live-from", "the index of a message"),
    ("context-window", "a number of tokens"),
    ("max-bytes", "a number of bytes"),
    ("max-media", "a number"),
    ("used", "a number of tokens"),
    ("cached-units", "a number of units"),
    ("repair", "true or false"),
    ("required", "true or false"),
    (
        "trigger",
        "`threshold`, `overflow`, `manual` or `scheduled`",
    ),
    ("instructions", "a text"),
    ("context", "JSON"),
    ("failures-in-a-row", "a number"),
    ("words", "true or false"),
];

impl<'a> Wants<'a> {
    /// Reads a body.
    pub(crate) fn read(body: &'a str) -> Result<Self, ApiError> {
        // A list of the members' values would do for serde.
        if body.trim_start().starts_with('[') {
            return Err(ApiError::bad_request(
                "malformed",
                "the body is no JSON object but a list; a conversation goes into `conversation`, see GET /openapi.json",
            ));
        }
        serde_json::from_str(body).map_err(|error| told(body, &error))
    }

    pub(crate) fn conversation(&self) -> Result<&'a RawValue, ApiError> {
        self.conversation
            .filter(|json| json.get() != "null")
            .ok_or_else(|| {
                ApiError::bad_request(
                    "no-conversation",
                    "`conversation` is missing: give a provider's request body as it would be sent, or its list of messages",
                )
            })
    }

    pub(crate) fn strategies(&self) -> Option<Vec<&str>> {
        self.strategy.as_ref().map(|names| match names {
            Names::One(name) => vec![name.as_str()],
            Names::Several(names) => names.iter().map(String::as_str).collect(),
        })
    }

    /// How large the result may be; none where that was left out.
    pub(crate) fn budget(&self) -> Result<Option<Budget>, ApiError> {
        let wrong = || {
            ApiError::bad_request(
                "budget",
                "`budget` is a number of tokens from 1 on, or a share such as \"50%\" of more than 0% and at most 100%",
            )
        };
        match &self.budget {
            None => Ok(None),
            Some(Size::Tokens(0)) => Err(wrong()),
            Some(Size::Tokens(tokens)) => Ok(Some(Budget::Tokens(*tokens))),
            Some(Size::Share(text)) => match text.parse() {
                Ok(share @ Budget::Share(_)) => Ok(Some(share)),
                _ => Err(wrong()),
            },
        }
    }

    /// The request to the host.
    pub(crate) fn request(&self) -> Result<Request, ApiError> {
        let default = Request::default();
        if self.instructions.is_some() && self.trigger.is_some_and(|why| why != Why::Manual) {
            return Err(ApiError::bad_request(
                "trigger",
                "`instructions` are what a person asks for: leave `trigger` out, or make it `manual`",
            ));
        }
        let trigger = match (self.trigger, &self.instructions) {
            (_, Some(wish)) => Trigger::Manual(Some(wish.clone())),
            (Some(Why::Manual), None) => Trigger::Manual(None),
            (Some(Why::Overflow), None) => Trigger::Overflow,
            (Some(Why::Scheduled), None) => Trigger::Scheduled,
            (Some(Why::Threshold) | None, None) => Trigger::Threshold,
        };
        let pins = match &self.pins {
            None => default.pins,
            Some(Pinned::Named(PinnedName::FirstUser)) => Pins::FirstUser,
            Some(Pinned::Named(PinnedName::None)) => Pins::None,
            Some(Pinned::Units(units)) => Pins::Units(units.clone()),
        };
        Ok(Request {
            trigger,
            budget: self.budget()?.unwrap_or(default.budget),
            pins,
            live_from: self.live_from,
            context_window: self.context_window.unwrap_or(0),
            cached_units: self.cached_units,
            max_bytes: self.max_bytes,
            max_media: self.max_media,
            context: self
                .context
                .map(|json| json.get().to_owned())
                .unwrap_or_default(),
            required: self.required,
            failures_in_a_row: self.failures_in_a_row,
            words_in_receipt: self.words,
            ..Request::default()
        })
    }
}

/// What is wrong with a body, in names that are ours: its own could be anything.
fn told(body: &str, error: &serde_json::Error) -> ApiError {
    let not_json = |error: &serde_json::Error| {
        ApiError::bad_request(
            "malformed",
            format!(
                "the body is no JSON object at line {}, column {}; see GET /openapi.json",
                error.line(),
                error.column()
            ),
        )
    };
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(body) else {
        return not_json(error);
    };
    let is_known = |name: &str| MEMBERS.iter().any(|(known, _)| *known == name);
    let unknown = members.keys().filter(|name| !is_known(name)).count();
    if unknown > 0 {
        let known: Vec<&str> = MEMBERS.iter().map(|(name, _)| *name).collect();
        return ApiError::bad_request(
            "unknown-member",
            format!(
                "{unknown} of the body's members are not known here; a conversation goes into `conversation`. Known: {}",
                known.join(", ")
            ),
        );
    }
    let wrong = MEMBERS.iter().find(|(name, _)| {
        members.get(*name).is_some_and(|value| {
            let alone = format!("{{\"{name}\":{}}}", value.get());
            serde_json::from_str::<Wants<'_>>(&alone).is_err()
        })
    });
    match wrong {
        Some((name, takes)) => {
            ApiError::bad_request("wrong-member", format!("`{name}` must be {takes}"))
        }
        None => not_json(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_that_people_are_told_of_are_those_that_are_read() {
        let schema = schemars::schema_for!(Wants<'_>).to_value();
        let mut read: Vec<&String> = schema["properties"]
            .as_object()
            .expect("members")
            .keys()
            .collect();
        let mut told: Vec<&str> = MEMBERS.iter().map(|(name, _)| *name).collect();
        read.sort_unstable();
        told.sort_unstable();
        assert_eq!(read, told);
    }

    #[test]
    fn what_is_wrong_is_told_by_our_names_alone() {
        let told = |body: &str| format!("{:?}", Wants::read(body).expect_err("it is wrong"));
        for (body, part) in [
            (r#"{"budget":"private"#, "line 1"),
            (r#"["private"]"#, "no JSON object"),
            (r#"{"private":1}"#, "Known: conversation"),
            (
                r#"{"budget":["private"]}"#,
                "`budget` must be a number of tokens",
            ),
            (r#"{"trigger":"private"}"#, "`trigger` must be"),
            (r#"{"pins":"private"}"#, "`pins` must be"),
            (r#"{"repair":"private"}"#, "`repair` must be true or false"),
        ] {
            let told = told(body);
            assert!(told.contains(part), "{body}: {told}");
            assert!(!told.contains("private"), "{told}");
        }
    }

    #[test]
    fn a_budget_is_tokens_or_a_share() {
        let budget = |json: &str| {
            Wants::read(&format!(r#"{{"budget":{json}}}"#)).and_then(|wants| wants.budget())
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
