//! What is known of a conversation that its document does not show.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Conversation;
use crate::model::log::{LogFacts, LogKind};
use crate::tokens::{Tokenizer, UnknownTokenizer};

/// It has to be saved with a conversation: who reads the document alone counts it otherwise, and
/// what was counted before would mean another size.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Known {
    /// The vocabulary that counts it.
    vocabulary: String,
    /// What counts are multiplied by, in thousandths.
    permille: u32,
    /// Whether that is known to be the vocabulary of the model.
    is_exact: bool,
    /// Tokens of what stands beside the messages, shown or not.
    fixed: u32,
    /// Leading messages that the provider has seen as they are.
    sent: Option<usize>,
    /// The log that it was read from.
    log: Option<(LogKind, LogFacts)>,
}

impl Conversation {
    /// What is known of it beside its document.
    pub fn known(&self) -> Known {
        let inner = &*self.inner;
        Known {
            vocabulary: inner.tokenizer.name().to_owned(),
            permille: inner.tokenizer.permille(),
            is_exact: inner.tokenizer.is_exact(),
            fixed: inner.totals.fixed,
            sent: inner.sent,
            log: inner.log,
        }
    }

    /// The same, with this known of it.
    ///
    /// # Errors
    /// There is no such vocabulary.
    #[doc(hidden)]
    pub fn with_known(mut self, known: &Known) -> Result<Self, UnknownTokenizer> {
        let inner = Arc::make_mut(&mut self.inner);
        // The host's own remembers counts.
        let tokenizer = if inner.tokenizer.name() == known.vocabulary {
            inner.tokenizer.clone()
        } else {
            Tokenizer::named(&known.vocabulary)?
        };
        inner.tokenizer = tokenizer.counting(known.permille, known.is_exact);
        inner.recount();
        inner.totals.fixed = known.fixed;
        let messages = inner.messages.len();
        inner.sent = known.sent.map(|sent| sent.min(messages));
        inner.log = known.log;
        inner.divide();
        inner.marks.take();
        Ok(self)
    }
}
