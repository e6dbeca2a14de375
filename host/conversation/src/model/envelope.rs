//! The members of a request other than its messages.

use crate::json::{Members, Place};

/// A tool definition, as places in the document.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// The name of the tool.
    pub name: String,
    /// The description; may be empty.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub parameters: Option<Place>,
}

impl ToolDefinition {
    /// What the members of a tool say of it, and the schema of its arguments.
    pub(crate) fn of(tool: &Members<'_>, parameters: Option<Place>) -> Self {
        Self {
            name: tool.string("name"),
            description: tool.string("description"),
            parameters,
        }
    }

    /// Whether it retrieves what was removed: baler's own tool, under the name that a program gave it.
    /// It is known by the beginning of its description, since tools of others are called `retrieve` too.
    fn retrieves(&self) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        self.description.starts_with(RETRIEVES)
            && (1..=MOST_TOOL_NAME).contains(&self.name.len())
            && self.name.chars().all(is_plain)
    }
}

/// How the description of the tool begins that retrieves what was removed.
const RETRIEVES: &str = "Retrieves earlier parts of this conversation that were removed";

/// The most characters of a tool's name in a mark: what providers allow.
const MOST_TOOL_NAME: usize = 64;

/// The members of a request other than its messages.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// The model that the request names; empty where it names none.
    pub model: String,
    /// Texts of the system prompt outside of the messages.
    pub texts: Vec<Place>,
    /// The definitions of the tools.
    pub tools: Vec<ToolDefinition>,
    /// The whole list of tools, which is what gets counted.
    pub tool_list: Option<Place>,
    /// Whether a block of the system prompt is empty, where it is a list of blocks.
    pub has_empty_block: bool,
    /// Number of marks for the provider's cache outside of the messages.
    pub cache_marks: u32,
    /// Whether the request asks for thinking that has to be sent back.
    pub thinks: bool,
    /// What the provider does with thinking that follows other messages than those it was made after.
    pub binding: Binding,
    /// Whether the model that the request names is one of OpenAI's own, in its formats (CHAT-3, RESP-5, RESP-8).
    pub is_makers_own: bool,
    /// Whether the request names a model that refuses calls without their signatures (GEM-3).
    pub wants_signatures: bool,
    /// Whether the request says that it has no tools (GEM-2).
    pub declares_no_tools: bool,
    /// Whether a request has no list of tools, in a format in which calls and their outputs need one (BED-5).
    pub lacks_tools: bool,
    /// Whether the provider stores nothing (`store: false`).
    pub stateless: bool,
    /// Whether the request goes on from one that the provider stored, so that the document
    /// does not show the whole conversation.
    pub continues: bool,
    /// Whether the request asks the provider itself to compact the conversation.
    pub asks_to_compact: bool,
}

impl Envelope {
    /// Whether an open tool loop has to begin with thinking (ANTH-5). Models that bind thinking
    /// take one that lost it.
    pub const fn wants_thinking(&self) -> bool {
        self.thinks && !matches!(self.binding, Binding::Refuses)
    }

    /// The name of the tool that retrieves what was removed, if the request has it.
    pub fn retrieval_tool(&self) -> Option<&str> {
        let tool = self.tools.iter().find(|tool| tool.retrieves())?;
        Some(&tool.name)
    }
}

/// What a provider does with thinking that follows other messages than those it was made after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binding {
    /// The provider accepts it.
    #[default]
    No,
    /// The provider refuses the request.
    Refuses,
    /// The provider ignores it, and all thinking after it, without an error.
    Drops,
}
