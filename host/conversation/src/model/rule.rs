//! The rules by name, and what to do when one is broken.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// Rules with their ids and remedies, and a list of all of them.
macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident $id:literal => $remedy:literal),* $(,)?) => {
        /// A rule, by the id under which `docs/wire-formats.md` explains it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ #[serde(rename = $id)] $name),*
        }

        impl Rule {
            /// All rules, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the id of the rule in the documentation.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id),* }
            }

            /// Returns the remedy.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$name => $remedy),* }
            }
        }
    };
}

rules! {
    /// At least one message that is not instructions.
    All1 "ALL-1" => "add a message of the user",
    /// Ids of calls are unique, and no call is answered twice.
    All4 "ALL-4" => "give every tool call a unique id, and answer it once",
    /// No empty text parts.
    All6 "ALL-6" => "remove the empty text, or fill it",
    /// The body, its pictures and their number are under the provider's limits.
    All8 "ALL-8" => "compact it; or leave pictures out, scale them down, or send references instead of the data",
    /// A tool message follows the assistant message that made its call.
    Chat1 "CHAT-1" => "put each tool message directly after the message that made its call",
    /// All calls of an assistant message are answered before any other role speaks.
    Chat2 "CHAT-2" => "answer every tool call in the messages directly after it, or remove the call",
    /// `tool_calls` is not empty; `content` is null only beside calls, refusal or audio.
    Chat3 "CHAT-3" => "leave `tool_calls` out when there are none, and give a `content` that is a text or a list of parts",
    /// A call has its type, its name, and arguments that are a JSON text.
    Chat4 "CHAT-4" => "give the call its `type` and `name`, and write the arguments as a JSON text",
    /// The older `function_call` and `function` pairs obey the same rules as tool calls.
    Chat5 "CHAT-5" => "put each `function` message directly after the `function_call` of that name",
    /// An output has an earlier call with its id, of its kind.
    Resp1 "RESP-1" => "send the call before its output, both of one kind, or remove the output",
    /// A call has its output, unless it is pending at the end.
    Resp2 "RESP-2" => "send the output of every call, or remove the call",
    /// A reasoning item is followed by the item that it produced.
    Resp3 "RESP-3" => "send what followed the reasoning as well, or remove the reasoning",
    /// Reasoning keeps its `summary`, and without storage its `encrypted_content`.
    Resp5 "RESP-5" => "send reasoning whole as it came; without storage ask for `reasoning.encrypted_content`",
    /// An item id is used once.
    Resp8 "RESP-8" => "send each item once, and changed items without their id",
    /// A call has its name and arguments that are a text; an output has an output.
    Resp9 "RESP-9" => "give the call its `name`, write arguments as a JSON text, and give each output a text or a list",
    /// The first message is from the user; instructions come after a turn of the user.
    Anth1 "ANTH-1" => "begin with a user message, put the system prompt in `system`, and further instructions after a turn of the user; if it is an OpenAI Chat request for a model of Anthropic, set the format to `openai-chat`",
    /// Each `tool_use` has its `tool_result` in the very next message, before any text.
    Anth3 "ANTH-3" => "answer every `tool_use` at the start of the message directly after it, or remove it",
    /// A `tool_result` needs its `tool_use` in the message before it.
    Anth4 "ANTH-4" => "put each `tool_result` into the message directly after its `tool_use`",
    /// With thinking on, the turn of an open tool loop begins with thinking.
    Anth5 "ANTH-5" => "send the thinking of the newest response whole as it came, or turn thinking off",
    /// No empty text blocks, and no white space at the end of a final assistant message.
    Anth6 "ANTH-6" => "remove the empty text, or fill it; remove white space from the end",
    /// A `server_tool_use` and its result are in the same assistant turn.
    Anth7 "ANTH-7" => "send a server tool's use and its result together, or neither",
    /// A signed `compaction` is the first block of the first message, and none is empty.
    Anth8 "ANTH-8" => "send a signed `compaction` as the first block of the first message, and none with an empty content",
    /// At most four `cache_control` marks.
    Anth9 "ANTH-9" => "keep the newest four `cache_control` marks",
    /// A body of at most 32 MB, and pictures of at most 8000 pixels a side.
    Anth10 "ANTH-10" => "compact it; or leave pictures out, or scale them down",
    /// Calls and thinking are the assistant's, and blocks hold what their type wants.
    Anth11 "ANTH-11" => "put the block where its role allows it, and give it the members that its type requires",
    /// Roles are user and model, and the first is the user's.
    Gem1 "GEM-1" => "begin with a user content, use no roles but `user` and `model`, and put the system prompt in `systemInstruction`",
    /// A model turn with calls is followed by one user turn with as many answers, and follows
    /// a turn of the user's.
    Gem2 "GEM-2" => "put each content with calls after one of the user, and answer every `functionCall` in one user content directly after it",
    /// A step of the current turn has a thought signature on its first call.
    Gem3 "GEM-3" => "send thought signatures as they came, on the part on which they came",
    /// A `functionResponse` holds an object.
    Gem4 "GEM-4" => "put the output into an object, such as {\"output\": ...}",
    /// No content without parts.
    Gem5 "GEM-5" => "remove the empty content or part, or fill it",
    /// A call and a response have a name.
    Gem7 "GEM-7" => "give each `functionCall` and `functionResponse` the `name` of its function",
    /// The first message is the user's, and none is instructions.
    Bed1 "BED-1" => "begin with a user message, and put the system prompt in `system`",
    /// The roles alternate.
    Bed2 "BED-2" => "make neighbours of one role one message, or put a message of the other role between them",
    /// Each `toolUse` has its `toolResult` in the very next message.
    Bed3 "BED-3" => "answer every `toolUse` in the message directly after it, or remove it",
    /// A `toolResult` needs its `toolUse` in the message before it.
    Bed4 "BED-4" => "put each `toolResult` into the user message directly after its `toolUse`",
    /// Calls and results need the list of tools.
    Bed5 "BED-5" => "send the `toolConfig` with which the calls were made",
    /// No blank texts, and no message without content.
    Bed6 "BED-6" => "remove the blank text or the empty message, or fill it",
    /// With thinking on, the turn of an open tool loop begins with its reasoning.
    Bed7 "BED-7" => "send the reasoning of the newest response whole as it came, or turn thinking off",
    /// Blocks hold what their kind wants, and stand where their role allows it.
    Bed8 "BED-8" => "put the block where its role allows it, and give it the members that its kind requires",
    /// A document has a text beside it and a name of its own, and a message has at most five.
    Bed9 "BED-9" => "give each document a name of its own of letters, digits, single spaces, hyphens, parentheses and square brackets, and a text beside it; send at most five in a message",
    /// At most four cache points, none directly after reasoning.
    Bed10 "BED-10" => "keep the newest four `cachePoint` blocks, none of them directly after reasoning",
}

impl Violation {
    /// Whether it makes the conversation unfit for its provider, whatever is left out: neither a
    /// warning, nor about sizes, which a compaction reduces.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        matches!(self.severity, Severity::Error) && !self.rule.is_about_size()
    }
}

impl Rule {
    /// Whether the rule is about how much a provider takes. A compaction reduces sizes, so a broken one
    /// does not make a conversation unfit for one.
    #[must_use]
    pub const fn is_about_size(self) -> bool {
        matches!(self, Self::All8 | Self::Anth10)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// How sure it is that a provider refuses what breaks a rule. `docs/wire-formats.md` names the evidence
/// of each rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A provider documents that it refuses the request, or was seen to.
    Error,
    /// Unusual, and no refusal is known: the conversation is compacted all the same.
    Warning,
}

impl Severity {
    /// An error where a request is refused, else a warning.
    pub(crate) const fn error_if(is_refused: bool) -> Self {
        if is_refused {
            Self::Error
        } else {
            Self::Warning
        }
    }
}

/// One place where a conversation breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// Whether the request is refused for it.
    pub severity: Severity,
    /// The message's number, from 1; 0 for the conversation as a whole.
    pub message: usize,
    /// What is wrong there, without any text of the conversation.
    pub what: Cow<'static, str>,
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
