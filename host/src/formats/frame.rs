//! What stands around the messages of a document.

use std::sync::Arc;

use super::body::Body;
use super::json::{self, Place};

/// Enough of a document that was read to write it again with other messages.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    document: Arc<str>,
    /// From the first message to the last; between the brackets where there is none.
    messages: Place,
    /// An `input` that is a text, not a list.
    is_text: bool,
}

impl Frame {
    pub(crate) fn new(document: Arc<str>, body: &Body<'_>) -> Self {
        let ends = body.messages.first().zip(body.messages.last());
        Self {
            document,
            messages: ends.map_or(body.inside.start..body.inside.start, |(first, last)| {
                first.place.start..last.place.end
            }),
            is_text: ends.is_some_and(|(first, _)| first.members.is_none()),
        }
    }

    /// The bytes of the document beside its messages.
    pub(crate) fn len(&self) -> usize {
        self.document.len() - self.messages.len()
    }

    /// What stands in front of the messages, the white space before each of them, and what
    /// stands behind them.
    fn parts(&self) -> (&str, &str, &str) {
        let before = self.document.get(..self.messages.start).unwrap_or_default();
        let after = self.document.get(self.messages.end..).unwrap_or_default();
        let list = before.trim_end_matches([' ', '\t', '\r', '\n']);
        (list, &before[list.len()..], after)
    }

    /// Bytes that come with one more message, behind so many others.
    pub(crate) fn between(&self, others: usize) -> usize {
        let (_, lead, _) = self.parts();
        match others {
            0 => 0,
            1 if self.is_text => r#"[{"role":"user","content":},]"#.len(),
            _ if self.is_text => 1,
            _ => lead.len() + 1,
        }
    }

    /// Whether the same stands around the messages.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let (own, other) = (self.parts(), other.parts());
        (own.0, own.2) == (other.0, other.2)
    }

    /// The document with `messages` behind its own, of which there are `own`.
    pub(crate) fn write_behind<'m>(
        &'m self,
        own: usize,
        messages: impl IntoIterator<Item = &'m str>,
    ) -> String {
        if self.is_text {
            let text = self.document.get(self.messages.clone());
            return self.write(text.into_iter().chain(messages));
        }
        let (_, lead, after) = self.parts();
        let mut written = self
            .document
            .get(..self.messages.end)
            .unwrap_or_default()
            .to_owned();
        for (index, message) in messages.into_iter().enumerate() {
            if own + index > 0 {
                written.push(',');
                written.push_str(lead);
            }
            written.push_str(message);
        }
        written.push_str(after);
        written
    }

    /// The document with `messages` in the place of its own. The white space in front of the
    /// first message is put in front of each, so that a pretty document stays one.
    pub(crate) fn write<'m>(&self, messages: impl IntoIterator<Item = &'m str>) -> String {
        let mut messages: Vec<&str> = messages.into_iter().collect();
        let (list, lead, after) = self.parts();
        let mut written = String::with_capacity(
            self.len()
                + messages
                    .iter()
                    .map(|m| m.len() + lead.len() + 1)
                    .sum::<usize>(),
        );
        written.push_str(list);
        if !self.is_text {
            push(&mut written, &messages, lead);
            written.push_str(after);
            return written;
        }
        let text = self.document.get(self.messages.clone());
        if messages.len() == 1 && messages.first().copied() == text {
            written.push_str(lead);
            written.push_str(messages[0]);
        } else {
            let whole = text.map(|text| format!(r#"{{"role":"user","content":{text}}}"#));
            for message in &mut messages {
                if json::is_text(message) {
                    *message = whole.as_deref().unwrap_or(message);
                }
            }
            written.push_str(lead);
            written.push('[');
            push(&mut written, &messages, "");
            written.push(']');
        }
        written.push_str(after);
        written
    }
}

fn push(written: &mut String, messages: &[&str], lead: &str) {
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            written.push(',');
        }
        written.push_str(lead);
        written.push_str(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(document: &str) -> (Frame, Vec<String>) {
        let body = Body::parse(document, None).expect("reads");
        let messages = body
            .messages
            .iter()
            .map(|raw| document[raw.place.clone()].to_owned())
            .collect();
        (Frame::new(document.into(), &body), messages)
    }

    #[test]
    fn a_body_written_with_its_own_messages_is_the_same_body() {
        for document in [
            r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"x":1.0}"#,
            "[\n  {\"role\": \"user\", \"content\": \"a\"},\n  {\"role\": \"user\", \"content\": \"b\"}\n]\n",
            r#"{"contents":[]}"#,
            r#"{ "input" : "a text" , "model":"m"}"#,
        ] {
            let (frame, messages) = frame(document);
            assert_eq!(frame.write(messages.iter().map(String::as_str)), document);
            let own: usize = messages.iter().map(String::len).sum();
            assert!(frame.len() + own <= document.len());
        }
    }

    #[test]
    fn what_surrounds_the_messages_stays_byte_for_byte() {
        let (frame, messages) =
            frame("{ \"seed\": 1e0, \"messages\" : [ {\"role\":\"user\"} ] , \"z\":[1, 2] }");
        assert_eq!(
            frame.write([messages[0].as_str(), "{}"]),
            "{ \"seed\": 1e0, \"messages\" : [ {\"role\":\"user\"}, {} ] , \"z\":[1, 2] }"
        );
    }

    #[test]
    fn a_list_without_messages_can_get_some() {
        let (frame, _) = frame(r#"{"messages": [], "model": "m"}"#);
        assert_eq!(
            frame.write([r#"{"role":"user"}"#]),
            r#"{"messages": [{"role":"user"}], "model": "m"}"#
        );
    }

    #[test]
    fn an_input_that_is_a_text_becomes_a_list_when_it_gets_company() {
        let (frame, messages) = frame(r#"{"input":"say \"hi\"","model":"m"}"#);
        assert_eq!(
            frame.write([messages[0].as_str(), "{}"]),
            r#"{"input":[{"role":"user","content":"say \"hi\""},{}],"model":"m"}"#
        );
    }
}
