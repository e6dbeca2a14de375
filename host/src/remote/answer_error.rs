//! Why a question of another host cannot be answered.

use baler_conversation::ReadError;

use super::CONTRACT;
use crate::error::HostError;

/// A question of another host's cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It is not the JSON of a question. The place is told, never the text.
    #[error(
        "the question is no JSON of the contract {CONTRACT}: it is wrong at line {line}, column {column}"
    )]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// It is of another contract.
    #[error("the question is not of the contract {CONTRACT}, which is the one that is spoken here")]
    Contract,
    /// The conversation cannot be read.
    #[error("the conversation cannot be read")]
    Conversation(#[source] ReadError),
    /// It has other units here than there, so that no plan would mean the same.
    #[error(
        "the conversation has other units here than where the question comes from; are both of the same version?"
    )]
    Units,
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostError),
}
