//! The request body around the messages, and where each message lies in it.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::ReadError;
use super::json::{self, Members, Place};

/// A document taken apart as far as all formats have in common.
pub(crate) struct Body<'a> {
    pub(crate) document: &'a str,
    /// The members of the request body; none for a bare list of messages.
    pub(crate) envelope: Option<Members<'a>>,
    pub(crate) messages: Vec<Raw<'a>>,
}

/// One message, taken apart one level deep.
pub(crate) struct Raw<'a> {
    pub(crate) members: Members<'a>,
    pub(crate) place: Place,
}

impl<'a> Body<'a> {
    /// Takes `document` apart.
    pub(crate) fn parse(document: &'a str) -> Result<Self, ReadError> {
        let trimmed = document.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        match trimmed.chars().next() {
            None => Err(ReadError::Empty),
            Some('[') => {
                let messages = raw_messages(document, trimmed)?;
                Ok(Self {
                    document,
                    envelope: None,
                    messages,
                })
            }
            Some('{') => {
                let envelope: Members<'a> = serde_json::from_str(trimmed)
                    .map_err(|error| ReadError::json(document, trimmed, &error))?;
                let Some(list) = envelope.get("messages") else {
                    return Err(ReadError::NoMessages {
                        hint: hint_for(&envelope),
                    });
                };
                if !json::is_list(list.get()) {
                    return Err(ReadError::Shape {
                        what: "`messages` is not a list".to_owned(),
                    });
                }
                let messages = raw_messages(document, list.get())?;
                Ok(Self {
                    document,
                    envelope: Some(envelope),
                    messages,
                })
            }
            Some(_) => {
                let error = serde_json::from_str::<&RawValue>(trimmed).err();
                Err(match error {
                    Some(error) => ReadError::json(document, trimmed, &error),
                    None => ReadError::Shape {
                        what: "the document is neither an object nor a list".to_owned(),
                    },
                })
            }
        }
    }

    /// A value of the request body.
    pub(crate) fn member(&self, key: &str) -> Option<&'a RawValue> {
        self.envelope.as_ref()?.present(key)
    }

    pub(crate) fn place(&self, raw: &RawValue) -> Place {
        json::place_of(self.document, raw.get())
    }
}

fn raw_messages<'a>(document: &'a str, list: &'a str) -> Result<Vec<Raw<'a>>, ReadError> {
    let raws: Vec<&'a RawValue> =
        serde_json::from_str(list).map_err(|error| ReadError::json(document, list, &error))?;
    raws.into_iter()
        .enumerate()
        .map(|(index, raw)| {
            let members = serde_json::from_str(raw.get()).map_err(|error| ReadError::Message {
                number: index + 1,
                what: without_position(&error),
            })?;
            Ok(Raw {
                members,
                place: json::place_of(document, raw.get()),
            })
        })
        .collect()
}

/// serde_json counts lines and columns from the slice it was given, which is not the document.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What a document without `messages` might be.
fn hint_for(envelope: &Members<'_>) -> &'static str {
    if envelope.get("contents").is_some() {
        "this looks like a Gemini request, which this version does not read"
    } else if envelope.get("input").is_some() {
        "this looks like an OpenAI Responses request, which this version does not read"
    } else if envelope.get("choices").is_some() || envelope.get("stop_reason").is_some() {
        "this looks like a response; give the request"
    } else {
        "give a request body of OpenAI Chat Completions or Anthropic Messages, or its list of messages"
    }
}

/// Where the list of messages lies in a document that was read before, and what stands
/// between them: enough to write it again with other messages.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    document: Arc<str>,
    places: Vec<Place>,
}

impl Frame {
    pub(crate) fn new(document: Arc<str>, places: Vec<Place>) -> Self {
        Self { document, places }
    }

    /// The document with `messages` in the place of its own. The white space in front of the
    /// first message is put in front of each, so that a pretty document stays one.
    pub(crate) fn write<'m>(&self, messages: impl IntoIterator<Item = &'m str>) -> String {
        let (Some(first), Some(last)) = (self.places.first(), self.places.last()) else {
            return self.document.to_string();
        };
        let before = self.document.get(..first.start).unwrap_or_default();
        let after = self.document.get(last.end..).unwrap_or_default();
        let list = before.trim_end_matches([' ', '\t', '\r', '\n']);
        let lead = &before[list.len()..];
        let mut written = String::with_capacity(self.document.len());
        written.push_str(list);
        for (index, message) in messages.into_iter().enumerate() {
            if index > 0 {
                written.push(',');
            }
            written.push_str(lead);
            written.push_str(message);
        }
        written.push_str(after);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(document: &str) -> (Frame, Vec<String>) {
        let body = Body::parse(document).expect("reads");
        let places: Vec<Place> = body.messages.iter().map(|raw| raw.place.clone()).collect();
        let messages = places
            .iter()
            .map(|place| document[place.clone()].to_owned())
            .collect();
        (Frame::new(document.into(), places), messages)
    }

    #[test]
    fn a_body_written_with_its_own_messages_is_the_same_body() {
        for document in [
            r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"x":1.0}"#,
            "[\n  {\"role\": \"user\", \"content\": \"a\"},\n  {\"role\": \"user\", \"content\": \"b\"}\n]\n",
        ] {
            let (frame, messages) = frame(document);
            assert_eq!(frame.write(messages.iter().map(String::as_str)), document);
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
}
