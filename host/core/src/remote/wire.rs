//! The JSON of questions and answers. It follows the contract name by name: a variant is an object with one
//! member, and a case without content is a string.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::Format;

use crate::plan::Plan;
use crate::report::Metric;
use crate::request::{Policy, Trigger};

/// Asks a strategy to describe itself.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct IntrospectRequest<'a> {
    /// `baler:compaction@0.1.0`.
    #[serde(borrow)]
    pub(crate) contract: Cow<'a, str>,
    /// A config that the strategy should check; absent to skip the check.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) config: Option<&'a RawValue>,
}

/// Asks a strategy whether to compact now, or for a plan.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct StrategyRequest<'a> {
    /// `baler:compaction@0.1.0`.
    #[serde(borrow)]
    pub(crate) contract: Cow<'a, str>,
    /// The name of the strategy in the marks around its texts. The tokens of the marks count.
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    /// The wire format of the conversation.
    pub(crate) format: Format,
    /// The conversation: the provider's request body, or its list of messages.
    #[serde(borrow)]
    #[schemars(with = "serde_json::Value")]
    pub(crate) conversation: &'a RawValue,
    /// The units of the conversation, oldest first. Plans name them by index, from 0.
    pub(crate) units: Vec<Unit>,
    /// The sizes and limits of this call.
    pub(crate) situation: Situation,
    /// What a plan may do besides keeping, removing and inserting in the user's role.
    #[serde(default)]
    pub(crate) policy: Policy,
    /// The strategy's config; absent if it has none.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) config: Option<&'a RawValue>,
}

/// The smallest run of messages that is kept or removed together.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Unit {
    /// `instructions`, `user`, `step`, `summary` or `other`.
    pub(crate) kind: Cow<'static, str>,
    /// 0 before the first user message, then counting up with each of them.
    pub(crate) turn: u32,
    /// Index of its first message.
    pub(crate) first_message: usize,
    /// Number of its messages, at least 1.
    pub(crate) messages: usize,
    /// Tokens of the unit in the request; for one with a text that the host may shorten, as the host will
    /// write it.
    pub(crate) tokens: u32,
    /// Tokens of its shortest legal form; less than `tokens` only for one with such a text.
    pub(crate) shortest: u32,
    /// Its bytes in the wire format.
    pub(crate) bytes: usize,
    /// Number of pictures, documents and the like.
    pub(crate) media: u32,
    /// Those of `protected`, `pinned`, `pending`, `live`, `unseen`, `failed`, `thinking`, `media`, `opaque`
    /// that apply.
    pub(crate) traits: Vec<Cow<'static, str>>,
    /// The parts that a rewrite may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) editable: Vec<Editable>,
}

/// A part that a rewrite may change.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Editable {
    /// The message of the unit, from 0.
    pub(crate) message: usize,
    /// The part of the message, from 0, as the format's reader counts them.
    pub(crate) part: usize,
    /// Tokens of the part. A replacement must have fewer.
    pub(crate) tokens: u32,
    /// What an edit may do with the part: at least one thing.
    pub(crate) may: Vec<May>,
}

/// What an edit may do with a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum May {
    /// Its text may be replaced.
    Text,
    /// An excerpt of its text may be kept.
    Excerpt,
    /// It may be removed.
    Remove,
}

/// The sizes and limits of a call, in tokens unless the name says otherwise.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Situation {
    /// Why the host asks.
    pub(crate) trigger: Trigger,
    /// The model's context window; 0 if unknown.
    pub(crate) context_window: u32,
    /// The size of the conversation, overhead included.
    pub(crate) used: u32,
    /// The system prompt, tool definitions and units of kind `instructions`, which always stay.
    pub(crate) overhead: u32,
    /// What the result should fit in, overhead included.
    pub(crate) budget: u32,
    /// The smallest result that there can be: overhead and protected units.
    pub(crate) floor: u32,
    /// What a mark and a separate message add to the text of each insertion.
    pub(crate) insertion_overhead: u32,
    /// The size of the host's note for a result that would begin with a step, if the wire format requires a
    /// user message there; 0 otherwise.
    pub(crate) opening_note: u32,
    /// Leading units that the provider is believed to hold in its prompt cache.
    pub(crate) cached_units: u32,
    /// The most bytes that the units of the result may have together, insertions included.
    pub(crate) max_bytes: Option<usize>,
    /// The most pictures, documents and the like that the result may have.
    pub(crate) max_media: Option<u32>,
    /// JSON text from the embedding program for this call; empty if there is none.
    #[serde(default)]
    pub(crate) context: Cow<'static, str>,
    /// Whether the host does not accept `unchanged` as an answer.
    pub(crate) required: bool,
}

/// What a strategy is, in its own words.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Introspection {
    /// Short, in kebab-case.
    pub(crate) name: String,
    /// Its own version.
    pub(crate) version: String,
    /// One sentence.
    pub(crate) description: String,
    /// JSON Schema of the config, as JSON text; empty if the strategy accepts none.
    pub(crate) config_schema: String,
    /// The codes that its reasons use: at most 64 of at most 48 of the characters `a-z0-9._-`. Others are not
    /// shown.
    pub(crate) reason_codes: Vec<String>,
    /// The names of its metrics, of the same kind. Others are not shown.
    pub(crate) metric_names: Vec<String>,
    /// The time that an answer needs, in milliseconds. Anything but a positive integer counts as absent. The
    /// host may allow less.
    #[schemars(with = "Option<u64>")]
    pub(crate) timeout_ms: Option<Box<RawValue>>,
    /// Present if the strategy rejects the config of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
}

/// The decision whether to compact now.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Decision {
    /// The decision.
    pub(crate) decision: Verdict,
    /// The reason, as free text.
    #[serde(default)]
    pub(crate) reason: String,
}

/// Whether to compact now.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Compact now.
    Compact,
    /// Do not compact yet.
    Wait,
    /// The strategy leaves the decision to the host.
    HostDecides,
}

/// The result of a compaction, with metrics.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Report {
    /// The result.
    pub(crate) outcome: Outcome,
    /// The strategy's own metrics.
    #[serde(default)]
    pub(crate) metrics: Vec<Metric>,
}

/// The result of a compaction.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// A plan.
    Compacted(Plan),
    /// Nothing should be done, with the reason.
    Unchanged(String),
    /// The strategy declares a failure.
    Failure(Failure),
}

/// A failure that a strategy declares.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Failure {
    /// The kind of failure.
    pub(crate) kind: FailureKind,
    /// A message, as free text; shown only if the user asked for a strategy's free-text messages.
    #[serde(default)]
    pub(crate) message: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureKind {
    /// The config is invalid.
    BadConfig,
    /// The model did not answer, or not usably.
    Model,
    /// Something else.
    Other,
}
