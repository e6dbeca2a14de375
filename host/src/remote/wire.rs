//! The JSON of questions and answers. It follows the contract, name by name: what is a variant
//! there is an object with one member here, and a case without content is a string.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::Format;

pub(crate) use super::value::Value;
use crate::request::Policy;

/// "Who are you?"
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct WhoAreYou<'a> {
    /// `baler:compaction@0.1.0`.
    #[serde(borrow)]
    pub(crate) contract: Cow<'a, str>,
    /// The config that it would get: does it make sense? Absent where only the rest is asked.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) config: Option<&'a RawValue>,
}

/// "Is it time?" and "What is your plan?"
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Ask<'a> {
    /// `baler:compaction@0.1.0`.
    #[serde(borrow)]
    pub(crate) contract: Cow<'a, str>,
    /// The name of the strategy in the marks around its texts, whose tokens count.
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    /// The wire format of the conversation.
    pub(crate) format: Format,
    /// The conversation: the provider's request body, or its list of messages, as it came in.
    #[serde(borrow)]
    #[schemars(with = "serde_json::Value")]
    pub(crate) conversation: &'a RawValue,
    /// Its units, oldest first. Plans name them by their index, from 0.
    pub(crate) units: Vec<Unit>,
    /// The state of things at this call.
    pub(crate) situation: Situation,
    /// What a plan may do beside keeping, dropping and inserting in the user's role.
    #[serde(default)]
    pub(crate) policy: Policy,
    /// The strategy's config; absent where it has none.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(crate) config: Option<&'a RawValue>,
}

/// The smallest run of messages that stays or goes as one.
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
    /// Tokens that it costs in the request; of an unseen unit, as the host will write it.
    pub(crate) tokens: u32,
    /// Tokens of its shortest legal form; fewer than `tokens` only of an unseen unit.
    pub(crate) shortest: u32,
    /// Its bytes in the wire format.
    pub(crate) bytes: usize,
    /// Number of pictures, documents and the like.
    pub(crate) media: u32,
    /// `protected`, `pinned`, `pending`, `live`, `unseen`, `failed`, `thinking`, `media`, `opaque`, as
    /// far as they hold.
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
    /// Tokens of the part, which a text in its place has to stay below.
    pub(crate) tokens: u32,
    /// What may be done to it.
    pub(crate) may: May,
}

/// What may be done to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum May {
    /// Its text may be replaced.
    Text,
    /// It may be left out.
    Remove,
}

/// The state of things. All sizes are in tokens unless the name says otherwise.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Situation {
    /// Why the host asks.
    pub(crate) trigger: Trigger,
    /// The model's context window; 0 where it is not known.
    pub(crate) context_window: u32,
    /// In use now, overhead included.
    pub(crate) used: u32,
    /// Of system prompt, tool definitions and units of kind `instructions`, which stay.
    pub(crate) overhead: u32,
    /// What the result should fit in, overhead included.
    pub(crate) budget: u32,
    /// The smallest result that there can be: overhead and protected units.
    pub(crate) floor: u32,
    /// What the host's mark and a message of its own add to each insertion, beside its text.
    pub(crate) insertion_overhead: u32,
    /// What the host's own note costs where a result would begin with a step and the wire
    /// format wants a user message there; 0 where the format does not care.
    pub(crate) opening_note: u32,
    /// Leading units that the provider is believed to hold in its prompt cache.
    pub(crate) cached_units: u32,
    /// The most bytes that the units of the result may have together, insertions included.
    pub(crate) max_bytes: Option<usize>,
    /// The most pictures, documents and the like that the result may have.
    pub(crate) max_media: Option<u32>,
    /// JSON text of this call, as the embedding program gave it; empty where it gave none.
    #[serde(default)]
    pub(crate) context: Cow<'static, str>,
    /// The host will not take `unchanged` for an answer.
    pub(crate) required: bool,
}

/// Why the host asks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trigger {
    /// A threshold of the host's was crossed.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person or program asked, perhaps saying what to keep in mind.
    Manual(Option<Cow<'static, str>>),
    /// A schedule of the host's.
    Scheduled,
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
    /// JSON Schema of the config, as JSON text; empty where it takes none.
    pub(crate) config_schema: String,
    /// The codes that its reasons use: at most 64 of at most 48 of the characters `a-z0-9._-`. Others are not
    /// shown.
    pub(crate) reason_codes: Vec<String>,
    /// The names of its metrics, of the same kind. Others are not shown.
    pub(crate) metric_names: Vec<String>,
    /// How long an answer may take, in milliseconds. What is no positive integer counts as not
    /// there, and the host's policy caps what is.
    #[schemars(with = "Option<u64>")]
    pub(crate) timeout_ms: Option<Box<RawValue>>,
    /// The config that came with the question makes no sense to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
}

/// The answer to "Is it time?"
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Decision {
    /// What it is for.
    pub(crate) decision: Verdict,
    /// Why, in words.
    #[serde(default)]
    pub(crate) reason: String,
}

/// Whether it is time.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// It is.
    Compact,
    /// It is not.
    Wait,
    /// No opinion.
    HostDecides,
}

/// What came of a compaction.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Report {
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// Figures of the strategy's own.
    #[serde(default)]
    pub(crate) metrics: Vec<Metric>,
}

/// What came of a compaction.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// A plan.
    Compacted(Plan),
    /// Nothing should be done, and why.
    Unchanged(String),
    /// It could not be done.
    Failure(Failure),
}

/// What a strategy reports itself.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Failure {
    /// Of which kind.
    pub(crate) kind: FailureKind,
    /// In words; shown only where the user asked for a strategy's words.
    #[serde(default)]
    pub(crate) message: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureKind {
    /// The config makes no sense.
    BadConfig,
    /// The model did not answer, or not usably.
    Model,
    /// Something else.
    Other,
}

/// Read from top to bottom, the pieces are the new conversation. A unit that no piece names is
/// dropped.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Plan {
    /// The pieces, in order of units.
    pub(crate) pieces: Vec<Piece>,
    /// Why units were treated so.
    #[serde(default)]
    pub(crate) reasons: Vec<Reason>,
}

/// A piece of a plan.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Piece {
    /// These units stay as they are.
    Keep(Span),
    /// This unit stays, with some of its parts changed.
    Rewrite(Rewrite),
    /// A text of the strategy's own.
    Insert(Insertion),
}

/// `count` units from unit `first` on.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Span {
    /// The first unit.
    pub(crate) first: u32,
    /// How many.
    pub(crate) count: u32,
}

/// A unit that stays, with some of its parts changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Rewrite {
    /// The unit.
    pub(crate) unit: u32,
    /// The changes, in order of message and part.
    pub(crate) edits: Vec<Edit>,
}

/// A change of one part of one message, each counted from 0.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Edit {
    /// The message of the unit.
    pub(crate) message: u32,
    /// The part of the message.
    pub(crate) part: u32,
    /// What to do with it.
    pub(crate) change: Change,
}

/// What an edit does.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Change {
    /// Replaces the text by a shorter one.
    Text(String),
    /// Leaves the part out.
    Remove,
}

/// A text of the strategy's own. The host marks it as such.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Insertion {
    /// Who seems to speak: the user always may, the others by policy or never.
    pub(crate) role: Role,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// Where it goes.
    pub(crate) placement: Placement,
    /// The text, without marks; not blank.
    pub(crate) text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// System instructions.
    System,
    /// Developer instructions.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool output.
    Tool,
}

/// What an inserted text is for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    /// Stands for what was dropped.
    Summary,
    /// Anything else that the model should know.
    Note,
}

/// Where an inserted text goes. What would join a protected message becomes a message of its own beside
/// it, so that it can leave again.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Placement {
    /// A message of its own.
    Alone,
    /// A further part, at the end of the kept message before it.
    JoinBefore,
    /// A further part, at the start of the kept message after it.
    JoinAfter,
}

/// Why units were treated so.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Reason {
    /// The units.
    pub(crate) units: Span,
    /// A code that the introspection declares.
    pub(crate) code: String,
}

/// A figure of a strategy's own.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Metric {
    /// Its name, which the introspection declares.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: Value,
}
