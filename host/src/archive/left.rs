//! What a compaction stores, before its result is handed over.

use std::collections::BTreeMap;

use baler_conversation::Conversation;
use baler_conversation::rules::MAX_LISTED;

use super::undo::{self, MOST_DOCUMENT, MOST_RECORD};
use super::{Archive, Kind};
use crate::changes::UnitOutcome;
use crate::error::ArchiveError;
use crate::receipt::{Archived, Original};
use crate::reference::{list_of, messages_of, reference_of};

/// What was stored, for the receipt.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The units that left or changed.
    pub(crate) units: Vec<Archived>,
    /// The messages that repairs changed or left out; of more than `MAX_LISTED` the first.
    pub(crate) originals: Vec<Original>,
    /// What the compaction is undone by.
    pub(crate) undo: String,
}

impl Archive {
    /// Stores all of a conversation whose units come to `outcomes`: what leaves, to be had back one
    /// by one, and what stays, to be had back with it.
    pub(crate) async fn store(
        &self,
        conversation: &Conversation,
        outcomes: &[UnitOutcome],
    ) -> Result<Stored, ArchiveError> {
        let came_in = conversation.came_in();
        // `undo` would refuse it.
        let too_large = |what: String| ArchiveError::Store {
            action: "write to",
            place: self.place.to_string(),
            what,
        };
        if came_in.document().len() as u64 > MOST_DOCUMENT {
            return Err(too_large(format!(
                "the document has more than {MOST_DOCUMENT} bytes, the most that can be restored"
            )));
        }
        let mut entries = BTreeMap::new();
        let mut keep = |content: String| {
            let reference = reference_of(content.as_bytes());
            entries.insert(reference.clone(), content);
            reference
        };
        let gone = outcomes.iter().enumerate();
        let gone = gone.filter(|(_, outcome)| **outcome != UnitOutcome::Kept);
        let units = gone
            .map(|(unit, _)| Archived {
                unit,
                reference: keep(messages_of(conversation, unit)),
            })
            .collect();
        let mut originals = Vec::new();
        for (message, json) in conversation.replaced() {
            let reference = keep(list_of(std::iter::once(json)));
            // All are kept: what is not listed comes back with the whole document.
            if originals.len() < MAX_LISTED {
                originals.push(Original {
                    message,
                    reference: Some(reference),
                });
            }
        }
        let record = undo::record(&came_in, &mut keep).ok_or_else(|| {
            too_large(format!(
                "what stands around the messages, or the list of units, takes more than {MOST_RECORD} bytes, the most that can be restored"
            ))
        })?;
        let entries = self
            .put_all(Kind::Entry, Kind::Entry.fresh(), entries)
            .await?;
        // Last, so that what it names is there.
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
