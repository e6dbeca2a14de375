//! Session logs of agent programs: from a log to the request body that it stands for.
//!
//! Formats and rules (`LCC-2` and so on): docs/wire-formats.md, section "Session logs". What a
//! provider sent or was sent is copied byte for byte; only what lies around it is new. Where only
//! the record says that a program wrote a text in the user's role, tags around it say so too (`inserted`).

mod sniff;
mod line_members;
mod lines;
mod pairing;
mod body;
mod inserted;
mod claude_code;
mod codex;
mod pi;
mod gemini_cli;
#[cfg(test)]
mod tests;

use crate::deadline::Deadline;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};

impl LogKind {
    /// Which program wrote a text, by its first lines; `None` if it is not a log of any that baler
    /// knows.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        sniff::kind(text)
    }
}

/// A log that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Log {
    /// Who wrote it.
    pub(crate) kind: LogKind,
    /// The wire format of `document`.
    pub(crate) format: Format,
    /// A request body: `{"model":…,"messages":[…]}`, or `input`, or `contents`. The model is left
    /// out where the log names none, and in a Gemini body, which has no such member.
    pub(crate) document: String,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// What the provider counted: the tokens of a request and of its response together, and the
    /// number of leading messages of `document` that they cover.
    pub(crate) reported: Option<(u32, usize)>,
    /// The messages of `document`, in order, that are summaries which the program recorded. They are
    /// marked as such, but not sealed: they are not texts of baler's.
    pub(crate) summaries: Vec<usize>,
    /// What was found in the log, and what of it is not in `document`.
    pub(crate) facts: LogFacts,
}

/// Reads a session log; `None` if `text` is no such log, which is decided by its beginning.
///
/// # Errors
/// The log holds no messages, or too much of it is broken.
pub(crate) fn read(text: &str, deadline: Option<&Deadline>) -> Option<Result<Log, LogError>> {
    let kind = sniff::kind(text)?;
    Some(match kind {
        LogKind::ClaudeCode => claude_code::read(text, deadline),
        LogKind::Codex => codex::read(text, deadline),
        LogKind::Pi => pi::read(text, deadline),
        LogKind::GeminiCli => gemini_cli::read(text, deadline),
    })
}
