//! Views: what a model is shown of a history that somebody else stores.
//!
//! Programs store the whole history, and hand it over again with each request. A [`View`] says what stands in place of its first
//! messages; all later ones are shown as they are. It is computed rarely, in large steps, and repeated byte for byte in
//! between: each change costs the provider's cache, and a provider may refuse thinking that was made behind other messages.
//!
//! - A [`Window`] says when a history is compacted, and to what size.
//! - [`Views`] remembers views, and finds that of a history by the hashes of its messages: one that goes on, was rewound or
//!   branched off gets the newest view of what it still begins with. What a provider counted of a request ([`Shown::sent`],
//!   [`Views::note_count`]) takes the place of the host's estimate.
//!
//! ```
//! use std::sync::Arc;
//! use baler_host::view::{Views, Window};
//! use baler_host::{Host, Strategy};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = Arc::new(Host::builder().build()?);
//! let window = Window::new(Arc::clone(&host), [Strategy::digest()], 160_000, 80_000)?;
//! let views = Views::default();
//! let request = r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello!"}]}"#;
//! let shown = window.show(&host.read(request)?, &views).await?;
//! assert_eq!(shown.conversation.document(), request);         // far below 160,000 tokens
//! # Ok(()) }
//! ```

mod count;
mod memory;
#[cfg(test)]
mod tests;
mod window;

use std::borrow::Cow;

use baler_conversation::document::Prefix;
use baler_conversation::{Conversation, ReadError};
use serde::{Deserialize, Serialize};

use crate::changes::Origin;
use crate::compaction::Compaction;

pub use count::Sent;
pub use memory::Views;
pub use window::{Shown, Window, WindowError};

/// What stands in place of the first messages of a history. All later ones are shown as they are.
///
/// As JSON ([`serde`]) it can be stored beside the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct View {
    /// Number of these messages.
    covered: usize,
    /// Their hash.
    prefix: Prefix,
    /// Number of messages that the history had when the view was made.
    made_at: usize,
    shown: Vec<Entry>,
}

/// A message of a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Entry {
    /// The message of the history with this index, as it is there.
    Kept(usize),
    /// A message of the history in another form.
    Changed {
        /// Its index.
        message: usize,
        /// The form, as JSON.
        json: String,
    },
    /// A text that stands in place of other messages.
    Inserted {
        /// The message, as JSON.
        json: String,
    },
}

impl View {
    /// Returns the number of messages of the history that the view stands for.
    #[must_use]
    pub const fn covered(&self) -> usize {
        self.covered
    }

    /// Returns their hash.
    #[must_use]
    pub const fn prefix(&self) -> Prefix {
        self.prefix
    }

    /// Returns the number of messages that the history had when the view was made, which is not less. What the model thought
    /// in these, it thought behind the messages that the view stands for, and in later ones behind what is shown.
    #[must_use]
    pub const fn made_at(&self) -> usize {
        self.made_at
    }

    /// Returns what is shown of these.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.shown
    }

    /// Decides whether this is a view of a history, of which messages may have been taken back or edited since.
    #[must_use]
    pub fn is_of(&self, history: &Conversation) -> bool {
        history.message_count() >= self.covered && history.prefix(self.covered) == self.prefix
    }

    /// Returns the request that shows a history by this view, which has to be a view of it.
    ///
    /// # Errors
    /// A message of the view is none of the history's format. This cannot be if the view was made by a [`Window`].
    pub fn apply_to(&self, history: &Conversation) -> Result<Conversation, ReadError> {
        let own = history.all_messages();
        let raw = |index: usize| own.get(index).map(|message| history.raw(message));
        let shown = self.shown.iter().filter_map(|entry| match entry {
            Entry::Kept(index) => raw(*index),
            Entry::Changed { json, .. } | Entry::Inserted { json } => Some(json),
        });
        let rest = (self.covered..own.len()).filter_map(raw);
        history.read_alike(history.frame().write(shown.chain(rest)), None)
    }

    /// Returns the view after a compaction of what was shown of a history. `before`: the view by which that was shown, if
    /// any. `prefixes`: the hashes of the history.
    fn composed(
        before: Option<&Self>,
        compaction: &Compaction,
        prefixes: &[Prefix],
    ) -> Option<Self> {
        let count = prefixes.len().checked_sub(1)?;
        let (entries, covered) = before.map_or((&[][..], 0), |view| (&view.shown, view.covered));
        let rest = (covered..count).map(Entry::Kept).map(Cow::Owned);
        let before: Vec<Cow<'_, Entry>> = entries.iter().map(Cow::Borrowed).chain(rest).collect();
        let result = compaction.conversation();
        let messages = result.all_messages();
        let origins = &compaction.changes().messages;
        let mut shown = Vec::with_capacity(origins.len());
        for (origin, message) in origins.iter().zip(messages) {
            // Its mark for the cache would be one too many once the client has moved it.
            let json = || result.unmarked(message).into_owned();
            let entry = match origin.message().map(|index| before.get(index)) {
                None => Entry::Inserted { json: json() },
                Some(None) => return None,
                Some(Some(entry)) => match (origin, &**entry) {
                    (Origin::Kept(_), entry) => entry.clone(),
                    (_, Entry::Kept(message) | Entry::Changed { message, .. }) => Entry::Changed {
                        message: *message,
                        json: json(),
                    },
                    (_, Entry::Inserted { .. }) => Entry::Inserted { json: json() },
                },
            };
            shown.push(entry);
        }
        // Messages at the end that are shown as they are need no entry.
        let mut covered = count;
        while covered > 0 && shown.last() == Some(&Entry::Kept(covered - 1)) {
            shown.pop();
            covered -= 1;
        }
        Some(Self {
            covered,
            prefix: *prefixes.get(covered)?,
            made_at: count,
            shown,
        })
    }
}
