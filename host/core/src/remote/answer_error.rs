//! Why a question of another host cannot be answered.

use baler_conversation::ReadError;

use super::CONTRACT;
use crate::error::HostError;

/// Why a question of another host cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The text is not the JSON of a question. The error names the position, never the text.
    #[error(
        "expected a question of the contract {CONTRACT} as JSON; it is invalid at line {line}, column {column}"
    )]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The question is of another contract.
    #[error("the question is not of the contract {CONTRACT}, the only one that this host supports")]
    Contract,
    /// The conversation cannot be read.
    #[error("the conversation cannot be read")]
    Conversation(#[source] ReadError),
    /// This host divides the conversation into other units than the asking host, so a plan would have another
    /// meaning.
    #[error(
        "this host divides the conversation into other units than the asking host; use the same version of baler on both"
    )]
    Units,
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostError),
}
