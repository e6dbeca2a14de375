//! How a compaction is undone: what makes up the document that it was given, in order.

use std::collections::HashMap;
use std::ops::Range;

use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::entry::{digest_of, messages_of};
use super::{AT_ONCE, Archive, ArchiveError, Kind};
use crate::conversation::Conversation;

/// The most bytes of a document. A record that says more is forged: few entries, named again and
/// again, would make a document of any size.
pub(super) const MOST_DOCUMENT: u64 = 2 << 30;

/// Version of the form.
const VERSION: u32 = 1;

/// A document, as the entries that it is put together from. Of a chain of compactions each
/// record names again what the earlier ones named, so each message is stored once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Record {
    undo: u32,
    /// SHA-256 of the document, in hex digits.
    document: String,
    /// The entry with the texts that stand around the messages; the first one stands in front of
    /// them.
    texts: String,
    units: Vec<Piece>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Piece {
    /// The entry with the messages of a unit.
    messages: String,
    /// Which of the texts stands behind each of them.
    behind: Vec<usize>,
}

/// The record of a conversation, whose entries are given to `keep`.
pub(super) fn record(
    conversation: &Conversation,
    keep: &mut impl FnMut(String) -> String,
) -> String {
    let document = conversation.document();
    let units = places(conversation, document);
    let starts: Vec<usize> = units
        .iter()
        .flat_map(|(_, places)| places.iter().map(|place| place.start))
        .collect();
    let mut texts = Texts::default();
    let before = starts.first().copied().unwrap_or(document.len());
    texts.number(&document[..before]);
    let mut next = starts.iter().skip(1).copied();
    let units = units
        .iter()
        .map(|(unit, places)| Piece {
            messages: keep(messages_of(conversation, *unit)),
            behind: places
                .iter()
                .map(|place| {
                    let end = next.next().unwrap_or(document.len());
                    texts.number(&document[place.end..end])
                })
                .collect(),
        })
        .collect();
    let record = Record {
        undo: VERSION,
        document: digest_of(document.as_bytes()),
        // Strings and numbers, which are always JSON.
        texts: keep(serde_json::to_string(&texts.texts).unwrap_or_default()),
        units,
    };
    serde_json::to_string(&record).unwrap_or_default()
}

/// Where the messages of each unit stand. A unit of which one is not found as it was read, such
/// as an `input` that is a text, is left out: it is a part of the text around it.
fn places(conversation: &Conversation, document: &str) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut next = 0;
    (0..conversation.units().len())
        .filter_map(|unit| {
            let mut end = next;
            let places = conversation
                .raw_messages(unit)
                .map(|raw| {
                    let start = end + document.get(end..)?.find(raw)?;
                    end = start + raw.len();
                    Some(start..end)
                })
                .collect::<Option<Vec<_>>>()?;
            next = end;
            (!places.is_empty()).then_some((unit, places))
        })
        .collect()
}

/// Different texts, by the order in which they were met.
#[derive(Default)]
struct Texts<'a> {
    texts: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    fn number(&mut self, text: &'a str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }
}

impl Archive {
    /// The document as it was before the compaction whose receipt names this reference
    /// ([`crate::Receipt::undo`]), byte for byte.
    ///
    /// # Errors
    /// It is no reference, nothing is stored under it, or the archive cannot be read.
    pub async fn undo(&self, reference: &str) -> Result<String, ArchiveError> {
        let damaged = || self.damaged(reference);
        let record = self.read(Kind::Undo, reference).await?;
        let record: Record = serde_json::from_str(&record).map_err(|_| damaged())?;
        if record.undo != VERSION {
            return Err(ArchiveError::Version {
                reference: reference.to_owned(),
                found: record.undo,
            });
        }
        let texts = self.get(&record.texts).await?;
        let texts: Vec<String> = serde_json::from_str(&texts).map_err(|_| damaged())?;
        let units = record.units.iter().map(|piece| {
            let (archive, reference) = (self.clone(), piece.messages.clone());
            async move { archive.get(&reference).await }
        });
        let mut units = stream::iter(units).buffered(AT_ONCE);
        let mut document = texts.first().cloned().ok_or_else(damaged)?;
        for piece in &record.units {
            // There is one for each piece.
            let messages = units.next().await.ok_or_else(damaged)??;
            append(&mut document, piece, &messages, &texts, MOST_DOCUMENT).ok_or_else(damaged)?;
        }
        if digest_of(document.as_bytes()) == record.document {
            Ok(document)
        } else {
            Err(damaged())
        }
    }
}

/// Appends the messages of a unit, and what stands behind each; `None` if the piece does not fit
/// them, or the document would have more than `most` bytes.
fn append(
    document: &mut String,
    piece: &Piece,
    messages: &str,
    texts: &[String],
    most: u64,
) -> Option<()> {
    let messages: Vec<&RawValue> = serde_json::from_str(messages).ok()?;
    if messages.len() != piece.behind.len() {
        return None;
    }
    for (message, behind) in messages.iter().zip(&piece.behind) {
        let behind = texts.get(*behind)?;
        let length = document.len() + message.get().len() + behind.len();
        if length as u64 > most {
            return None;
        }
        document.push_str(message.get());
        document.push_str(behind);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn append_refuses_what_makes_the_document_too_large() {
        let piece = Piece {
            messages: String::new(),
            behind: vec![1, 0],
        };
        let texts = ["[".to_owned(), ",".to_owned()];
        let append = |most| {
            let mut document = "[".to_owned();
            let appended = append(&mut document, &piece, "[1,22]", &texts, most);
            appended.map(|()| document)
        };
        assert_eq!(append(6).as_deref(), Some("[1,22["));
        assert_eq!(append(5), None);
    }
}
