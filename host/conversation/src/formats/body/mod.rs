//! The request body around the messages, and where each message lies in it.

mod quick;

use serde_json::value::RawValue;

use crate::deadline::Deadline;
use crate::json::{self, Held, Members, Object, Objects, Place};
use crate::model::format::Format;
use crate::model::message::Output;
use crate::model::read_error::ReadError;

/// After how many messages the deadline is looked at again.
const MESSAGES: usize = 64;

/// A document taken apart as far as all formats have in common.
pub(crate) struct Body<'a> {
    /// What was taken apart: a whole document, or one message that was appended to it.
    text: &'a str,
    /// Where that begins in the whole document.
    offset: usize,
    /// The members of the request body; none for a bare list of messages.
    envelope: Option<Members<'a>>,
    /// Which member holds the messages.
    pub(crate) list: List,
    /// What lies between the brackets of the list; or what stands in its place.
    pub(crate) inside: Place,
    /// Whether one message stands in the place of the list: an `input` that is a text, or `contents` that are
    /// one content.
    pub(crate) is_single: bool,
    pub(crate) messages: Vec<Raw<'a>>,
    /// When reading it has to end.
    pub(crate) deadline: Option<Deadline>,
}

/// The member of a request body that holds the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    /// The document is the list.
    Bare,
    /// OpenAI Chat, Anthropic and Bedrock Converse.
    Messages,
    /// OpenAI Responses.
    Input,
    /// Gemini.
    Contents,
}

impl List {
    const IN_BODIES: [Self; 3] = [Self::Messages, Self::Input, Self::Contents];

    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Bare => "",
            Self::Messages => "messages",
            Self::Input => "input",
            Self::Contents => "contents",
        }
    }
}

/// One message, taken apart one level deep.
pub(crate) struct Raw<'a> {
    /// None for an `input` that is a text.
    pub(crate) members: Option<Members<'a>>,
    pub(crate) place: Place,
}

impl<'a> Raw<'a> {
    /// The members of a message that has to be an object.
    pub(crate) fn object(&self) -> Result<&Members<'a>, String> {
        let members = self.members.as_ref();
        members.ok_or_else(|| "expected an object".to_owned())
    }

    /// The member as text.
    pub(crate) fn text(&self, key: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.members.as_ref()?.text(key)
    }

    /// The objects of a content that is a list.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Members<'a>> + use<'a> {
        let content = self.get("content").map_or("", RawValue::get);
        json::objects(content, 0)
            .flatten()
            .map(|block| block.members)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.members.as_ref()?.get(key)
    }
}

impl<'a> Body<'a> {
    /// Looks at the deadline, at every few messages.
    pub(crate) fn check_time(&self, index: usize) -> Result<(), ReadError> {
        match &self.deadline {
            Some(deadline) if index.is_multiple_of(MESSAGES) && deadline.is_over() => {
                Err(ReadError::OutOfTime)
            }
            _ => Ok(()),
        }
    }

    /// Takes `document` apart. Where the format is known, its messages are looked for in the
    /// member in which that format has them.
    pub(crate) fn parse(document: &'a str, format: Option<Format>) -> Result<Self, ReadError> {
        let trimmed = document.trim_start_matches(json::BEFORE);
        match quick::read(document, trimmed, format) {
            Some(body) => Ok(body),
            None => Self::parse_by_steps(document, trimmed, format),
        }
    }

    /// Takes a document apart level by level, and says at which one it is not what it should be.
    fn parse_by_steps(
        document: &'a str,
        trimmed: &'a str,
        format: Option<Format>,
    ) -> Result<Self, ReadError> {
        match trimmed.chars().next() {
            None => Err(ReadError::Empty),
            Some('[') => {
                let raws = raw_list(document, trimmed)?;
                Self::of_list(document, None, List::Bare, trimmed, raws)
            }
            Some('{') => {
                let envelope: Members<'a> = serde_json::from_str(trimmed)
                    .map_err(|error| ReadError::json(document, trimmed, &error))?;
                let list = list_of(&envelope, format)?;
                let raw = envelope.get(list.key()).map_or("", RawValue::get);
                if list == List::Input && json::is_text(raw) {
                    return Ok(Self::of_single(document, envelope, list, raw, None));
                }
                if list == List::Contents && json::is_object(raw) {
                    let content = Some(held(raw, 1)?);
                    return Ok(Self::of_single(document, envelope, list, raw, content));
                }
                if !json::is_list(raw) {
                    return Err(ReadError::Shape {
                        what: format!("expected `{}` to be a list", list.key()),
                    });
                }
                let raws = raw_list(document, raw)?;
                Self::of_list(document, Some(envelope), list, raw, raws)
            }
            Some(_) => Err(match serde_json::from_str::<&RawValue>(trimmed).err() {
                Some(error) => ReadError::json(document, trimmed, &error),
                None => ReadError::Shape {
                    what: "expected the document to be an object or a list".to_owned(),
                },
            }),
        }
    }

    /// Takes one message apart that begins at `offset` of a document.
    pub(crate) fn piece(message: &'a str, offset: usize) -> Result<Self, ReadError> {
        let members = serde_json::from_str(message).map_err(|error| ReadError::Shape {
            what: format!(
                "expected the message to be a JSON object: {}",
                json::without_position(&error)
            ),
        })?;
        Ok(Self {
            text: message,
            offset,
            envelope: None,
            list: List::Bare,
            inside: offset..offset + message.len(),
            is_single: false,
            messages: vec![Raw {
                members: Some(members),
                place: offset..offset + message.len(),
            }],
            deadline: None,
        })
    }

    fn of_list(
        document: &'a str,
        envelope: Option<Members<'a>>,
        list: List,
        raw: &'a str,
        raws: Vec<&'a RawValue>,
    ) -> Result<Self, ReadError> {
        let messages = raws
            .into_iter()
            .enumerate()
            .map(|(index, raw)| {
                Ok(Raw {
                    members: Some(held(raw.get(), index + 1)?),
                    place: json::place_of(document, raw.get()),
                })
            })
            .collect::<Result<_, _>>()?;
        let whole = json::place_of(document, raw.trim_end());
        Ok(Self {
            text: document,
            offset: 0,
            envelope,
            list,
            inside: whole.start + 1..whole.end.saturating_sub(1),
            is_single: false,
            messages,
            deadline: None,
        })
    }

    fn of_single(
        document: &'a str,
        envelope: Members<'a>,
        list: List,
        raw: &'a str,
        members: Option<Members<'a>>,
    ) -> Self {
        let place = json::place_of(document, raw);
        Self {
            text: document,
            offset: 0,
            envelope: Some(envelope),
            list,
            inside: place.clone(),
            is_single: true,
            messages: vec![Raw { members, place }],
            deadline: None,
        }
    }

    /// A value of the request body that is there and not null.
    pub(crate) fn member(&self, key: &str) -> Option<&'a RawValue> {
        self.envelope.as_ref()?.present(key)
    }

    /// A text of the request body; empty where there is none.
    pub(crate) fn text(&self, key: &str) -> std::borrow::Cow<'a, str> {
        self.envelope
            .as_ref()
            .and_then(|envelope| envelope.text(key))
            .unwrap_or_default()
    }

    /// The model that the request names; empty where it names none. Bedrock calls it by its id.
    pub(crate) fn model(&self) -> std::borrow::Cow<'a, str> {
        let model = self.text("model");
        if model.is_empty() {
            self.text("modelId")
        } else {
            model
        }
    }

    /// The objects of a list, each with its place in the document.
    pub(crate) fn objects(&self, list: &'a RawValue) -> Objects<'a> {
        json::objects(list.get(), self.place(list).start)
    }

    /// The parts of a `content` that is not a text, which errors call `part`.
    ///
    /// # Errors
    /// It is not a list, or something in it is not an object, in words.
    pub(crate) fn content_parts(
        &self,
        content: &'a RawValue,
        part: &'static str,
    ) -> Result<impl Iterator<Item = Result<Object<'a>, String>> + use<'a>, String> {
        if !json::is_list(content.get()) {
            return Err(format!(
                "expected `content` to be a text or a list of {part}s"
            ));
        }
        Ok(self.objects(content).map(move |object| {
            object.map_err(|error| {
                format!("a {part} of `content`: {}", json::without_position(&error))
            })
        }))
    }

    /// Reads the list of an output: each object by `read`. A text that stands in the place of a part,
    /// which no provider documents, is one of the output's. Returns whether there was one.
    ///
    /// # Errors
    /// Something in it, which errors call `part`, is neither an object nor a text.
    pub(crate) fn output_list(
        &self,
        list: &'a RawValue,
        part: &str,
        output: &mut Output,
        mut read: impl FnMut(&Members<'a>, Place, &mut Output),
    ) -> Result<bool, String> {
        let mut elements = self.objects(list);
        let mut has_texts = false;
        loop {
            if let Some(text) = elements.next_text() {
                has_texts = true;
                output.texts.push(text);
                continue;
            }
            match elements.next() {
                Some(Ok(object)) => read(&object.members, object.place, output),
                Some(Err(error)) => {
                    return Err(format!("{part}: {}", json::without_position(&error)));
                }
                None => return Ok(has_texts),
            }
        }
    }

    /// Whether the first text of an output begins like one that reports a failure.
    pub(crate) fn reports_failure(&self, output: &Output) -> bool {
        let first = output.texts.first();
        first.is_some_and(|text| Output::begins_like_a_failure(self.get(text)))
    }

    /// Where a value lies in the document.
    pub(crate) fn place(&self, raw: &RawValue) -> Place {
        let place = json::place_of(self.text, raw.get());
        self.offset + place.start..self.offset + place.end
    }

    /// What lies at a place.
    pub(crate) fn get(&self, place: &Place) -> &'a str {
        place
            .start
            .checked_sub(self.offset)
            .zip(place.end.checked_sub(self.offset))
            .and_then(|(start, end)| self.text.get(start..end))
            .unwrap_or_default()
    }
}

/// The members of the message with this number.
fn held(raw: &str, number: usize) -> Result<Members<'_>, ReadError> {
    let Held(members) = serde_json::from_str(raw).map_err(|error| ReadError::Message {
        number,
        what: json::without_position(&error),
    })?;
    Ok(members)
}

fn raw_list<'a>(document: &'a str, list: &'a str) -> Result<Vec<&'a RawValue>, ReadError> {
    serde_json::from_str(list).map_err(|error| ReadError::json(document, list, &error))
}

/// Which member holds the messages.
fn list_of(envelope: &Members<'_>, format: Option<Format>) -> Result<List, ReadError> {
    let there = |list: &List| envelope.get(list.key()).is_some();
    let found = List::IN_BODIES.into_iter().find(there);
    let Some(format) = format else {
        return found.ok_or_else(|| ReadError::NoMessages {
            hint: hint_for(envelope).to_owned(),
        });
    };
    let list = format.facts().list;
    if there(&list) {
        return Ok(list);
    }
    Err(ReadError::NoMessages {
        hint: match found {
            Some(other) => format!(
                "a request of {format} has them in `{}`, and this one has `{}`; name another format, or leave it out to have it detected",
                list.key(),
                other.key()
            ),
            None => hint_for(envelope).to_owned(),
        },
    })
}

/// What is wrong with the role of a message; `known` names the format and its roles. A role that
/// looks like one is quoted, anything else may be text of the conversation's.
pub(crate) fn no_role(members: &Members<'_>, known: &str) -> String {
    let Some(raw) = members.present("role") else {
        return format!("`role` is missing; expected a role of {known}");
    };
    if !json::is_text(raw.get()) {
        return format!("expected `role` to be a string: a role of {known}");
    }
    let role = json::decode(raw.get());
    let is_word = role.len() <= 16 && role.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if is_word && !role.is_empty() {
        format!("`{role}` is not a role of {known}")
    } else {
        format!("`role` is not a role of {known}")
    }
}

/// What a document without messages might be.
fn hint_for(envelope: &Members<'_>) -> &'static str {
    let is_response = ["choices", "stop_reason", "output", "candidates"]
        .iter()
        .any(|key| envelope.get(key).is_some());
    if is_response {
        "this looks like a response; give the request"
    } else {
        "give a request body (`messages`, `input` or `contents`), its list of messages, or the log of a session"
    }
}
