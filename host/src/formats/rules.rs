//! The rules of the wire formats that a conversation can break.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::json;
use crate::conversation::message::{Content, Message, Role};

/// A rule, by the id under which `docs/wire-formats.md` explains it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[non_exhaustive]
pub enum Rule {
    /// At least one message that is not instructions.
    #[serde(rename = "ALL-1")]
    All1,
    /// Every call has its output, unless it is pending at the end; every output its call.
    #[serde(rename = "ALL-2")]
    All2,
    /// Ids of calls are unique, and no call is answered twice.
    #[serde(rename = "ALL-4")]
    All4,
    /// No empty text parts.
    #[serde(rename = "ALL-6")]
    All6,
    /// A tool message follows the assistant message that made its call.
    #[serde(rename = "CHAT-1")]
    Chat1,
    /// All calls of an assistant message are answered before any other role speaks.
    #[serde(rename = "CHAT-2")]
    Chat2,
    /// `tool_calls` is not empty; `content` is null only beside calls, refusal or audio.
    #[serde(rename = "CHAT-3")]
    Chat3,
    /// Arguments are a JSON text.
    #[serde(rename = "CHAT-4")]
    Chat4,
    /// Roles are user and assistant, and the first message is the user's.
    #[serde(rename = "ANTH-1")]
    Anth1,
    /// Each `tool_use` has its `tool_result` in the very next message, before any text.
    #[serde(rename = "ANTH-3")]
    Anth3,
    /// A `tool_result` needs its `tool_use` in the message before it.
    #[serde(rename = "ANTH-4")]
    Anth4,
    /// No empty text blocks.
    #[serde(rename = "ANTH-6")]
    Anth6,
}

impl Rule {
    /// The id in the documentation.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::All1 => "ALL-1",
            Self::All2 => "ALL-2",
            Self::All4 => "ALL-4",
            Self::All6 => "ALL-6",
            Self::Chat1 => "CHAT-1",
            Self::Chat2 => "CHAT-2",
            Self::Chat3 => "CHAT-3",
            Self::Chat4 => "CHAT-4",
            Self::Anth1 => "ANTH-1",
            Self::Anth3 => "ANTH-3",
            Self::Anth4 => "ANTH-4",
            Self::Anth6 => "ANTH-6",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::All1 => "add a message of the user's",
            Self::All2 | Self::Chat2 | Self::Anth3 => {
                "answer every tool call in the messages directly after it, or remove the call"
            }
            Self::All4 => "give every tool call an id of its own, and answer it once",
            Self::All6 | Self::Anth6 => "remove the empty text, or fill it",
            Self::Chat1 | Self::Anth4 => {
                "put each tool output directly behind the message that made its call"
            }
            Self::Chat3 => "leave `tool_calls` out when there are none, and give a `content`",
            Self::Chat4 => "write the arguments as a JSON text",
            Self::Anth1 => "begin with a user message, and put the system prompt in `system`",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// One place where a conversation breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// The message's number, from 1; 0 for the conversation as a whole.
    pub message: usize,
    /// What is wrong there, without any text of the conversation.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message == 0 {
            write!(f, "{}: {}", self.rule, self.what)
        } else {
            write!(f, "message {}: {} ({})", self.message, self.what, self.rule)
        }
    }
}

/// Violations, as they are found.
#[derive(Default)]
pub(super) struct Findings(Vec<Violation>);

impl Findings {
    pub(super) fn add(&mut self, rule: Rule, index: usize, what: impl Into<String>) {
        self.0.push(Violation {
            rule,
            message: index + 1,
            what: what.into(),
        });
    }

    /// The findings, each place and rule once, in order.
    pub(super) fn finish(mut self) -> Vec<Violation> {
        self.0.sort_by_key(|found| (found.message, found.rule));
        self.0.dedup();
        self.0
    }

    /// ALL-1.
    pub(super) fn check_not_empty(&mut self, messages: &[Message]) {
        let speaks = |message: &Message| !matches!(message.role, Role::System | Role::Developer);
        if !messages.iter().any(speaks) {
            self.0.push(Violation {
                rule: Rule::All1,
                message: 0,
                what: "there is no message beside instructions".to_owned(),
            });
        }
    }

    /// ALL-4, over the whole conversation. An output answers the nearest earlier call of its id.
    pub(super) fn check_ids(&mut self, messages: &[Message]) {
        let mut called: HashSet<&str> = HashSet::new();
        let mut answered: HashMap<&str, bool> = HashMap::new();
        for (index, message) in messages.iter().enumerate() {
            for call in message.calls().filter(|call| !call.id.is_empty()) {
                if !called.insert(&call.id) {
                    self.add(Rule::All4, index, "the id of a tool call was used before");
                }
                answered.insert(&call.id, false);
            }
            for output in message.outputs() {
                if let Some(seen) = answered.get_mut(output.call_id.as_str())
                    && std::mem::replace(seen, true)
                {
                    self.add(Rule::All4, index, "a tool call is answered twice");
                }
            }
        }
    }

    /// ALL-6 or the format's own form of it. A text that is the whole content may be empty
    /// where the format lets it (`whole_may_be_empty`).
    pub(super) fn check_texts(
        &mut self,
        rule: Rule,
        document: &str,
        messages: &[Message],
        whole_may_be_empty: bool,
    ) {
        for (index, message) in messages.iter().enumerate() {
            for part in &message.parts {
                if let Content::Text(place) = &part.content
                    && document.get(place.clone()) == Some("\"\"")
                    && !(whole_may_be_empty && message.content.as_ref() == Some(place))
                {
                    self.add(rule, index, "a text part is empty");
                }
            }
            if let Some(content) = &message.content
                && document
                    .get(content.clone())
                    .is_some_and(|raw| json::is_list(raw) && message.parts.is_empty())
            {
                self.add(rule, index, "the content is an empty list");
            }
        }
    }
}
