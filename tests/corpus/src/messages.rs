//! The messages of a document, and documents with fewer of them. Independent of the host's code, because it
//! checks the host.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A document, split at its messages.
pub(crate) struct Messages<'a> {
    document: &'a str,
    pub(crate) all: Vec<&'a str>,
    /// Where the first message begins and the last one ends.
    start: usize,
    end: usize,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    contents: Option<&'a RawValue>,
}

impl<'a> Messages<'a> {
    /// Returns `None` if the document has no list of messages, or an empty one.
    pub(crate) fn of(document: &'a str) -> Option<Self> {
        // A list has to be told first: serde reads one as the members of a struct, in order.
        let list = if document.trim_start().starts_with('[') {
            document
        } else {
            let body: Body<'a> = serde_json::from_str(document).ok()?;
            body.messages.or(body.input).or(body.contents)?.get()
        };
        let all: Vec<&'a RawValue> = serde_json::from_str(list).ok()?;
        let all: Vec<&'a str> = all.into_iter().map(RawValue::get).collect();
        let offset = |message: &str| message.as_ptr().addr() - document.as_ptr().addr();
        let (first, last) = (*all.first()?, *all.last()?);
        Some(Self {
            document,
            start: offset(first),
            end: offset(last) + last.len(),
            all,
        })
    }

    /// Returns the text before the messages, without the white space before the first.
    pub(crate) fn head(&self) -> &'a str {
        self.document[..self.start].trim_end()
    }

    /// Returns the text after the messages.
    pub(crate) fn tail(&self) -> &'a str {
        &self.document[self.end..]
    }

    /// Returns the document with its first messages only.
    pub(crate) fn cut(&self, messages: usize) -> String {
        let end = messages
            .checked_sub(1)
            .and_then(|last| self.all.get(last))
            .map_or(self.start, |last| {
                last.as_ptr().addr() - self.document.as_ptr().addr() + last.len()
            });
        format!("{}{}", &self.document[..end], self.tail())
    }
}

#[cfg(test)]
mod tests {
    use super::Messages;

    #[test]
    fn a_cut_has_the_first_messages_and_all_around_them() {
        for (document, cut) in [
            (r#"[ {"a": 1} , {"b": 2}]"#, r#"[ {"a": 1}]"#),
            (
                r#"{"model": "m", "input": [{"a": 1}, {"b": 2} ], "x": []}"#,
                r#"{"model": "m", "input": [{"a": 1} ], "x": []}"#,
            ),
        ] {
            let messages = Messages::of(document).unwrap();
            assert_eq!(messages.all.len(), 2);
            assert_eq!(messages.cut(1), cut);
            assert_eq!(messages.cut(2), document);
        }
    }

    #[test]
    fn a_document_without_messages_cannot_be_cut() {
        for document in [
            "",
            "[]",
            "{}",
            r#"{"input": "a text"}"#,
            r#"{"contents": []}"#,
        ] {
            assert!(Messages::of(document).is_none());
        }
    }
}
