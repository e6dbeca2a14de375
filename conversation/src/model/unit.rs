//! Units: the smallest runs of messages that stay or go as one.

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnitKind {
    /// One system or developer message inside the message list.
    Instructions,
    /// One message of the user's own.
    User,
    /// One model response with all its tool calls and all their outputs, thinking included.
    Step,
    /// A summary that an earlier compaction wrote and whose mark verified, one that a session log
    /// records, or a provider's own.
    Summary,
    /// Anything else.
    Other,
}

impl UnitKind {
    /// The name in receipts and in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::User => "user",
            Self::Step => "step",
            Self::Summary => "summary",
            Self::Other => "other",
        }
    }
}

/// What is known of a unit by itself. Pins and the like come with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits {
    /// Holds a tool call that has no output yet.
    pub pending: bool,
    /// A tool output in it reports a failure.
    pub failed: bool,
    /// Holds thinking.
    pub thinking: bool,
    /// Holds pictures, documents and the like.
    pub media: bool,
    /// Holds signed, encrypted or unknown parts.
    pub opaque: bool,
    /// Holds text of the user's own.
    pub user_text: bool,
    /// Holds instructions.
    pub instructions: bool,
    /// Holds what a provider's own compaction left, which stands for everything before it.
    pub provider_summary: bool,
}

/// A run of messages that stays or goes as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// 0 before the first user message, then counting up with each of them.
    pub turn: u32,
    /// Index of its first message.
    pub first_message: usize,
    /// Number of its messages, at least 1.
    pub messages: usize,
    /// Tokens that it costs in the request.
    pub tokens: u32,
    /// Its bytes in the wire format.
    pub bytes: usize,
    /// Number of pictures, documents and the like.
    pub media: u32,
    /// What else is known of it.
    pub traits: Traits,
}

impl Unit {
    /// Index of the message after its last.
    pub const fn end(&self) -> usize {
        self.first_message + self.messages
    }
}
