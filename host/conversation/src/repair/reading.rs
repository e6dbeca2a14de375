//! A document on its way to be repaired: read, but not counted.

use std::sync::Arc;

use crate::conversation::Conversation;
use crate::deadline::Deadline;
use crate::formats::rules::units;
use crate::formats::{Body, Frame, Replacement, View, ViolationCounts, WireFormat, violations};
use crate::json::Place;
use crate::marks::{self, By, Purpose, SecretKey, Site};
use crate::model::document::Document;
use crate::model::envelope::Envelope;
use crate::model::format::Format;
use crate::model::message::{Message, Part, Role};
use crate::model::read_error::ReadError;

/// After how many messages the deadline is looked at again.
const MESSAGES: usize = 64;

/// What fixes look at.
pub(crate) struct Reading {
    pub(crate) document: Document,
    pub(crate) messages: Vec<Message>,
    pub(crate) envelope: Envelope,
    /// Number of messages of each unit.
    units: Vec<usize>,
    /// The number of each message in the conversation that came in; 0 for new ones.
    numbers: Vec<usize>,
    format: Format,
    key: SecretKey,
    pub(super) frame: Frame,
    pub(super) violations: ViolationCounts,
    /// When the repair has to end.
    deadline: Deadline,
}

impl Reading {
    /// Reads the document of a conversation again, as one piece.
    pub(super) fn of(conversation: &Conversation, deadline: &Deadline) -> Result<Self, ReadError> {
        let count = conversation.all_messages().len();
        let numbers = (0..count).map(|index| conversation.number(index)).collect();
        Self::read(
            conversation.format(),
            conversation.key().clone(),
            conversation.document(),
            numbers,
            deadline,
        )
    }

    /// The document after a fix.
    pub(super) fn again(&self, document: &str, numbers: Vec<usize>) -> Result<Self, ReadError> {
        Self::read(
            self.format,
            self.key.clone(),
            document,
            numbers,
            &self.deadline,
        )
    }

    fn read(
        format: Format,
        key: SecretKey,
        document: &str,
        numbers: Vec<usize>,
        deadline: &Deadline,
    ) -> Result<Self, ReadError> {
        let document: Arc<str> = document.into();
        let mut body = Body::parse(&document, Some(format))?;
        body.deadline = Some(deadline.clone());
        let wire = format.wire();
        let envelope = wire.envelope(&body);
        let frame = Frame::new(Arc::clone(&document), &body);
        let messages = wire.messages(&mut body)?;
        drop(body);
        let units = wire.unit_lengths(&messages);
        let bytes = document.len();
        let document = Document::new(document);
        let view = View {
            document: &document,
            messages: &messages,
            units: &units,
            envelope: &envelope,
            limits: format.limits(),
            bytes,
        };
        let violations = violations(format, &view).counts;
        Ok(Self {
            document,
            messages,
            envelope,
            units,
            numbers,
            format,
            key,
            frame,
            violations,
            deadline: deadline.clone(),
        })
    }

    pub(crate) fn wire(&self) -> &'static dyn WireFormat {
        self.format.wire()
    }

    /// The number of a message in the conversation that came in; 0 where it is new.
    pub(crate) fn number(&self, message: usize) -> usize {
        self.numbers.get(message).copied().unwrap_or_default()
    }

    /// All messages as JSON, each with its number.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        (0..self.messages.len()).map(|index| (self.number(index), self.message(index)))
    }

    /// Whether the repair has to end. What a fix did by then is thrown away.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_over()
    }

    /// The messages with their indices, as long as there is time.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &Message)> {
        let messages = self.messages.iter().enumerate();
        messages.take_while(move |(index, _)| !(index.is_multiple_of(MESSAGES) && self.is_late()))
    }

    /// Neighbouring messages with the index of the first one, as long as there is time.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, &Message, &Message)> {
        let later = self.messages.iter().skip(1);
        self.each()
            .zip(later)
            .map(|((index, message), next)| (index, message, next))
    }

    /// The units, each with the index of its first message, as long as there is time.
    pub(crate) fn units(&self) -> impl Iterator<Item = (usize, &[Message])> {
        units(&self.messages, &self.units).take_while(move |_| !self.is_late())
    }

    /// The bytes at a place.
    pub(crate) fn raw(&self, place: &Place) -> &str {
        self.document.at(place)
    }

    /// The bytes of a message.
    pub(crate) fn message(&self, message: usize) -> &str {
        self.messages
            .get(message)
            .map_or("", |message| self.raw(&message.place))
    }

    /// Where the value of the first of `keys` that is there lies, null included.
    pub(crate) fn member(&self, object: &Place, keys: &[&str]) -> Option<Place> {
        super::json::member(self.raw(object), object.start, keys)
    }

    /// How to take a member out of an object.
    pub(crate) fn without_member(&self, object: &Place, key: &str) -> Option<Replacement> {
        super::json::without_member(self.raw(object), object.start, key)
    }

    /// How to give an object a further member, as JSON.
    pub(crate) fn with_member(
        &self,
        object: &Place,
        key: &str,
        value: &str,
    ) -> Option<Replacement> {
        super::json::with_member(self.raw(object), object.start, key, value)
    }

    /// How to give an object's member a value, whether it is there or not.
    pub(crate) fn set_member(&self, object: &Place, key: &str, value: &str) -> Option<Replacement> {
        match self.member(object, &[key]) {
            Some(place) => Some(Replacement::of(place, value)),
            None => self.with_member(object, key, value),
        }
    }

    /// The parts of a message that are elements of its list, by index.
    pub(crate) fn elements<'m>(
        &self,
        message: &'m Message,
    ) -> impl Iterator<Item = (usize, &'m Part)> + Clone {
        let list = message
            .content
            .clone()
            .filter(|list| self.raw(list).starts_with('['))
            .unwrap_or_default();
        message
            .parts
            .iter()
            .enumerate()
            .filter(move |(_, part)| list.start < part.place.start && part.place.end < list.end)
    }

    /// `text` as a note of the host's own, for a message of this role.
    pub(super) fn note(&self, role: Role, text: &str) -> String {
        let site = role.site().unwrap_or(Site::User);
        marks::wrap(&self.key, Purpose::Note, site, By::Host, text)
    }

    /// `text` as a note of the host's own, for any output.
    pub(crate) fn output_note(&self, text: &str) -> String {
        marks::wrap(&self.key, Purpose::Note, Site::Output(""), By::Host, text)
    }
}
