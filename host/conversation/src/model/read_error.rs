//! Errors of reading a document.

use crate::json;
use crate::model::log::LogError;

/// Why a document could not be read as a conversation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Nothing but white space.
    #[error("the document is empty; give a request body, a list of messages, or a session log")]
    Empty,
    /// Not UTF-8.
    #[error(
        "the document is not UTF-8: the byte at offset {offset} does not start a character; give it as the provider or program wrote it"
    )]
    NotUtf8 {
        /// Offset of the first wrong byte, from 0.
        offset: usize,
    },
    /// Not JSON.
    #[error(
        "the document is not JSON: {what} at line {line}, column {column}; give the whole body, or the log, as it was written"
    )]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser says.
        what: String,
    },
    /// JSON, but no request with messages.
    #[error("the document holds no conversation: {hint}")]
    NoMessages {
        /// What it might be, and what to do.
        hint: String,
    },
    /// A member of the body has the wrong type.
    #[error("{what}")]
    Shape {
        /// Which, and what it should be.
        what: String,
    },
    /// The deadline of reading passed.
    #[error("the document was not read in time; allow more time, or give a shorter one")]
    OutOfTime,
    /// The log of a session cannot be read.
    #[error(transparent)]
    Log(LogError),
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
            what: json::without_position(error),
        }
    }
}
