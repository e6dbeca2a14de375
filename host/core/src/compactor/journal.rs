//! The journal: an append-only record of a conversation's messages and compactions.
//!
//! The view, which the model sees, is derived from it: the result of the newest compaction and later
//! messages.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::Conversation;
use baler_conversation::document::as_message;

use crate::changes::Origin;

/// An entry of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Entry {
    /// A message was appended.
    Message(Box<RawValue>),
    /// A compaction: the messages of its result, in order.
    Compaction(Vec<Slot>),
}

/// A message of a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Slot {
    /// A run of appended messages, unchanged: the number of the first, counted from 0 over all appended
    /// messages, and how many.
    Came(usize, usize),
    /// A message that this or an earlier compaction wrote.
    Written(Box<RawValue>),
}

/// The journal, and where the messages of the present view come from.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Journal {
    entries: Vec<Entry>,
    /// Number of appended messages.
    #[serde(skip)]
    came: usize,
    /// Number of compactions.
    #[serde(skip)]
    compactions: usize,
    /// For each message of the view, its number among all appended messages; `None` if a compaction wrote it.
    #[serde(skip)]
    view: Vec<Option<usize>>,
}

impl Journal {
    /// Notes an appended message. A request's `input` that is a text is noted as the message that it stands
    /// for, because later messages turn the input into a list.
    pub(super) fn message(&mut self, raw: &str) {
        // Text that is not JSON was refused before.
        if let Ok(raw) = RawValue::from_string(as_message(raw.trim()).into_owned()) {
            self.entries.push(Entry::Message(raw));
            self.view.push(Some(self.came));
            self.came += 1;
        }
    }

    /// Notes a compaction, which made `after` of the first `before` messages of the view. `origins`
    /// says where each message of it comes from.
    pub(super) fn compaction(&mut self, before: usize, origins: &[Origin], after: &Conversation) {
        let mut slots: Vec<Slot> = Vec::new();
        let mut view = Vec::new();
        for (raw, origin) in messages(after).zip(origins) {
            let came = match origin {
                Origin::Kept(message) => self.view.get(*message).copied().flatten(),
                Origin::Changed(_) | Origin::Inserted => None,
            };
            view.push(came);
            match (came, slots.last_mut()) {
                (Some(came), Some(Slot::Came(first, count))) if *first + *count == came => {
                    *count += 1;
                }
                (Some(came), _) => slots.push(Slot::Came(came, 1)),
                (None, _) => {
                    if let Ok(raw) = RawValue::from_string(as_message(raw).into_owned()) {
                        slots.push(Slot::Written(raw));
                    }
                }
            }
        }
        view.extend(self.view.drain(before.min(self.view.len())..));
        self.view = view;
        // Messages that were appended while it ran are before it in the journal, and after its result in the
        // view.
        let later = self.view.len() - after.message_count();
        let at = self.entries.len() - later;
        self.entries.insert(at, Entry::Compaction(slots));
        self.compactions += 1;
    }

    /// Returns the number of compactions.
    pub(super) fn compactions(&self) -> usize {
        self.compactions
    }

    /// Returns all appended messages.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Message(raw) => Some(raw.get()),
            Entry::Compaction(_) => None,
        })
    }

    /// Returns what the model saw just before the compaction with this number, counted from 0; or what it
    /// sees now, if there is no such compaction.
    pub(super) fn view_before(&self, compaction: usize) -> Vec<&str> {
        let seen = self.replay(compaction).unwrap_or_default();
        seen.into_iter().map(|seen| seen.raw).collect()
    }

    /// Derives the fields that are not saved. Returns false if the journal names messages that were not
    /// appended before.
    pub(super) fn restore(&mut self) -> bool {
        let Some(seen) = self.replay(usize::MAX) else {
            return false;
        };
        let view = seen.iter().map(|seen| seen.came).collect();
        (self.came, self.view) = (self.all().count(), view);
        self.compactions = self.entries.len() - self.came;
        true
    }

    /// Returns what the model saw after this number of compactions, just before the next one or now. `None`
    /// if one of them names messages that were not appended before it.
    fn replay(&self, compactions: usize) -> Option<Vec<Seen<'_>>> {
        let mut came: Vec<Seen<'_>> = Vec::new();
        let mut view: Vec<Seen<'_>> = Vec::new();
        let mut left = compactions;
        for entry in &self.entries {
            match entry {
                Entry::Message(raw) => {
                    let seen = Seen {
                        came: Some(came.len()),
                        raw: raw.get(),
                    };
                    came.push(seen);
                    view.push(seen);
                }
                Entry::Compaction(_) if left == 0 => break,
                Entry::Compaction(slots) => {
                    left -= 1;
                    view.clear();
                    for slot in slots {
                        match slot {
                            Slot::Came(first, count) => {
                                let end = first.checked_add(*count)?;
                                view.extend_from_slice(came.get(*first..end)?);
                            }
                            Slot::Written(raw) => view.push(Seen {
                                came: None,
                                raw: raw.get(),
                            }),
                        }
                    }
                }
            }
        }
        Some(view)
    }
}

/// A message of a view.
#[derive(Debug, Clone, Copy)]
struct Seen<'a> {
    /// Its number among all appended messages; `None` if a compaction wrote it.
    came: Option<usize>,
    raw: &'a str,
}

/// Returns the raw JSON of a conversation's messages.
pub(super) fn messages(conversation: &Conversation) -> impl Iterator<Item = &str> {
    (0..conversation.units().len()).flat_map(|unit| conversation.raw_messages(unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_conversation::Format;

    #[test]
    fn a_journal_that_was_saved_has_as_many_compactions_and_messages() {
        let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let read = |texts: &[&str]| {
            let messages: Vec<String> = texts.iter().map(|text| message(text)).collect();
            let document = format!(r#"{{"model":"gpt-5","messages":[{}]}}"#, messages.join(","));
            crate::sample::conversation(&document, Some(Format::OpenAiChat)).expect("reads")
        };
        let mut journal = Journal::default();
        for text in ["a", "b", "c"] {
            journal.message(&message(text));
        }
        assert_eq!(journal.compactions(), 0);
        let kept = |messages: &[usize]| -> Vec<Origin> {
            messages.iter().copied().map(Origin::Kept).collect()
        };
        journal.compaction(3, &kept(&[1, 2]), &read(&["b", "c"]));
        journal.compaction(2, &kept(&[1]), &read(&["c"]));
        assert_eq!(journal.compactions(), 2);
        let saved = serde_json::to_string(&journal).expect("JSON");
        let mut again: Journal = serde_json::from_str(&saved).expect("the same form");
        assert!(again.restore());
        assert_eq!((again.compactions(), again.all().count()), (2, 3));
        assert_eq!(again.view_before(usize::MAX), [message("c")]);
    }
}
