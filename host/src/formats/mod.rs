//! Wire formats: from a provider's JSON to messages and units, and back.
//!
//! A format is one file that implements [`WireFormat`]. Nothing outside this folder knows how
//! a provider spells anything.

mod anthropic;
mod body;
mod detect;
mod edit;
mod frame;
mod gemini;
pub(crate) mod json;
mod limits;
mod media;
mod named;
mod openai_chat;
mod openai_responses;
pub(crate) mod rules;
mod space;
#[cfg(test)]
pub(crate) mod spelling;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub(crate) use body::Body;
pub(crate) use edit::{Replacement, joined, new_text, replace};
pub(crate) use frame::Frame;
pub use limits::ProviderLimits;
pub(crate) use named::Named;
pub(crate) use openai_responses::{Asked, FUNCTION, LOCAL_SHELL};
pub(crate) use rules::{Found, View, violations};
pub use rules::{Rule, RuleCounts, Severity, Violation, ViolationCounts};
pub(crate) use space::at_the_end as space_at_the_end;

use crate::conversation::message::{Message, Role};
use crate::conversation::{Unit, files};
use crate::repair::Mend;
use body::{List, Raw};
use json::Place;
use rules::Check;

/// A provider's wire format.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions, and the many servers that speak it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
}

/// What baler needs to know of a format.
pub(crate) trait WireFormat: Sync {
    /// Reads one message of a body, or says what is wrong with it.
    fn message(&self, body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String>;

    /// Reads the messages of a body. Outputs that do not name their tool get the name of the
    /// call that they answer, and those that name the item of the call get the call's id.
    ///
    /// Takes the messages out of the body, and lets go of each as soon as it is read: of long
    /// logs both together would be large.
    fn messages(&self, body: &mut Body<'_>) -> Result<Vec<Message>, ReadError> {
        let mut calls = Named::default();
        std::mem::take(&mut body.messages)
            .into_iter()
            .enumerate()
            .map(|(index, raw)| {
                body.check_time(index)?;
                let mut message = self
                    .message(body, &raw)
                    .map_err(|what| ReadError::Message {
                        number: index + 1,
                        what,
                    })?;
                files::note(body, &mut message);
                message.shrink();
                calls.note(&mut message);
                Ok(message)
            })
            .collect()
    }

    /// The member of a request body that holds the messages.
    fn list(&self) -> List {
        List::Messages
    }

    /// Divides messages into units: the number of messages of each, in order. Decided from
    /// left to right, so that messages from the start of a unit on are divided alike.
    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize>;

    /// The first unit that may be divided otherwise once `next` is appended. `asked` is of earlier
    /// calls for the same messages, and fresh before the first.
    fn reopens(
        &self,
        messages: &[Message],
        units: &[Unit],
        next: &Message,
        asked: &mut Asked,
    ) -> usize;

    /// What every request carries beside its messages.
    fn envelope(&self, body: &Body<'_>) -> Envelope;

    /// The rules of the format.
    fn checks(&self) -> &'static [Check];

    /// What can be mended where a rule is broken, in the order in which it is.
    fn mends(&self) -> &'static [Mend];

    /// What the provider takes in one request.
    fn limits(&self) -> ProviderLimits;

    /// Whether the first message has to be the user's, and the model's may not follow one
    /// another where something between them was left out.
    fn alternates(&self) -> bool {
        false
    }

    /// Whether instructions in the middle stand only behind a turn of the user's, so that they move
    /// where others leave.
    fn moves_instructions(&self) -> bool {
        false
    }

    /// Whether a message of this role may hold inserted text.
    fn has_role(&self, role: Role) -> bool {
        role == Role::User
    }

    /// Whether two messages, as JSON, are the same to the provider.
    fn is_alike(&self, one: &str, other: &str) -> bool {
        one == other
    }

    /// The JSON of a text, given as a JSON string, as a part of a message of the user's or of
    /// instructions, or of an output.
    fn text_part(&self, text: &str) -> String {
        format!(r#"{{"type":"text","text":{text}}}"#)
    }

    /// The JSON of a new message.
    fn text_message(&self, role: Role, text: &str) -> String {
        format!(
            r#"{{"role":"{}","content":{}}}"#,
            role.name(),
            json::encode(text)
        )
    }

    /// The JSON of the content of an output with this text, given as a JSON string, and other
    /// parts as they stood, in the place of `old`.
    fn output_content(&self, _old: &str, text: &str, others: &[&str]) -> String {
        if others.is_empty() {
            return text.to_owned();
        }
        // Pictures and the like stay as they are, behind the new text.
        format!("[{},{}]", self.text_part(text), others.join(","))
    }
}

/// A tool definition, as places in the document.
#[derive(Debug, Clone)]
pub(crate) struct ToolDefinition {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The JSON Schema of the arguments.
    pub(crate) parameters: Option<Place>,
}

/// What every request carries beside its messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope {
    /// Texts of the system prompt outside of the messages.
    pub(crate) texts: Vec<Place>,
    pub(crate) tools: Vec<ToolDefinition>,
    /// The whole list of tools, which is what gets counted.
    pub(crate) tool_list: Option<Place>,
    /// Whether a block of the system prompt is empty, where it is a list of blocks.
    pub(crate) has_empty_block: bool,
    /// Number of marks for the provider's cache outside of the messages.
    pub(crate) cache_marks: u32,
    /// Whether the request asks for thinking that has to be sent back.
    pub(crate) thinks: bool,
    /// What becomes of thinking that stands behind something else than it was made behind.
    pub(crate) binding: Binding,
    /// Whether the model that the request names is one of OpenAI's own, in its formats (CHAT-3, RESP-5).
    pub(crate) is_makers_own: bool,
    /// Whether the request tells of a model that refuses calls without their signatures (GEM-3).
    pub(crate) wants_signatures: bool,
    /// Whether the provider stores nothing (`store: false`).
    pub(crate) stateless: bool,
    /// Whether the request goes on from one that the provider stored, so that the document
    /// does not show the whole conversation.
    pub(crate) continues: bool,
    /// Whether the request asks the provider itself to compact the conversation.
    pub(crate) asks_to_compact: bool,
}

impl Envelope {
    /// Whether an open tool loop has to begin with thinking (ANTH-5). Models that bind thinking
    /// take one that lost it.
    pub(crate) const fn wants_thinking(&self) -> bool {
        self.thinks && !matches!(self.binding, Binding::Refuses)
    }
}

/// What a provider does with thinking behind another beginning than that behind which it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Binding {
    /// It takes such thinking.
    #[default]
    No,
    /// It refuses the request.
    Refuses,
    /// It leaves such thinking out, and all thinking behind that, without an error.
    Drops,
}

impl Format {
    /// All formats, in the order in which help texts name them.
    pub const ALL: &[Self] = &[
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
    ];

    /// The name by which programs and receipts call the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Whether a model of this format, by its name, takes thinking only behind what it was made behind.
    pub(crate) fn binds_thinking(self, model: &str) -> bool {
        self == Self::Anthropic && anthropic::binds(model)
    }

    /// What the provider takes in one request, beside tokens.
    #[must_use]
    pub fn limits(self) -> ProviderLimits {
        self.wire().limits()
    }

    pub(crate) fn wire(self) -> &'static dyn WireFormat {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                let known: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
                format!("no format is called `{name}`; known: {}", known.join(", "))
            })
    }
}

impl Role {
    /// The role's name in the wire formats.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Why a document could not be read as a conversation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Nothing but white space.
    #[error("the document is empty; give a request body, a list of messages, or a session log")]
    Empty,
    /// Not UTF-8.
    #[error(
        "the document is not UTF-8: the byte at offset {offset} starts no character; give it as the provider or program wrote it"
    )]
    NotUtf8 {
        /// Offset of the first wrong byte, from 0.
        offset: usize,
    },
    /// Not JSON.
    #[error(
        "the document is not JSON: {what} at line {line}, column {column}; give the whole body, or the log, as it was written"
    )]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser says.
        what: String,
    },
    /// JSON, but no request with messages.
    #[error("the document holds no conversation: {hint}")]
    NoMessages {
        /// What it might be, and what to do.
        hint: String,
    },
    /// A member of the body has the wrong type.
    #[error("{what}")]
    Shape {
        /// Which, and what it should be.
        what: String,
    },
    /// The deadline of reading passed.
    #[error("the document was not read in time; allow more time, or give a shorter one")]
    OutOfTime,
    /// The log of a session cannot be read.
    #[error(transparent)]
    Log(crate::logs::LogError),
    /// A message cannot be read.
    #[error("message {number}: {what}")]
    Message {
        /// The message's number, from 1.
        number: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl ReadError {
    /// An error of the parser in `slice` of `document`, at its place in the whole.
    pub(crate) fn json(document: &str, slice: &str, error: &serde_json::Error) -> Self {
        let start = json::place_of(document, slice).start;
        let before = document.get(..start).unwrap_or_default();
        let lines = before.matches('\n').count();
        let last = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
        Self::NotJson {
            line: lines + error.line().max(1),
            column: if error.line() <= 1 {
                last.len() + error.column()
            } else {
                error.column()
            },
            what: body::without_position(error),
        }
    }
}
