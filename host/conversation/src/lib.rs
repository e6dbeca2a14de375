//! Conversations of AI agents in the wire formats of their providers: read, divided into units, counted,
//! validated, repaired, extended and written.
//!
//! A provider refuses a request whose messages break its rules: a tool output without its call, thinking
//! that was edited, an empty text. This crate knows these rules for five formats ([`Format`]), and which
//! messages belong together. It does not decide what to remove from a conversation; `baler-host` does.
//!
//! 1. **Read.** A [`Reader`] reads a request body, its list of messages, or the session log of an agent
//!    program ([`session_logs`]), and detects the format. The result is a [`Conversation`].
//! 2. **Units.** [`Conversation::units`] divides the messages into the smallest runs that are kept or removed
//!    together ([`Unit`]), with their sizes in tokens ([`tokenizers`]).
//! 3. **Validate.** [`Conversation::violations`] lists the broken [`rules`]. Reading succeeds all the same.
//! 4. **Repair.** [`Conversation::repaired`] returns a conversation in which what can be repaired is, and
//!    [`Conversation::repairs`] says what was done ([`repairs`]).
//! 5. **Write.** [`Conversation::document`] returns the JSON. Messages that nothing changed are byte-identical
//!    to the input.
//!
//! [`Conversation::append`] adds messages. Its cost grows with what is appended, not with the conversation.
//!
//! ```
//! use baler_conversation::{ReadError, Reader, SecretKey, UnitKind};
//!
//! fn without_orphans(reader: &Reader, request: &str) -> Result<String, ReadError> {
//!     let conversation = reader.read(request)?;
//!     for violation in conversation.violations() {
//!         println!("{violation}; {}", violation.rule.remedy());
//!     }
//!     Ok(conversation.repaired().document().to_owned())
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reader = Reader::new(SecretKey::random()?);
//! let request = r#"{"model": "gpt-4o", "messages": [
//!     {"role": "user", "content": "Water the ferns."},
//!     {"role": "tool", "tool_call_id": "call_7", "content": "no such call"}
//! ]}"#;
//! let conversation = reader.read(request)?;
//! assert_eq!(conversation.units().len(), 2);
//! assert_eq!(conversation.units()[0].kind, UnitKind::User);
//! assert_eq!(conversation.violations()[0].rule.id(), "CHAT-1");
//!
//! let repaired = reader.read(without_orphans(&reader, request)?)?;
//! assert!(!repaired.is_broken());
//! assert_eq!(repaired.units().len(), 1);
//! # Ok(())
//! # }
//! ```

mod conversation;
mod deadline;
mod exact;
mod formats;
mod listed;
mod logs;
mod model;
mod reading;
mod repair;
mod tokens;

#[doc(hidden)]
pub mod json;
pub mod marks;

pub use conversation::Conversation;
pub use deadline::Deadline;
#[doc(hidden)]
pub use formats::edit;
pub use marks::SecretKey;
pub use model::format::{Format, UnknownFormat};
pub use model::message::{self, Role};
pub use model::read_error::ReadError;
pub use model::unit::{Traits, Unit, UnitKind};
pub use reading::{ReadOptions, Reader};

/// The rules of the wire formats, and the places where a conversation breaks them.
pub mod rules {
    pub use crate::formats::{RuleCounts, ViolationCounts};
    pub use crate::listed::MAX_LISTED;
    pub use crate::model::rule::{Rule, Severity, Violation};
}

/// The changes that [`Conversation::repaired`](crate::Conversation::repaired) made.
pub mod repairs {
    pub use crate::model::repair::{Repair, RepairCounts, RuleRepairs};
}

/// The session logs of agent programs: which are read, what was found in one, and why one was not read.
pub mod session_logs {
    pub use crate::model::log::{LogError, LogFacts, LogKind};
}

/// Tokenizers, by the vocabulary of a model or by a name.
pub mod tokenizers {
    pub use crate::tokens::{Tokenizer, UnknownTokenizer};
}

/// The text of a conversation, and what has to be saved with it.
pub mod document {
    pub use crate::conversation::{Known, NoPrefix, Prefix};
    pub use crate::formats::as_message;
    pub use crate::model::document::Document;
}

/// What a provider accepts in one request, and what it does with thinking whose messages changed.
pub mod provider {
    pub use crate::formats::ProviderLimits;
    pub use crate::model::envelope::Binding;
}
