//! A conversation: read, divided into units, counted.

pub(crate) mod message;
mod unit;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub use message::Role;
pub use unit::{Traits, Unit, UnitKind};

use crate::formats::{Body, Format, Frame, Overhead, ReadError, ToolDefinition, Violation};
use crate::marks::{self, Opened, Purpose, SecretKey};
use crate::tokens::{Counts, PER_MESSAGE, Tokenizer};
use message::{Content, Message, Part, text_at};

/// The messages of one agent in one provider's wire format, read but unchanged.
///
/// Cheap to clone. Made by [`crate::Host::read`].
#[derive(Debug, Clone)]
pub struct Conversation {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    document: Arc<str>,
    format: Format,
    tokenizer: Tokenizer,
    key: SecretKey,
    frame: Frame,
    messages: Vec<Message>,
    counts: Vec<Counts>,
    units: Vec<Unit>,
    tools: Vec<ToolDefinition>,
    /// Tokens of the system prompt outside of the messages, of tools, and of instructions.
    overhead: u32,
    tokens: u32,
    violations: OnceLock<Vec<Violation>>,
    marks: OnceLock<MarkTokens>,
}

/// What the host's own marks cost, in tokens of this conversation's tokenizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkTokens {
    /// A mark and a message of its own, around an inserted text.
    pub(crate) insertion: u32,
    /// The note that opens a result where the format does not let the model begin; else 0.
    pub(crate) opening_note: u32,
}

impl Conversation {
    /// Reads `document`. Without a format it is detected; `tokenizer` gives the one for the
    /// model that the body names, which may be empty.
    pub(crate) fn read(
        document: Arc<str>,
        format: Option<Format>,
        tokenizer: impl FnOnce(&str) -> Tokenizer,
        key: &SecretKey,
    ) -> Result<Self, ReadError> {
        let body = Body::parse(&document)?;
        let format = format.unwrap_or_else(|| Format::detect(&body));
        let wire = format.wire();
        let messages = wire.messages(&body)?;
        let Overhead {
            texts,
            tools,
            tool_list,
        } = wire.overhead(&body);
        let model = body
            .member("model")
            .map(|model| crate::formats::json::decode(model.get()))
            .unwrap_or_default();
        let tokenizer = tokenizer(&model);
        let counts = tokenizer.count_messages(&document, &messages);
        let fixed = texts
            .iter()
            .chain(&tool_list)
            .map(|place| tokenizer.count(&text_at(&document, place)))
            .fold(0u32, u32::saturating_add);
        let reader = unit::Divider {
            document: &document,
            messages: &messages,
            counts: &counts,
            key,
        };
        let units = reader.units(&wire.unit_lengths(&messages));
        let overhead = sum(units
            .iter()
            .filter(|unit| unit.kind == UnitKind::Instructions))
        .saturating_add(fixed);
        let tokens = sum(&units).saturating_add(fixed);
        let frame = Frame::new(
            Arc::clone(&document),
            messages
                .iter()
                .map(|message| message.place.clone())
                .collect(),
        );
        Ok(Self {
            inner: Arc::new(Inner {
                document,
                format,
                tokenizer,
                key: key.clone(),
                frame,
                messages,
                counts,
                units,
                tools,
                overhead,
                tokens,
                violations: OnceLock::new(),
                marks: OnceLock::new(),
            }),
        })
    }

    /// Reads `document` as this conversation was read: same format, tokenizer and key.
    pub(crate) fn read_alike(&self, document: String) -> Result<Self, ReadError> {
        Self::read(
            document.into(),
            Some(self.format()),
            |_| self.tokenizer().clone(),
            &self.inner.key,
        )
    }

    /// The document that was read, byte for byte.
    #[must_use]
    pub fn document(&self) -> &str {
        &self.inner.document
    }

    /// The wire format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.inner.format
    }

    /// What counts its tokens.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.inner.tokenizer
    }

    /// The units, oldest first.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.inner.units
    }

    /// Tokens of the whole request.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.inner.tokens
    }

    /// Tokens that stay whatever is done: system prompt, tool definitions, and the units that
    /// are instructions.
    #[must_use]
    pub fn overhead(&self) -> u32 {
        self.inner.overhead
    }

    /// Pictures, documents and the like.
    #[must_use]
    pub fn media(&self) -> u32 {
        self.units().iter().map(|unit| unit.media).sum()
    }

    /// The rules of its format that the conversation breaks.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        self.inner.violations.get_or_init(|| {
            self.format()
                .wire()
                .violations(&self.inner.document, &self.inner.messages)
        })
    }

    /// The raw messages of a unit, as they stand in the document. None past the last unit.
    pub fn raw_messages(&self, unit: usize) -> impl Iterator<Item = &str> {
        self.messages(unit).iter().map(|message| self.raw(message))
    }

    /// The indices of the messages of a unit.
    pub(crate) fn message_range(&self, unit: usize) -> Range<usize> {
        self.units().get(unit).map_or(0..0, |unit| {
            unit.first_message..unit.first_message + unit.messages
        })
    }

    pub(crate) fn messages(&self, unit: usize) -> &[Message] {
        self.inner
            .messages
            .get(self.message_range(unit))
            .unwrap_or_default()
    }

    pub(crate) fn all_messages(&self) -> &[Message] {
        &self.inner.messages
    }

    /// Tokens of each part of the messages of a unit.
    pub(crate) fn counts(&self, unit: usize) -> &[Counts] {
        self.inner
            .counts
            .get(self.message_range(unit))
            .unwrap_or_default()
    }

    pub(crate) fn raw(&self, message: &Message) -> &str {
        self.inner
            .document
            .get(message.place.clone())
            .unwrap_or_default()
    }

    pub(crate) fn tools(&self) -> &[ToolDefinition] {
        &self.inner.tools
    }

    pub(crate) fn frame(&self) -> &Frame {
        &self.inner.frame
    }

    pub(crate) fn mark_tokens(&self) -> MarkTokens {
        *self.inner.marks.get_or_init(|| {
            let message = |purpose, by, text| {
                let marked = marks::wrap(self.key(), purpose, by, text);
                PER_MESSAGE + self.tokenizer().count(&marked)
            };
            MarkTokens {
                insertion: message(
                    Purpose::Summary,
                    "a-strategy-with-a-name-of-some-length",
                    "",
                ),
                opening_note: if self.format().wire().starts_with_user() {
                    message(Purpose::Note, marks::HOST, marks::LEFT_OUT)
                } else {
                    0
                },
            }
        })
    }

    pub(crate) fn key(&self) -> &SecretKey {
        &self.inner.key
    }

    /// The text at a place of the document.
    pub(crate) fn text(&self, place: &Range<usize>) -> Cow<'_, str> {
        text_at(&self.inner.document, place)
    }

    /// The text of a part that a compaction wrote, without its mark.
    pub(crate) fn opened(&self, part: &Part) -> Option<Opened> {
        opened(&self.inner.document, &self.inner.key, part)
    }
}

/// The mark of a part, if it holds one that verifies. Looks at the first bytes first, so that
/// it costs nothing where there is none.
fn opened(document: &str, key: &SecretKey, part: &Part) -> Option<Opened> {
    let place = match &part.content {
        Content::Text(place) => place,
        Content::Output(output) => output.texts.first()?,
        _ => return None,
    };
    let raw = document.get(place.clone())?;
    if !raw.strip_prefix('"')?.starts_with(marks::START) {
        return None;
    }
    marks::open(key, &text_at(document, place))
}

fn sum<'a>(units: impl IntoIterator<Item = &'a Unit>) -> u32 {
    units
        .into_iter()
        .fold(0, |sum, unit| sum.saturating_add(unit.tokens))
}
