//! Conversations of AI agents: read, divided into units, counted, checked, repaired, grown and written.
//!
//! A [`Reader`] makes a [`Conversation`] of a request body or of the log of a session, whatever its
//! [`Format`]. What to remove from a conversation is decided elsewhere, in `baler-host`.
//!
//! ```
//! use baler_conversation::{Reader, SecretKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reader = Reader::new(SecretKey::random()?);
//! let conversation = reader.read(r#"{"model": "gpt-4o", "messages": [
//!     {"role": "user", "content": "Water the ferns."},
//!     {"role": "tool", "tool_call_id": "call_7", "content": "no such call"}
//! ]}"#)?;
//! assert_eq!(conversation.units().len(), 2);
//! assert_eq!(conversation.violations()[0].rule.id(), "CHAT-1");
//! assert!(!conversation.repaired().is_broken());
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

pub mod json;
pub mod marks;

pub use conversation::{Conversation, Known, is_hosted};
pub use deadline::{Deadline, moment_after};
pub use formats::{ProviderLimits, RuleCounts, ViolationCounts, as_message, edit};
pub use listed::MOST_LISTED;
pub use marks::SecretKey;
pub use model::document::Document;
pub use model::envelope::Binding;
pub use model::format::Format;
pub use model::log::{LogError, LogFacts, LogKind};
pub use model::message::{self, Role};
pub use model::read_error::ReadError;
pub use model::repair::{Repair, RepairCounts, RuleRepairs};
pub use model::rule::{Rule, Severity, Violation};
pub use model::unit::{Traits, Unit, UnitKind};
pub use reading::{ReadOptions, Reader};
pub use tokens::{Tokenizer, UnknownTokenizer};
