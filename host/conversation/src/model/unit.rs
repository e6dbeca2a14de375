//! Units: the smallest runs of messages that are kept or removed together.

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnitKind {
    /// One system or developer message inside the message list.
    Instructions,
    /// One message of the user.
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
    /// Returns the name of the kind in receipts and in the contract.
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

/// Properties of a unit that do not depend on a request, unlike pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traits {
    /// Holds a tool call that has no output yet.
    pub pending: bool,
    /// A tool output in it reports a failure.
    pub failed: bool,
    /// Calls tools.
    pub calls: bool,
    /// Holds thinking.
    pub thinking: bool,
    /// Holds pictures, documents and the like.
    pub media: bool,
    /// Holds signed, encrypted or unknown parts.
    pub opaque: bool,
    /// Holds text that the user wrote.
    pub user_text: bool,
    /// Holds instructions.
    pub instructions: bool,
    /// Holds what a provider's own compaction left, which stands for everything before it.
    pub provider_summary: bool,
}

/// A run of messages that is kept or removed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unit {
    /// The kind.
    pub kind: UnitKind,
    /// 0 before the first user message, then counting up with each of them.
    pub turn: u32,
    /// The index of the first message.
    pub first_message: usize,
    /// The number of messages, at least 1.
    pub messages: usize,
    /// The size in the request, in tokens.
    pub tokens: u32,
    /// The size in the wire format, in bytes.
    pub bytes: usize,
    /// The number of pictures, documents and other files.
    pub media: u32,
    /// The other properties.
    pub traits: Traits,
}

impl Unit {
    /// Returns the index of the message after the last one of the unit.
    pub const fn end(&self) -> usize {
        self.first_message + self.messages
    }
}
