//! Functions of the caller: what the host asks them, and how it gets their answers.

use std::fmt;
use std::sync::Arc;

use baler_host::remote::Operation;
use tokio::sync::oneshot::{self, Sender};

/// A function of the caller, as the binding reaches it. It is called on threads of baler's, and must not wait for the
/// answer there.
pub trait Function: fmt::Debug + Send + Sync {
    /// Takes a question, to be answered by [`Question::answer`] from any thread.
    fn ask(&self, question: Question);
}

/// What a function is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A model: its answer is a text.
    Model {
        /// The system prompt; `None` if there is none.
        instructions: Option<String>,
        /// The user message.
        prompt: String,
        /// The answer should have at most this many tokens.
        max_output_tokens: u32,
    },
    /// A strategy: its answer is JSON, in the form of `docs/serve.md`.
    Strategy {
        /// What it should do.
        operation: Operation,
        /// The question as JSON.
        request: String,
    },
}

/// A question that waits for its answer. Dropped, it counts as failed.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub subject: Subject,
    sender: Sender<Result<String, String>>,
}

impl Question {
    /// Answers it: with a text, or with what failed. Nobody waits any more if a time limit was reached.
    pub fn answer(self, answer: Result<String, String>) {
        let _ = self.sender.send(answer);
    }
}

/// Asks a function; an error says what failed.
pub(crate) async fn ask(function: &Arc<dyn Function>, subject: Subject) -> Result<String, String> {
    let (sender, receiver) = oneshot::channel();
    function.ask(Question { subject, sender });
    receiver
        .await
        .unwrap_or_else(|_| Err("the function gave no answer".to_owned()))
}
