//! Stores what a compaction removes, before the caller gets the result.

use std::collections::BTreeMap;

use baler_conversation::Conversation;
use baler_conversation::rules::MAX_LISTED;

use crate::error::ArchiveError;
use crate::reference::{list_of, messages_of, reference_of};
use crate::undo::{self, MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES};
use crate::{Archive, Kind};

/// The references of what was stored.
#[derive(Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The units that can be retrieved one by one: their index and reference.
    pub units: Vec<(usize, String)>,
    /// The original messages that repairs changed or removed, at most 1,000: their number in the document,
    /// counted from 1, and reference.
    pub originals: Vec<(usize, String)>,
    /// The reference of the undo record, for [`Archive::undo`].
    pub undo: String,
}

impl Archive {
    /// Stores a whole conversation before these units of it are removed or rewritten. They can be retrieved
    /// one by one; with the other units, the whole document can be restored.
    ///
    /// # Errors
    /// The document or its undo record is too large to be restored, or the archive cannot be written.
    pub async fn store(
        &self,
        conversation: &Conversation,
        removed: impl IntoIterator<Item = usize>,
    ) -> Result<Stored, ArchiveError> {
        let came_in = conversation.came_in();
        // `undo` would refuse to read it.
        let too_large = |what: String| ArchiveError::Store {
            action: "write to",
            place: self.place.to_string(),
            what,
        };
        if came_in.document().len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(too_large(format!(
                "the document has more than {MAX_DOCUMENT_BYTES} bytes, the most that undo can restore"
            )));
        }
        let mut entries = BTreeMap::new();
        let mut keep = |content: String| {
            let reference = reference_of(content.as_bytes());
            entries.insert(reference.clone(), content);
            reference
        };
        let units = removed.into_iter();
        let units = units
            .map(|unit| (unit, keep(messages_of(conversation, unit))))
            .collect();
        let mut originals = Vec::new();
        for (message, json) in conversation.replaced() {
            let reference = keep(list_of(std::iter::once(json)));
            // All originals are stored. Those that are not listed are restored with the whole document.
            if originals.len() < MAX_LISTED {
                originals.push((message, reference));
            }
        }
        let record = undo::record(&came_in, &mut keep).ok_or_else(|| {
            too_large(format!(
                "the text around the messages, or the list of units, has more than {MAX_RECORD_BYTES} bytes, the most that undo can restore"
            ))
        })?;
        let entries = self
            .put_all(Kind::Entry, Kind::Entry.fresh(), entries)
            .await?;
        // The record is written last, so that the entries that it names exist.
        let undo = reference_of(record.as_bytes());
        let records = BTreeMap::from([(undo.clone(), record)]);
        let records = self
            .put_all(Kind::Undo, Kind::Undo.fresh(), records)
            .await?;
        self.look_again([(Kind::Entry, entries), (Kind::Undo, records)])
            .await?;
        Ok(Stored {
            units,
            originals,
            undo,
        })
    }
}
