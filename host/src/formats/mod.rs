//! Wire formats: from a provider's JSON to messages and units, and back.
//!
//! A format is one file that implements [`WireFormat`]. Nothing outside this folder knows how
//! a provider spells anything.

mod anthropic;
mod body;
mod edit;
pub(crate) mod json;
mod openai_chat;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

pub(crate) use body::{Body, Frame};
pub(crate) use edit::{Replacement, joined, new_text, replace};
pub use rules::{Rule, Violation};

use crate::conversation::message::{Content, Message, Role};
use body::Raw;
use json::Place;

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
    /// Anthropic Messages.
    Anthropic,
}

/// What baler needs to know of a format.
pub(crate) trait WireFormat: Sync {
    /// Reads one message of a body, or says what is wrong with it.
    fn message(&self, body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String>;

    /// Reads the messages of a body. Outputs that do not name their tool get the name of the
    /// call that they answer.
    fn messages(&self, body: &Body<'_>) -> Result<Vec<Message>, ReadError> {
        let mut names: HashMap<String, String> = HashMap::new();
        body.messages
            .iter()
            .enumerate()
            .map(|(index, raw)| {
                let mut message = self.message(body, raw).map_err(|what| ReadError::Message {
                    number: index + 1,
                    what,
                })?;
                for call in message.calls() {
                    names.insert(call.id.clone(), call.name.clone());
                }
                for part in &mut message.parts {
                    if let Content::Output(output) = &mut part.content
                        && output.name.is_empty()
                        && let Some(name) = names.get(&output.call_id)
                    {
                        output.name.clone_from(name);
                    }
                }
                Ok(message)
            })
            .collect()
    }

    /// Divides messages into units: the number of messages of each, in order.
    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize>;

    /// The places of what every request carries beside its messages: system prompt, tools.
    fn overhead(&self, body: &Body<'_>) -> Overhead;

    /// The rules of the format that `messages` break.
    fn violations(&self, document: &str, messages: &[Message]) -> Vec<Violation>;

    /// Whether the first message has to be the user's.
    fn starts_with_user(&self) -> bool;

    /// Whether a message of this role may hold inserted text.
    fn has_role(&self, role: Role) -> bool;

    /// The JSON of `text` as a part of a message.
    fn text_part(&self, text: &str) -> String {
        format!(r#"{{"type":"text","text":{}}}"#, json::encode(text))
    }

    /// The JSON of a new message.
    fn text_message(&self, role: Role, text: &str) -> String {
        format!(
            r#"{{"role":"{}","content":{}}}"#,
            role.name(),
            json::encode(text)
        )
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
pub(crate) struct Overhead {
    /// Texts of the system prompt outside of the messages.
    pub(crate) texts: Vec<Place>,
    pub(crate) tools: Vec<ToolDefinition>,
    /// The whole list of tools, which is what gets counted.
    pub(crate) tool_list: Option<Place>,
}

impl Format {
    /// All formats, in the order in which help texts name them.
    pub const ALL: &[Self] = &[Self::OpenAiChat, Self::Anthropic];

    /// The name by which programs and receipts call the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
        }
    }

    pub(crate) fn wire(self) -> &'static dyn WireFormat {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::Anthropic => &anthropic::Anthropic,
        }
    }

    /// Finds out which format `body` is in. Plain messages, legal in both, count as OpenAI
    /// Chat unless the model's name speaks against it.
    pub(crate) fn detect(body: &Body<'_>) -> Self {
        if anthropic::looks_like(body) && !openai_chat::looks_like(body) {
            Self::Anthropic
        } else {
            Self::OpenAiChat
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
    #[error("the document is empty")]
    Empty,
    /// Not UTF-8.
    #[error("the document is not UTF-8: the byte at offset {offset} starts no character")]
    NotUtf8 {
        /// Offset of the first wrong byte, from 0.
        offset: usize,
    },
    /// Not JSON.
    #[error("the document is not JSON: {what} at line {line}, column {column}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser says.
        what: String,
    },
    /// JSON, but no request with messages.
    #[error("the document has no `messages`: {hint}")]
    NoMessages {
        /// What it might be.
        hint: &'static str,
    },
    /// A member of the body has the wrong type.
    #[error("{what}")]
    Shape {
        /// Which, and what it should be.
        what: String,
    },
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
