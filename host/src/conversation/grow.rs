//! A conversation that grows: a step of the agent's costs by what was appended to it.

use std::sync::Arc;

use super::message::{Call, Content, Message};
use super::{Conversation, Inner, Unit};
use crate::formats::{Body, ReadError};

impl Conversation {
    /// Appends one message (an item, for OpenAI Responses; a content, for Gemini), as JSON in
    /// the conversation's wire format. It is kept byte for byte.
    ///
    /// Units, counts and traits are up to date afterwards. The cost goes by the message and the
    /// unit that it belongs to, not by the length of the conversation; the first call while a
    /// snapshot is alive copies what is known of the messages, once.
    ///
    /// # Errors
    /// It is no JSON object or no message of this format; then nothing has changed.
    pub fn append(&mut self, message: &str) -> Result<(), ReadError> {
        let piece: Arc<str> = message.trim().into();
        let number = self.inner.messages.len() + 1;
        let offset = self.inner.document.end();
        let body = Body::piece(&piece, offset)?;
        let wire = self.inner.format.wire();
        let mut message = match body.messages.first() {
            Some(raw) => wire
                .message(&body, raw)
                .map_err(|what| ReadError::Message { number, what })?,
            None => return Ok(()),
        };
        drop(body);
        let inner = Arc::make_mut(&mut self.inner);
        inner.name_outputs(&mut message);
        inner.totals.bytes += piece.len() + inner.frame.between(inner.messages.len());
        inner.document.append(piece);
        let counts = inner.tokenizer.count_message(&inner.document, &message);
        let reopened = wire.reopens(&inner.messages, &inner.units, &message);
        while inner.units.len() > reopened {
            inner.remove_unit();
        }
        let at = inner.units.last().map_or(0, Unit::end);
        inner.messages.push(message);
        inner.counts.push(counts);
        let lengths = wire.unit_lengths(&inner.messages[at..]);
        inner.add_units(&lengths);
        inner.written.take();
        inner.violations.take();
        Ok(())
    }

    /// Notes that the provider has seen the conversation as it is now: what stays unchanged
    /// from its beginning on can come from the provider's cache.
    pub fn mark_sent(&mut self) {
        let messages = self.inner.messages.len();
        Arc::make_mut(&mut self.inner).sent = Some(messages);
    }

    /// How many leading messages are the same as in `before` to the provider (its marks for the
    /// cache are no difference), where all that stands around the messages is the same too.
    #[must_use]
    pub fn messages_unchanged_since(&self, before: &Self) -> usize {
        if !self.inner.frame.is_alike(&before.inner.frame) {
            return 0;
        }
        let wire = self.inner.format.wire();
        self.inner
            .messages
            .iter()
            .zip(&before.inner.messages)
            .take_while(|(own, other)| wire.is_alike(self.raw(own), before.raw(other)))
            .count()
    }

    /// Notes how many leading messages the provider has seen as they are.
    pub fn mark_sent_up_to(&mut self, messages: usize) {
        let messages = messages.min(self.inner.messages.len());
        Arc::make_mut(&mut self.inner).sent = Some(messages);
    }

    /// Leading units that the provider has seen as they are; none where that is not known.
    #[must_use]
    pub fn units_sent(&self) -> Option<usize> {
        let sent = self.inner.sent?;
        Some(self.units().partition_point(|unit| unit.end() <= sent))
    }

    /// Leading units that are in the provider's cache: as the caller says, or as far as they
    /// were sent.
    pub(crate) fn units_cached(&self, said: Option<u32>) -> usize {
        let said = said.map(|units| units as usize);
        said.or(self.units_sent())
            .unwrap_or(0)
            .min(self.units().len())
    }

    /// Tokens of the request that are in the provider's cache, with what stands in front of the
    /// messages.
    pub(crate) fn tokens_cached(&self, said: Option<u32>) -> u32 {
        match self.units_cached(said) {
            0 => 0,
            // The usual case, and the one that has to be quick: all was sent.
            all if all == self.units().len() => self.tokens(),
            some => {
                // The rest is short, as long as all that is new was appended.
                let rest = self.units()[some..]
                    .iter()
                    .fold(0u32, |sum, unit| sum.saturating_add(unit.tokens));
                self.tokens().saturating_sub(rest)
            }
        }
    }

    /// Notes how many leading messages a result of this conversation shares with what was sent.
    pub(crate) fn with_sent(mut self, messages: Option<usize>) -> Self {
        Arc::make_mut(&mut self.inner).sent = messages;
        self
    }
}

impl Inner {
    /// Gives outputs the name of the tool whose call they answer. The call is nearly always one
    /// of the last messages.
    fn name_outputs(&self, message: &mut Message) {
        for part in &mut message.parts {
            let Content::Output(output) = &mut part.content else {
                continue;
            };
            if output.call_id.is_empty() {
                continue;
            }
            let id = &output.call_id;
            let newest_first = || self.messages.iter().rev();
            let mut of_item = newest_first()
                .filter(|message| message.id.as_ref() == Some(id))
                .flat_map(Message::calls);
            let call = self.nearest_open(id).or_else(|| of_item.next());
            if let Some(call) = call {
                output.answer(&call.id, &call.name);
            }
        }
    }

    /// The nearest call of an id without an output; else the nearest one.
    fn nearest_open(&self, id: &str) -> Option<&Call> {
        let mut outputs = 0;
        let mut newest = None;
        for part in self
            .messages
            .iter()
            .rev()
            .flat_map(|own| own.parts.iter().rev())
        {
            match &part.content {
                Content::Output(output) if output.call_id == id => outputs += 1,
                Content::Call(call) if call.id == id => {
                    newest.get_or_insert(call);
                    if outputs == 0 {
                        return Some(call);
                    }
                    outputs -= 1;
                }
                _ => {}
            }
        }
        newest
    }
}
