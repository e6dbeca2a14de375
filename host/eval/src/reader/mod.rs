//! Reader tests: how much of what the agent did next can a reader fill in from the compacted text alone?
//!
//! Names in what came after a cut are masked. A reader, such as a model or a person, gets the text that a
//! method left of the history, and says which names were masked. Texts, questions and answers are files of a
//! folder, so that any reader can answer, and a run that was stopped goes on:
//!
//! - `METHOD/NNN.md`: the text that a method left, and the questions;
//! - `METHOD/NNN.txt`: the answers, one a line, as `1: name`. The reader writes it;
//! - `key.json`: the right answers, which no reader may see.

mod folder;
mod questions;
mod score;

pub use folder::{OpenSheet, ReaderFolder};
pub use score::ReaderScore;

/// What to ask of how many conversations.
///
/// ```
/// assert_eq!(baler_eval::ReaderOptions::default().conversations, 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderOptions {
    /// The most conversations that are asked about. Those are taken that sort first by a hash of their
    /// content, the same in each run.
    pub conversations: usize,
    /// The number of questions about each. Conversations with fewer possible questions are left out.
    pub questions: usize,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            conversations: 8,
            questions: 8,
        }
    }
}
