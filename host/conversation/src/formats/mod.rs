//! Wire formats: from a provider's JSON to messages and units, and back.
//!
//! A format is one folder that implements [`WireFormat`]. Nothing outside of these folders, and of
//! `repair/`, knows how a provider spells anything.

pub(crate) mod anthropic;
pub(crate) mod bedrock_converse;
mod body;
mod detect;
pub mod edit;
pub(crate) mod files;
mod frame;
pub(crate) mod gemini;
mod limits;
mod meaning;
mod media;
mod named;
mod openai;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod plain;
pub(crate) mod rules;
mod space;
#[cfg(test)]
mod tests;

pub(crate) use body::Body;
pub(crate) use edit::{Replacement, replace};
pub(crate) use frame::Frame;
pub use frame::as_message;
pub(crate) use limits::Fit;
pub use limits::ProviderLimits;
pub(crate) use named::Named;
pub(crate) use openai_responses::Asked;
pub(crate) use plain::{is_alike, plain, unmarked};
pub(crate) use rules::{Found, View, violations};
pub use rules::{RuleCounts, ViolationCounts};
pub(crate) use space::at_the_end as space_at_the_end;

use serde_json::Value;

use crate::json::{self, Place};
use crate::model::envelope::Envelope;
use crate::model::format::Format;
use crate::model::message::{Message, Role};
use crate::model::read_error::ReadError;
use crate::model::unit::Unit;
use body::{List, Raw};
use rules::Check;

type ReadMessage = fn(&Body<'_>, &Raw<'_>) -> Result<Message, String>;

/// What a format is like, and how it reads a message.
pub(crate) struct Facts {
    /// Reads one message of a body, or says what is wrong with it.
    pub(crate) read: ReadMessage,
    /// The rules of the format.
    pub(crate) checks: &'static [Check],
    /// What the provider accepts in one request.
    pub(crate) limits: ProviderLimits,
    /// The member of a request body that holds the messages.
    pub(crate) list: List,
    /// The member of a message that holds its content.
    pub(crate) content_key: &'static str,
    /// Whether a request body names its model; else its URL does.
    pub(crate) names_model: bool,
    /// Whether the first message has to be the user's, and the model's may not follow one
    /// another where something between them was left out.
    pub(crate) alternates: bool,
    /// Whether the user's messages may not follow one another either where something between them was left
    /// out or put in, so that a note in the role of the model parts them.
    pub(crate) parts_users: bool,
    /// Whether instructions in the middle stand only after a turn of the user, so that they move
    /// where others leave.
    pub(crate) moves_instructions: bool,
    /// The roles of messages that may hold inserted text.
    pub(crate) inserted: &'static [Role],
}

impl Facts {
    /// A format with nothing unusual beside these.
    const fn of(read: ReadMessage, checks: &'static [Check], limits: ProviderLimits) -> Self {
        Self {
            read,
            checks,
            limits,
            list: List::Messages,
            content_key: "content",
            names_model: true,
            alternates: false,
            parts_users: false,
            moves_instructions: false,
            inserted: &[Role::User],
        }
    }
}

/// What baler needs to know of a format.
pub(crate) trait WireFormat: Sync {
    /// What the format is like.
    fn facts(&self) -> &'static Facts;

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
                let number = index + 1;
                let mut message = (self.facts().read)(body, &raw)
                    .map_err(|what| ReadError::Message { number, what })?;
                files::note(body, &mut message);
                message.shrink();
                calls.note(&mut message);
                Ok(message)
            })
            .collect()
    }

    /// The member of a request that holds its instructions, `text` being a JSON string; `None` where a message
    /// holds them.
    fn instructions(&self, _text: &str) -> Option<String> {
        None
    }

    /// Divides messages into units: the number of messages of each, in order. Decided from
    /// left to right, so that messages from the start of a unit on are divided alike.
    fn unit_lengths(&self, messages: &[Message]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut rest = messages;
        while !rest.is_empty() {
            let length = self.unit_length(rest);
            lengths.push(length);
            rest = &rest[length..];
        }
        lengths
    }

    /// The number of messages of the first unit of `messages`, which are not empty, in a format that needs no
    /// more than those to know.
    fn unit_length(&self, _messages: &[Message]) -> usize {
        1
    }

    /// The first unit that may be divided otherwise once `next` is appended: where nothing else is said, the
    /// last. `asked` is of earlier calls for the same messages, and fresh before the first.
    fn reopens(
        &self,
        _messages: &[Message],
        units: &[Unit],
        _next: &Message,
        _asked: &mut Asked,
    ) -> usize {
        units.len().saturating_sub(1)
    }

    /// What every request carries beside its messages.
    fn envelope(&self, body: &Body<'_>) -> Envelope;

    /// Whether a model, by its name, accepts thinking only after the messages that it was made after.
    fn binds_thinking(&self, _model: &str) -> bool {
        false
    }

    /// Whether a part of a message, as JSON, is thinking. Only formats that bind thinking need it.
    fn is_thinking(&self, _part: &str) -> bool {
        false
    }

    /// The white space that the provider refuses at the end of the last part of the last answer, given as
    /// JSON: its place in the part.
    fn refused_space(&self, _part: &str) -> Option<Place> {
        None
    }

    /// The JSON of a text, given as a JSON string, as a part of a message of the user or of
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

    /// A definition of a tool: an element of the list `tools` of a request.
    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value;

    /// The JSON of the content of an output with this text, given as a JSON string, and other
    /// parts as they stood, in the place of `old`.
    fn output_content(&self, _old: &str, text: &str, others: &[&str]) -> String {
        if others.is_empty() {
            return text.to_owned();
        }
        // Pictures and the like stay as they are, after the new text.
        format!("[{},{}]", self.text_part(text), others.join(","))
    }
}

impl Format {
    /// What the provider accepts in one request, beside tokens.
    #[must_use]
    pub fn limits(self) -> ProviderLimits {
        self.facts().limits
    }

    /// Whether the first message has to be the user's, and the model's may not follow one another where
    /// something between them was left out.
    #[must_use]
    pub fn alternates(self) -> bool {
        self.facts().alternates
    }

    /// Whether the user's messages may not follow one another either, and a note in the role of the model
    /// parts them.
    #[must_use]
    pub fn parts_users(self) -> bool {
        self.facts().parts_users
    }

    /// Whether a message of this role may hold inserted text.
    #[must_use]
    pub fn has_role(self, role: Role) -> bool {
        self.facts().inserted.contains(&role)
    }

    /// The JSON of a new message.
    #[must_use]
    pub fn text_message(self, role: Role, text: &str) -> String {
        self.wire().text_message(role, text)
    }

    /// A definition of a tool: an element of the list `tools` of a request. `parameters` is the JSON
    /// Schema of its arguments.
    #[must_use]
    pub fn tool_definition(self, name: &str, description: &str, parameters: &Value) -> Value {
        self.wire().tool_definition(name, description, parameters)
    }

    pub(crate) fn facts(self) -> &'static Facts {
        self.wire().facts()
    }

    pub(crate) fn wire(self) -> &'static dyn WireFormat {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
            Self::BedrockConverse => &bedrock_converse::BedrockConverse,
        }
    }
}
