//! How a compaction is undone: what makes up the document that it was given, in order.

use std::collections::HashMap;
use std::ops::Range;

use futures_util::{StreamExt as _, stream};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::Conversation;

use super::{AT_ONCE, Archive, Kind};
use crate::error::ArchiveError;
use crate::reference::{digest_of, messages_of};

/// The most bytes of a document, which is what the program reads of one. A record that says more
/// is forged: few entries, named again and again, would make a document of any size.
pub(super) const MOST_DOCUMENT: u64 = 1 << 30;

/// The most bytes of a record, and of the texts that stand around the messages. Read, they take
/// some ten times as much. No provider takes a request with as much around its messages.
pub(super) const MOST_RECORD: usize = 32 << 20;

/// What errors call them.
const RECORD: &str = "the record of a compaction";
const TEXTS: &str = "the text around the messages";

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

/// The record of a conversation, whose entries are given to `keep`; `None` if it, or the texts,
/// would be larger than what is read again.
pub(super) fn record(
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
            behind: places
                .iter()
                .map(|place| {
                    let end = next.next().unwrap_or(document.len());
                    texts.number(&document[place.end..end])
                })
                .collect(),
        })
        .collect();
    // Strings and numbers, which are always JSON.
    let texts = serde_json::to_string(&texts.texts).unwrap_or_default();
    if texts.len() > MOST_RECORD {
        return None;
    }
    let record = Record {
        undo: VERSION,
        document: digest_of(document.as_bytes()),
        texts: keep(texts),
        units,
    };
    let record = serde_json::to_string(&record).unwrap_or_default();
    (record.len() <= MOST_RECORD).then_some(record)
}

/// Where the messages of each unit stand. A unit with a message that does not stand there as it was
/// read, such as an `input` that is a text, is left out: it is a part of the text around it.
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
        self.check_size(RECORD, reference, &record)?;
        let record: Record = serde_json::from_str(&record).map_err(|_| damaged())?;
        if record.undo != VERSION {
            return Err(ArchiveError::Version {
                reference: reference.to_owned(),
                found: record.undo,
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
        let mut ahead = stream::iter(ahead).buffered(AT_ONCE);
        let mut document = texts.first().cloned().ok_or_else(damaged)?;
        // Where in the document those stand that come again.
        let mut known: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        for piece in &record.units {
            let named = piece.messages.as_str();
            if let Some(places) = known.get(named) {
                append_again(&mut document, piece, places, &texts).ok_or_else(damaged)?;
                continue;
            }
            // There is one for each of the different ones.
            let small = ahead.next().await.transpose()?.flatten();
            let messages = match small {
                Some(messages) => messages,
                None => self.get(named).await?,
            };
            let places = append(&mut document, piece, &messages, &texts, MOST_DOCUMENT);
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

    /// # Errors
    /// `stored` has more bytes than are read of a record or of its texts.
    fn check_size(
        &self,
        what: &'static str,
        reference: &str,
        stored: &str,
    ) -> Result<(), ArchiveError> {
        if stored.len() <= MOST_RECORD {
            return Ok(());
        }
        Err(ArchiveError::TooLarge {
            what,
            reference: reference.to_owned(),
            place: self.place.to_string(),
            bytes: stored.len(),
            most: MOST_RECORD,
        })
    }
}

/// Appends the messages of a unit, and what stands behind each, and tells where they stand; `None`
/// if the piece does not fit them, or the document would have more than `most` bytes.
fn append(
    document: &mut String,
    piece: &Piece,
    messages: &str,
    texts: &[String],
    most: u64,
) -> Option<Vec<Range<usize>>> {
    // Counted before they are kept: those of a forged entry may be many times as many.
    let count = serde_json::from_str::<Vec<IgnoredAny>>(messages)
        .ok()?
        .len();
    if count != piece.behind.len() {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_str(messages).ok()?;
    let mut places = Vec::with_capacity(count);
    for (message, behind) in messages.iter().zip(&piece.behind) {
        let start = document.len();
        push(document, message.get(), most)?;
        places.push(start..document.len());
        push(document, texts.get(*behind)?, most)?;
    }
    Some(places)
}

/// The same of messages that stand in the document already.
fn append_again(
    document: &mut String,
    piece: &Piece,
    places: &[Range<usize>],
    texts: &[String],
) -> Option<()> {
    if places.len() != piece.behind.len() {
        return None;
    }
    for (place, behind) in places.iter().zip(&piece.behind) {
        if (document.len() + place.len()) as u64 > MOST_DOCUMENT {
            return None;
        }
        document.extend_from_within(place.clone());
        push(document, texts.get(*behind)?, MOST_DOCUMENT)?;
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
    use super::*;
    use crate::reference::reference_of;

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
            appended.map(|_| document)
        };
        assert_eq!(append(6).as_deref(), Some("[1,22["));
        assert_eq!(append(5), None);
    }

    async fn put(archive: &Archive, kind: Kind, content: &str) -> String {
        let reference = reference_of(content.as_bytes());
        let put = archive.put(kind, kind.fresh(), &reference, content.to_owned());
        put.await.expect("is stored");
        reference
    }

    /// The record of a document that is said to be made up of these texts and units.
    async fn forged(archive: &Archive, texts: &str, units: &str, document: &str) -> String {
        let texts = put(archive, Kind::Entry, texts).await;
        let digest = digest_of(document.as_bytes());
        let record =
            format!(r#"{{"undo":1,"document":"{digest}","texts":"{texts}","units":{units}}}"#);
        put(archive, Kind::Undo, &record).await
    }

    #[tokio::test]
    async fn undo_refuses_texts_and_records_that_are_too_large() {
        let archive = Archive::in_memory();
        let space = " ".repeat(MOST_RECORD);
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
            assert_eq!((*what, *most), (told, MOST_RECORD));
            assert!(*bytes > MOST_RECORD);
            assert!(error.to_string().contains("33554432"), "{error}");
        }
    }

    #[tokio::test]
    async fn undo_takes_what_comes_again_from_the_document() {
        let archive = Archive::in_memory();
        let one = put(&archive, Kind::Entry, r#"[1,"ü"]"#).await;
        let two = put(&archive, Kind::Entry, "[2]").await;
        let piece =
            |named: &str, behind: &str| format!(r#"{{"messages":"{named}","behind":{behind}}}"#);
        let units = [
            piece(&one, "[1,1]"),
            piece(&two, "[1]"),
            // Other texts stand behind it now.
            piece(&one, "[3,1]"),
            piece(&one, "[1,2]"),
        ];
        let units = format!("[{}]", units.join(","));
        let document = r#"[1,"ü",2,1;"ü",1,"ü"]"#;
        let texts = r#"["[",",","]",";"]"#;
        let reference = forged(&archive, texts, &units, document).await;
        assert_eq!(archive.undo(&reference).await.as_deref(), Ok(document));
        // It has two messages the second time too.
        let short = format!("[{},{}]", piece(&one, "[1,1]"), piece(&one, "[1]"));
        let reference = forged(&archive, texts, &short, "").await;
        let damaged = Err(archive.damaged(&reference));
        assert_eq!(archive.undo(&reference).await, damaged);
    }
}
