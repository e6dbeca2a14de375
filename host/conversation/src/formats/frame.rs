//! What stands around the messages of a document.

use std::borrow::Cow;
use std::sync::Arc;

use super::body::Body;
use crate::json::{self, Place, WHITE};

/// The most bytes of white space that are repeated before each message. A pretty document has some
/// ten; without a limit a few hundred kilobytes before the first message would come once for each.
const MOST_WHITE: usize = 64;

/// A message as it stands in a list. The text that an `input` may be is the user's.
pub fn as_message(raw: &str) -> Cow<'_, str> {
    if json::is_text(raw) {
        Cow::Owned(format!(r#"{{"role":"user","content":{raw}}}"#))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Enough of a document that was read to write it again with other messages.
#[derive(Debug, Clone)]
pub struct Frame {
    document: Arc<str>,
    /// From the first message to the last; between the brackets where there is none.
    messages: Place,
    /// The white space before the first message.
    lead: Place,
    /// What of it is repeated before each other message: at most [`MOST_WHITE`] bytes.
    between: Place,
    /// Whether one message stands in the place of the list: an `input` that is a text, or `contents` that are
    /// one content.
    pub(crate) is_single: bool,
}

impl Frame {
    pub(crate) fn new(document: Arc<str>, body: &Body<'_>) -> Self {
        let ends = body.messages.first().zip(body.messages.last());
        let messages = ends.map_or(body.inside.start..body.inside.start, |(first, last)| {
            first.place.start..last.place.end
        });
        let before = document.get(..messages.start).unwrap_or_default();
        let lead = before.trim_end_matches(WHITE).len()..messages.start;
        let between = repeated(&before[lead.clone()], &lead);
        Self {
            document,
            messages,
            lead,
            between,
            is_single: body.is_single,
        }
    }

    /// The document with an empty list of messages, as JSON alone: a document may begin with a byte
    /// order mark, and white space may stand around it.
    pub fn empty(&self) -> String {
        let written = self.write(std::iter::empty());
        let json = written.trim_start_matches(json::BEFORE);
        json.trim_end_matches(WHITE).to_owned()
    }

    /// The bytes of the document beside its messages.
    pub(crate) fn len(&self) -> usize {
        self.document.len() - self.messages.len()
    }

    /// What comes before the messages, the white space before the first of them, and what
    /// comes after them.
    fn parts(&self) -> (&str, &str, &str) {
        let end = self.document.len();
        let (list, after) = (0..self.lead.start, self.messages.end..end);
        (self.at(&list), self.at(&self.lead), self.at(&after))
    }

    /// The white space before each message but the first.
    fn white(&self) -> &str {
        self.at(&self.between)
    }

    fn at(&self, place: &Place) -> &str {
        self.document.get(place.clone()).unwrap_or_default()
    }

    /// Bytes that come with one more message, after so many others.
    pub(crate) fn between(&self, others: usize) -> usize {
        match others {
            0 => 0,
            1 if self.is_single => {
                let own = self.at(&self.messages);
                as_message(own).len() - own.len() + "[,]".len()
            }
            _ if self.is_single => 1,
            _ => self.between.len() + 1,
        }
    }

    /// Whether the same stands around the messages.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let (own, other) = (self.parts(), other.parts());
        (own.0, own.2) == (other.0, other.2)
    }

    /// The document with `messages` after its own, of which there are `own`.
    pub(crate) fn write_behind<'m>(
        &'m self,
        own: usize,
        messages: impl IntoIterator<Item = &'m str>,
    ) -> String {
        if self.is_single {
            let text = self.document.get(self.messages.clone());
            return self.write(text.into_iter().chain(messages));
        }
        let (_, _, after) = self.parts();
        let mut written = self.at(&(0..self.messages.end)).to_owned();
        for (index, message) in messages.into_iter().enumerate() {
            if own + index > 0 {
                written.push(',');
                written.push_str(self.white());
            }
            written.push_str(message);
        }
        written.push_str(after);
        written
    }

    /// Where in what [`Frame::write_behind`] writes the appended messages stand, by their lengths in
    /// bytes.
    pub(crate) fn places_behind(
        &self,
        own: usize,
        lengths: impl IntoIterator<Item = usize>,
    ) -> Vec<Place> {
        let (list, lead, _) = self.parts();
        let (mut end, white) = if self.is_single {
            let text = self.document.get(self.messages.clone());
            let whole = text.map_or(0, |text| as_message(text).len());
            (list.len() + lead.len() + "[".len() + whole, "")
        } else {
            (self.messages.end, self.white())
        };
        let mut others = own;
        let place = |length| {
            let start = match others {
                0 => end,
                _ => end + ",".len() + white.len(),
            };
            others += 1;
            end = start + length;
            start..end
        };
        lengths.into_iter().map(place).collect()
    }

    /// The document with `messages` in the place of its own. White space like that before the
    /// first message is put before each, so that a pretty document stays one; but not where
    /// it would be more than the messages themselves.
    pub fn write<'m>(&self, messages: impl IntoIterator<Item = &'m str>) -> String {
        let mut messages: Vec<&str> = messages.into_iter().collect();
        let (list, lead, after) = self.parts();
        let own: usize = messages.iter().map(|message| message.len()).sum();
        let white = Some(self.white())
            .filter(|white| white.len() * messages.len() <= own)
            .unwrap_or_default();
        let mut written =
            String::with_capacity(self.len() + own + messages.len() * (white.len() + 1));
        written.push_str(list);
        if !self.is_single {
            if !messages.is_empty() {
                written.push_str(lead);
            }
            push(&mut written, &messages, white);
            written.push_str(after);
            return written;
        }
        let text = self.document.get(self.messages.clone());
        written.push_str(lead);
        if messages.len() == 1 && messages.first().copied() == text {
            written.push_str(messages[0]);
        } else {
            let whole = text.map(as_message);
            for message in &mut messages {
                if json::is_text(message) {
                    *message = whole.as_deref().unwrap_or(message);
                }
            }
            written.push('[');
            push(&mut written, &messages, "");
            written.push(']');
        }
        written.push_str(after);
        written
    }
}

/// What of the white space `lead`, which lies at `place`, is repeated: all of it where it is short,
/// else its last line.
fn repeated(lead: &str, place: &Place) -> Place {
    let start = match lead.len() {
        short if short <= MOST_WHITE => 0,
        length => lead
            .rfind('\n')
            .filter(|line| length - line <= MOST_WHITE)
            .unwrap_or(length),
    };
    place.start + start..place.end
}

fn push(written: &mut String, messages: &[&str], white: &str) {
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            written.push(',');
            written.push_str(white);
        }
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
    fn body_written_with_its_own_messages_is_the_same_body() {
        for document in [
            r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"x":1.0}"#,
            "[\n  {\"role\": \"user\", \"content\": \"a\"},\n  {\"role\": \"user\", \"content\": \"b\"}\n]\n",
            r#"{"contents":[]}"#,
            r#"{ "input" : "a text" , "model":"m"}"#,
            r#"{ "contents" : {"role":"user","parts":{"text":"日本"}} , "model":"m"}"#,
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
    fn list_without_messages_can_get_some() {
        let (frame, _) = frame(r#"{"messages": [], "model": "m"}"#);
        assert_eq!(
            frame.write([r#"{"role":"user"}"#]),
            r#"{"messages": [{"role":"user"}], "model": "m"}"#
        );
    }

    #[test]
    fn input_that_is_a_text_becomes_a_list_when_it_gets_company() {
        let (frame, messages) = frame(r#"{"input":"say \"hi\"","model":"m"}"#);
        assert_eq!(
            frame.write([messages[0].as_str(), "{}"]),
            r#"{"input":[{"role":"user","content":"say \"hi\""},{}],"model":"m"}"#
        );
    }

    #[test]
    fn contents_that_are_one_content_become_a_list_when_they_get_company() {
        let (frame, messages) = frame(r#"{"contents": {"parts":{"text":"hi"}},"x":1}"#);
        let together = r#"{"contents": [{"parts":{"text":"hi"}},{}],"x":1}"#;
        assert_eq!(frame.write([messages[0].as_str(), "{}"]), together);
        assert_eq!(frame.write_behind(1, ["{}"]), together);
        let places = frame.places_behind(1, [2]);
        assert_eq!(&together[places[0].clone()], "{}");
        let own = frame.len() + messages[0].len();
        assert_eq!(own + frame.between(1) + 2, together.len());
        assert_eq!(frame.empty(), r#"{"contents": [],"x":1}"#);
    }

    #[test]
    fn without_messages_it_is_json_alone() {
        let around = "\u{feff}\r\n [\n {\"role\":\"user\"}\n ]\t\n";
        assert_eq!(frame(around).0.empty(), "[\n ]");
        assert_eq!(
            frame(r#" {"input": "a text"}"#).0.empty(),
            r#"{"input": []}"#
        );
    }

    #[test]
    fn much_white_space_before_the_first_message_is_not_repeated() {
        let spaces = " ".repeat(100_000);
        let (blank, messages) = frame(&format!(r#"{{"messages":[{spaces}{{"role":"user"}}]}}"#));
        let many = || std::iter::repeat_n(messages[0].as_str(), 1_000);
        let own: usize = many().map(str::len).sum();
        assert!(blank.write(many()).len() < spaces.len() + own + 2_000);
        assert!(blank.write_behind(1, many()).len() < spaces.len() + own + 2_000);
        assert_eq!(blank.between(1), 1);
        // Its last line is, where that is short.
        let (lines, messages) = frame(&format!("[{}\n  {{\"role\":\"user\"}}]", "\n".repeat(500)));
        assert_eq!(lines.between(1), 4);
        let two = lines.write([messages[0].as_str(), "{\"role\":\"model\"}"]);
        assert!(
            two.ends_with("{\"role\":\"user\"},\n  {\"role\":\"model\"}]"),
            "{two}"
        );
    }

    #[test]
    fn white_space_that_is_more_than_the_messages_is_not_repeated() {
        let (frame, _) = frame(&format!("[{}{{\"role\":\"user\"}}]", " ".repeat(60)));
        let written = frame.write(std::iter::repeat_n("{}", 1_000));
        assert_eq!(written.len(), 60 + 2 + 1_000 * 2 + 999);
    }
}
