//! From a document to a conversation.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::pictures::Pictures;
use super::{Conversation, Inner, Reported, Totals};
use crate::conversation::repair_history::RepairHistory;
use crate::deadline::Deadline;
use crate::formats::{Asked, Body, Frame};
use crate::marks::SecretKey;
use crate::model::document::Document;
use crate::model::format::Format;
use crate::model::message::{Content, Role};
use crate::model::read_error::ReadError;
use crate::model::unit::UnitKind;
use crate::tokens::{Counts, Tokenizer};

/// Told how much was done of how much, in bytes of messages.
pub(crate) type Progress<'a> = &'a dyn Fn(usize, usize);

/// How a request body is to be read.
pub(crate) struct BodyReader<'a> {
    /// Found out where there is none.
    pub(crate) format: Option<Format>,
    /// The tokenizer for the model that the body names, which may be empty.
    pub(crate) tokenizer: &'a dyn Fn(&str) -> Tokenizer,
    pub(crate) key: &'a SecretKey,
    /// What a provider said of its size.
    pub(crate) reported: Option<Reported>,
    pub(crate) progress: Option<Progress<'a>>,
    /// When reading has to end.
    pub(crate) deadline: Option<&'a Deadline>,
}

impl BodyReader<'_> {
    pub(crate) fn read(&self, document: Arc<str>) -> Result<Conversation, ReadError> {
        let mut body = Body::parse(&document, self.format)?;
        let format = self.format.unwrap_or_else(|| Format::detect(&body));
        let wire = format.wire();
        body.deadline = self.deadline.cloned();
        let mut envelope = wire.envelope(&body);
        let frame = Frame::new(Arc::clone(&document), &body);
        let messages = wire.messages(&mut body)?;
        envelope.model = body.model().into_owned();
        let tokenizer = (self.tokenizer)(&envelope.model);
        let bytes = document.len();
        drop(body);
        let mut inner = Inner {
            document: Document::new(document),
            format,
            tokenizer,
            key: self.key.clone(),
            frame,
            envelope,
            messages,
            counts: Vec::new(),
            units: Vec::new(),
            totals: Totals {
                bytes,
                ..Totals::default()
            },
            pictures: Pictures::default(),
            log: None,
            sent: None,
            repair_history: None,
            written: OnceLock::new(),
            named: None,
            asked: Asked::default(),
            violations: OnceLock::new(),
            marks: OnceLock::new(),
        };
        inner.note_pictures(0);
        inner.count(self.progress, self.deadline)?;
        if let Some(reported) = self.reported {
            inner.anchor(reported);
        }
        inner.divide();
        Ok(Conversation {
            inner: Arc::new(inner),
        })
    }
}

impl Conversation {
    /// Reads a result of this conversation as it was read itself: same format, tokenizer and
    /// key, the same tokens beside the messages, and the same recorded summaries.
    #[doc(hidden)]
    pub fn read_alike(
        &self,
        document: String,
        deadline: Option<&Deadline>,
    ) -> Result<Self, ReadError> {
        let mut read = BodyReader {
            format: Some(self.format()),
            tokenizer: &|_| self.tokenizer().clone(),
            key: &self.inner.key,
            reported: None,
            progress: None,
            deadline,
        }
        .read(document.into())?;
        if let Some(inner) = Arc::get_mut(&mut read.inner) {
            inner.totals.fixed = self.inner.totals.fixed;
            inner.know_summaries_of(&self.inner);
        }
        let late = self.late_results();
        if late.is_empty() {
            return Ok(read);
        }
        // They stay as they are, byte for byte.
        let raw = |of: &Self, index: usize| of.raw(&of.inner.messages[index]).to_owned();
        let texts: HashSet<String> = late.into_iter().map(|index| raw(self, index)).collect();
        let all = 0..read.inner.messages.len();
        let still: Vec<usize> = all
            .filter(|index| texts.contains(read.raw(&read.inner.messages[*index])))
            .collect();
        Ok(read.with_late_results(&still))
    }

    /// The same, with these messages known to hold outputs that the model has not answered, although an answer stands
    /// behind them. A request cannot show that.
    pub(crate) fn with_late_results(mut self, indices: &[usize]) -> Self {
        if !indices.is_empty() {
            let inner = Arc::make_mut(&mut self.inner);
            for index in indices {
                if let Some(message) = inner.messages.get_mut(*index) {
                    message.is_late = true;
                }
            }
        }
        self
    }

    /// The messages, by index, with outputs that the model has not answered, although an answer stands behind them;
    /// none once it has answered what was appended.
    #[must_use]
    pub fn late_results(&self) -> Vec<usize> {
        let messages = self.inner.messages.iter().enumerate();
        let late = messages.filter(|(_, message)| message.is_late);
        let late: Vec<usize> = late.map(|(index, _)| index).collect();
        if late.is_empty() || self.answered() > self.messages_read() {
            return Vec::new();
        }
        late
    }

    /// The same, with these messages known as summaries of another program's, as its log says. They
    /// are texts of the user's role.
    pub fn with_recorded_summaries(mut self, indices: &[usize]) -> Self {
        if !indices.is_empty() {
            let inner = Arc::make_mut(&mut self.inner);
            for index in indices {
                if let Some(message) = inner.messages.get_mut(*index) {
                    let is_text = matches!(&*message.parts, [part] if matches!(part.content, Content::Text(_)));
                    message.is_recorded_summary = is_text && message.role == Role::User;
                }
            }
            inner.divide();
        }
        self
    }

    /// The messages, by index, that are summaries which another program wrote, as a log or the caller
    /// said. A document that was made of a log marks them as such, so that they are summaries wherever it
    /// is read; in one that a caller told of, nothing tells them from what the user said.
    #[must_use]
    pub fn recorded_summaries(&self) -> Vec<usize> {
        let messages = self.inner.messages.iter().enumerate();
        let recorded = messages.filter(|(_, message)| message.is_recorded_summary);
        recorded.map(|(index, _)| index).collect()
    }

    /// The same for a result in which messages were repaired. Where it came from stays known, and
    /// so does what the provider has seen, up to the first message that changed.
    pub(crate) fn read_repaired(
        &self,
        document: String,
        repair_history: RepairHistory,
        deadline: &Deadline,
    ) -> Result<Self, ReadError> {
        let mut read = self.read_alike(document, Some(deadline))?;
        let sent = self.inner.sent;
        let unchanged = sent.map(|sent| sent.min(read.messages_unchanged_since(self)));
        if let Some(inner) = Arc::get_mut(&mut read.inner) {
            inner.log = self.inner.log;
            inner.sent = unchanged;
            inner.repair_history = Some(Arc::new(repair_history));
        }
        Ok(read)
    }
}

#[cfg(test)]
impl Conversation {
    /// Reads a document of a test.
    pub(crate) fn of(document: &str, format: Option<Format>) -> Result<Self, ReadError> {
        BodyReader {
            format,
            tokenizer: &Tokenizer::for_model,
            key: &SecretKey::new([1; 32]),
            reported: None,
            progress: None,
            deadline: None,
        }
        .read(document.into())
    }
}

impl Inner {
    /// Knows the recorded summaries of another conversation that were kept, byte for byte.
    fn know_summaries_of(&mut self, other: &Self) {
        let recorded = other.messages.iter();
        let recorded = recorded.filter(|message| message.is_recorded_summary);
        let texts: HashSet<&str> = recorded
            .filter_map(|message| other.document.get(message.place.clone()))
            .collect();
        if texts.is_empty() {
            return;
        }
        for message in &mut self.messages {
            let raw = self.document.get(message.place.clone());
            message.is_recorded_summary = raw.is_some_and(|raw| texts.contains(raw));
        }
        self.divide();
    }

    /// Counts all messages and what stands beside them.
    fn count(
        &mut self,
        progress: Option<Progress<'_>>,
        deadline: Option<&Deadline>,
    ) -> Result<(), ReadError> {
        let lengths = self.messages.iter().map(|own| own.place.len());
        let total: usize = lengths.sum();
        let mut done = 0;
        self.counts = self
            .messages
            .iter()
            .map(|message| {
                if deadline.is_some_and(Deadline::is_over) {
                    return Err(ReadError::OutOfTime);
                }
                let counts = self.tokenizer.count_message(&self.document, message);
                done += message.place.len();
                if let Some(progress) = progress {
                    progress(done, total);
                }
                Ok(counts)
            })
            .collect::<Result<_, _>>()?;
        self.totals.fixed = self.fixed();
        Ok(())
    }

    /// Tokens of what stands beside the messages.
    pub(super) fn fixed(&self) -> u32 {
        self.envelope
            .texts
            .iter()
            .chain(&self.envelope.tool_list)
            .map(|place| self.tokenizer.count(&super::text_at(&self.document, place)))
            .fold(0, u32::saturating_add)
    }

    /// Divides all messages into units.
    pub(super) fn divide(&mut self) {
        let lengths = self.format.wire().unit_lengths(&self.messages);
        self.totals = Totals {
            fixed: self.totals.fixed,
            bytes: self.totals.bytes,
            ..Totals::default()
        };
        self.units.clear();
        self.add_units(&lengths);
    }

    /// Divides the messages after the last unit into units of these lengths.
    pub(super) fn add_units(&mut self, lengths: &[usize]) {
        let (mut at, mut turn) = self
            .units
            .last()
            .map_or((0, 0), |last| (last.end(), last.turn));
        // As many at once: to grow would take their memory twice.
        self.units.reserve_exact(lengths.len());
        for length in lengths {
            let unit = self.unit(at, *length, &mut turn);
            at += length;
            self.totals.units = self.totals.units.saturating_add(unit.tokens);
            self.totals.media = self.totals.media.saturating_add(unit.media);
            if unit.kind == UnitKind::Instructions {
                self.totals.instructions = self.totals.instructions.saturating_add(unit.tokens);
            }
            self.units.push(unit);
        }
    }

    /// Takes the last unit back.
    pub(super) fn remove_unit(&mut self) {
        let Some(unit) = self.units.pop() else {
            return;
        };
        self.totals.units = self.totals.units.saturating_sub(unit.tokens);
        self.totals.media = self.totals.media.saturating_sub(unit.media);
        if unit.kind == UnitKind::Instructions {
            self.totals.instructions = self.totals.instructions.saturating_sub(unit.tokens);
        }
    }

    pub(super) fn total_of(&self, counts: &[Counts]) -> u32 {
        let per_message = self.tokenizer.per_message();
        counts.iter().fold(0, |sum, counts| {
            sum.saturating_add(counts.total(per_message))
        })
    }
}
