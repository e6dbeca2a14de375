//! Undoes compactions: an undo record lists, in order, the entries that make up the original document.

use std::collections::HashMap;
use std::ops::Range;

use futures_util::{StreamExt as _, stream};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::Conversation;

use crate::error::ArchiveError;
use crate::reference::{digest_of, messages_of};
use crate::{Archive, CONCURRENCY, Kind};

/// The most bytes of a restored document, which is also the most that the program reads of one. A record that
/// would give more is forged: a few entries that are named many times would make a document of any size.
pub(crate) const MAX_DOCUMENT_BYTES: u64 = 1 << 30;

/// The most bytes of a record, and of the texts around the messages. In memory they take about ten times as
/// much. No provider accepts a request with that much text around its messages.
pub(crate) const MAX_RECORD_BYTES: usize = 32 << 20;

/// The names in errors.
const RECORD: &str = "the record of a compaction";
const TEXTS: &str = "the text around the messages";

/// Version of the record's format.
const VERSION: u32 = 1;

/// A document, as a list of the entries that it consists of. The records of successive compactions name the
/// same entries, so each message is stored once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Record {
    /// Version of the format.
    #[serde(rename = "undo")]
    version: u32,
    /// SHA-256 of the document, in hex digits.
    document: String,
    /// The entry with the texts around the messages. The first text precedes all messages.
    texts: String,
    units: Vec<Piece>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Piece {
    /// The entry with the messages of a unit.
    messages: String,
    /// For each message, the index of the text that follows it.
    #[serde(rename = "behind")]
    following_texts: Vec<usize>,
}

/// Creates the undo record of a conversation, and passes its entries to `keep`, which returns their
/// references. Returns `None` if the record or the texts would be larger than [`MAX_RECORD_BYTES`].
pub(crate) fn record(
    conversation: &Conversation,
    keep: &mut impl FnMut(String) -> String,
) -> Option<String> {
    let document = conversation.document();
    let units = places(conversation);
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
            following_texts: places
                .iter()
                .map(|place| {
                    let end = next.next().unwrap_or(document.len());
                    texts.number(&document[place.end..end])
                })
                .collect(),
        })
        .collect();
    // Serializing strings and numbers cannot fail.
    let texts = serde_json::to_string(&texts.texts).unwrap_or_default();
    if texts.len() > MAX_RECORD_BYTES {
        return None;
    }
    let record = Record {
        version: VERSION,
        document: digest_of(document.as_bytes()),
        texts: keep(texts),
        units,
    };
    let record = serde_json::to_string(&record).unwrap_or_default();
    (record.len() <= MAX_RECORD_BYTES).then_some(record)
}

/// Returns where in the document the messages of each unit are. Leaves out a unit with a message that is not
/// literally in the document, as an `input` that is a text once messages were appended to it: the unit counts
/// as part of the text around the messages.
fn places(conversation: &Conversation) -> Vec<(usize, Vec<Range<usize>>)> {
    let places = conversation.message_places();
    let units = conversation.units().iter().enumerate();
    units
        .filter_map(|(index, unit)| {
            let own = places.get(unit.first_message..unit.end())?;
            let own: Vec<Range<usize>> = own.iter().cloned().collect::<Option<_>>()?;
            (!own.is_empty()).then_some((index, own))
        })
        .collect()
}

/// Distinct texts, numbered in the order of their first occurrence.
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
    /// Restores the document as it was before the compaction whose receipt names this reference
    /// byte for byte.
    ///
    /// # Errors
    /// Returns an error if `reference` is not a reference, if nothing or something damaged is stored under
    /// it, if the record is too large or of another version, or if the archive cannot be read.
    pub async fn undo(&self, reference: &str) -> Result<String, ArchiveError> {
        let damaged = || self.damaged(reference);
        let record = self.read(Kind::Undo, reference).await?;
        self.check_size(RECORD, reference, &record)?;
        let record: Record = serde_json::from_str(&record).map_err(|_| damaged())?;
        if record.version != VERSION {
            return Err(ArchiveError::Version {
                reference: reference.to_owned(),
                found: record.version,
            });
        }
        let texts = self.get(&record.texts).await?;
        self.check_size(TEXTS, &record.texts, &texts)?;
        let texts: Vec<String> = serde_json::from_str(&texts).map_err(|_| damaged())?;
        let mut times: HashMap<&str, usize> = HashMap::new();
        let mut different = Vec::new();
        for piece in &record.units {
            let times = times.entry(piece.messages.as_str()).or_default();
            *times += 1;
            if *times == 1 {
                different.push(piece.messages.clone());
            }
        }
        let ahead = different.into_iter().map(|named| {
            let archive = self.clone();
            async move { archive.get_small(&named).await }
        });
        let mut ahead = stream::iter(ahead).buffered(CONCURRENCY);
        let mut document = texts.first().cloned().ok_or_else(damaged)?;
        // Where in the document the messages of repeated entries are.
        let mut known: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        for piece in &record.units {
            let named = piece.messages.as_str();
            if let Some(places) = known.get(named) {
                append_again(&mut document, piece, places, &texts, MAX_DOCUMENT_BYTES)
                    .ok_or_else(damaged)?;
                continue;
            }
            // The stream has one item for each distinct entry.
            let small = ahead.next().await.transpose()?.flatten();
            let messages = match small {
                Some(messages) => messages,
                None => self.get(named).await?,
            };
            let places = append(&mut document, piece, &messages, &texts, MAX_DOCUMENT_BYTES);
            let places = places.ok_or_else(damaged)?;
            if times.get(named).is_some_and(|times| *times > 1) {
                known.insert(named, places);
            }
        }
        if digest_of(document.as_bytes()) == record.document {
            Ok(document)
        } else {
            Err(damaged())
        }
    }

    /// Checks the size of a record or of its texts.
    ///
    /// # Errors
    /// Returns an error if `stored` has more than [`MAX_RECORD_BYTES`] bytes.
    fn check_size(
        &self,
        what: &'static str,
        reference: &str,
        stored: &str,
    ) -> Result<(), ArchiveError> {
        if stored.len() <= MAX_RECORD_BYTES {
            return Ok(());
        }
        Err(ArchiveError::TooLarge {
            what,
            reference: reference.to_owned(),
            place: self.place.to_string(),
            bytes: stored.len(),
            most: MAX_RECORD_BYTES,
        })
    }
}

/// Appends the messages of a unit, with the text after each, and returns where in the document they are.
/// Returns `None` if the piece does not fit the messages, or if the document would have more than `most`
/// bytes.
fn append(
    document: &mut String,
    piece: &Piece,
    messages: &str,
    texts: &[String],
    most: u64,
) -> Option<Vec<Range<usize>>> {
    // Counts the messages before it allocates memory for them, since a forged entry may have far too many.
    let count = serde_json::from_str::<Vec<IgnoredAny>>(messages)
        .ok()?
        .len();
    if count != piece.following_texts.len() {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_str(messages).ok()?;
    let mut places = Vec::with_capacity(count);
    for (message, text) in messages.iter().zip(&piece.following_texts) {
        let start = document.len();
        push(document, message.get(), most)?;
        places.push(start..document.len());
        push(document, texts.get(*text)?, most)?;
    }
    Some(places)
}

/// Like [`append`], for messages that are already in the document.
fn append_again(
    document: &mut String,
    piece: &Piece,
    places: &[Range<usize>],
    texts: &[String],
    most: u64,
) -> Option<()> {
    if places.len() != piece.following_texts.len() {
        return None;
    }
    for (place, text) in places.iter().zip(&piece.following_texts) {
        if (document.len() + place.len()) as u64 > most {
            return None;
        }
        document.extend_from_within(place.clone());
        push(document, texts.get(*text)?, most)?;
    }
    Some(())
}

fn push(document: &mut String, text: &str, most: u64) -> Option<()> {
    if (document.len() + text.len()) as u64 > most {
        return None;
    }
    document.push_str(text);
    Some(())
}

#[cfg(test)]
mod tests {
    use baler_conversation::{Reader, SecretKey};

    use super::*;
    use crate::reference::reference_of;

    #[test]
    fn append_rejects_a_document_that_becomes_too_large() {
        let piece = Piece {
            messages: String::new(),
            following_texts: vec![1, 0],
        };
        let texts = ["[".to_owned(), ",".to_owned()];
        for (start, most, expected) in [
            ("[", 6, Some("[1,22[")),
            ("[", 5, None),
            ("[[[[[[", 11, Some("[[[[[[1,22[")),
            ("[[[[[[", 10, None),
        ] {
            let mut document = start.to_owned();
            let appended = append(&mut document, &piece, "[1,22]", &texts, most);
            assert_eq!(appended.map(|_| document.as_str()), expected, "{most}");
        }
    }

    #[test]
    fn append_again_rejects_a_document_that_becomes_too_large() {
        let piece = |following_texts: &[usize]| Piece {
            messages: String::new(),
            following_texts: following_texts.to_vec(),
        };
        let texts = [String::new(), ",".to_owned()];
        // The message itself must fit, and the text after it.
        for (following, most, expected) in [
            (0, 8, Some("[333,333")),
            (0, 7, None),
            (1, 9, Some("[333,333,")),
            (1, 8, None),
        ] {
            let mut document = "[333,".to_owned();
            let places = std::slice::from_ref(&(1..4));
            let appended = append_again(&mut document, &piece(&[following]), places, &texts, most);
            assert_eq!(appended.map(|()| document.as_str()), expected, "{most}");
        }
    }

    /// The record of a document, and the entries that it names.
    fn recorded(document: &str) -> Option<(Record, Vec<String>)> {
        let conversation = Reader::new(SecretKey::random().expect("a key"))
            .read(document)
            .expect("is read");
        let mut entries = Vec::new();
        let record = record(&conversation, &mut |content| {
            entries.push(content);
            (entries.len() - 1).to_string()
        })?;
        Some((serde_json::from_str(&record).expect("a record"), entries))
    }

    #[test]
    fn a_record_names_each_unit_and_repeats_no_message() {
        let document = r#"{"model": "m", "max_tokens": 9, "system": "Kurz.", "messages": [
            {"role": "user", "content": "どこ？"}, {"role": "assistant", "content": "Hier."}]}"#;
        let (record, entries) = recorded(document).expect("fits");
        assert_eq!(record.units.len(), 2);
        assert_eq!(entries[0], r#"[{"role": "user", "content": "どこ？"}]"#);
        assert_eq!(entries[1], r#"[{"role": "assistant", "content": "Hier."}]"#);
        let texts: Vec<String> = serde_json::from_str(&entries[2]).expect("texts");
        assert!(texts[0].contains("Kurz."));
        let texts = texts.concat();
        assert!(!texts.contains("どこ") && !texts.contains("Hier"));
    }

    #[test]
    fn a_record_whose_texts_are_too_large_to_be_restored_is_not_made() {
        let document = |padding: usize| {
            let padding = "x".repeat(padding);
            format!(r#"{{"user":"{padding}","messages":[{{"role":"user","content":"a"}}]}}"#)
        };
        let (_, entries) = recorded(&document(0)).expect("fits");
        let room = MAX_RECORD_BYTES - entries.last().map_or(0, String::len);
        assert!(recorded(&document(room)).is_some());
        assert!(recorded(&document(room + 1)).is_none());
    }

    async fn put(archive: &Archive, kind: Kind, content: &str) -> String {
        let reference = reference_of(content.as_bytes());
        let put = archive.put(kind, kind.fresh(), &reference, content.to_owned());
        put.await.expect("is stored");
        reference
    }

    /// Stores a forged record with these texts and units, and returns its reference.
    async fn forged(archive: &Archive, texts: &str, units: &str, document: &str) -> String {
        let texts = put(archive, Kind::Entry, texts).await;
        let digest = digest_of(document.as_bytes());
        let record =
            format!(r#"{{"undo":1,"document":"{digest}","texts":"{texts}","units":{units}}}"#);
        put(archive, Kind::Undo, &record).await
    }

    #[tokio::test]
    async fn undo_rejects_texts_and_records_that_are_too_large() {
        let archive = Archive::in_memory();
        let space = " ".repeat(MAX_RECORD_BYTES);
        let texts = format!(r#"["a"{space}]"#);
        let reference = forged(&archive, r#"["a"]"#, "[]", "a").await;
        assert_eq!(archive.undo(&reference).await.as_deref(), Ok("a"));
        for (texts, units, told) in [
            (texts.as_str(), "[]", TEXTS),
            (r#"["a"]"#, format!("[{space}]").as_str(), RECORD),
        ] {
            let reference = forged(&archive, texts, units, "a").await;
            let error = archive.undo(&reference).await.expect_err("too large");
            let ArchiveError::TooLarge {
                what, bytes, most, ..
            } = &error
            else {
                panic!("{error}");
            };
            assert_eq!((*what, *most), (told, MAX_RECORD_BYTES));
            assert!(*bytes > MAX_RECORD_BYTES);
            assert!(error.to_string().contains("33554432"), "{error}");
        }
    }

    #[tokio::test]
    async fn undo_restores_entries_that_a_record_names_twice() {
        let archive = Archive::in_memory();
        let one = put(&archive, Kind::Entry, r#"[1,"ü"]"#).await;
        let two = put(&archive, Kind::Entry, "[2]").await;
        let piece =
            |named: &str, behind: &str| format!(r#"{{"messages":"{named}","behind":{behind}}}"#);
        let units = [
            piece(&one, "[1,1]"),
            piece(&two, "[1]"),
            // With other texts after its messages.
            piece(&one, "[3,1]"),
            piece(&one, "[1,2]"),
        ];
        let units = format!("[{}]", units.join(","));
        let document = r#"[1,"ü",2,1;"ü",1,"ü"]"#;
        let texts = r#"["[",",","]",";"]"#;
        let reference = forged(&archive, texts, &units, document).await;
        assert_eq!(archive.undo(&reference).await.as_deref(), Ok(document));
        // The entry has two messages, but the second piece has only one text.
        let short = format!("[{},{}]", piece(&one, "[1,1]"), piece(&one, "[1]"));
        let reference = forged(&archive, texts, &short, "").await;
        let damaged = Err(archive.damaged(&reference));
        assert_eq!(archive.undo(&reference).await, damaged);
    }
}
