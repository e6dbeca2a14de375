//! A conversation: read, divided into units, counted; and growing.

mod anchor;
mod answer;
mod divide;
mod grow;
mod known;
mod pictures;
mod prefixes;
pub(crate) mod repair_history;
mod read;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use baler_provenance::without_headings;

pub(crate) use anchor::Reported;
pub use known::Known;
pub use prefixes::{NoPrefix, Prefix};
pub(crate) use read::BodyReader;

use crate::conversation::repair_history::RepairHistory;
use crate::formats::{Asked, Found, Frame, Named, View, ViolationCounts, unmarked, violations};
use crate::json;
use crate::marks::{self, By, Opened, Purpose, SecretKey};
use crate::model::document::Document;
use crate::model::envelope::{Envelope, ToolDefinition};
use crate::model::format::Format;
use crate::model::log::{LogFacts, LogKind};
use crate::model::message::{Content, Message, Part, Role, text_at};
use crate::model::rule::{Rule, Violation};
use crate::model::unit::Unit;
use crate::tokens::{Counts, Tokenizer};

/// The messages of one agent in one provider's wire format.
///
/// Made by [`crate::Reader::read`]; [`Conversation::append`] adds what comes later. A clone is a
/// snapshot: it costs next to nothing, shares all there is, can be sent to another thread, and
/// does not change when the original goes on.
#[derive(Debug, Clone)]
pub struct Conversation {
    inner: Arc<Inner>,
}

#[derive(Debug, Clone)]
struct Inner {
    document: Document,
    format: Format,
    tokenizer: Tokenizer,
    key: SecretKey,
    frame: Frame,
    envelope: Envelope,
    messages: Vec<Message>,
    counts: Vec<Counts>,
    units: Vec<Unit>,
    totals: Totals,
    pictures: pictures::Pictures,
    /// The log that it was read from, and what was found in there.
    log: Option<(LogKind, LogFacts)>,
    /// Leading messages that the provider has seen as they are, if that is known.
    sent: Option<usize>,
    /// The repairs that made it, if there were any.
    repair_history: Option<Arc<RepairHistory>>,
    /// The whole document, once somebody asked for it after messages were appended.
    written: OnceLock<Arc<str>>,
    /// The calls that what is appended may answer, once an output was appended.
    named: Option<Named>,
    /// What the format looked up when messages were appended.
    asked: Asked,
    violations: OnceLock<Found>,
    marks: OnceLock<MarkTokens>,
}

/// Sums over a conversation, kept up to date while it grows.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    /// Tokens outside of the messages: system prompt, tools, and what was reported beyond what
    /// the document shows.
    fixed: u32,
    /// Tokens of the units that are instructions.
    instructions: u32,
    /// Tokens of all units.
    units: u32,
    media: u32,
    /// Bytes of the document.
    bytes: usize,
}

/// What the host's own marks cost, in tokens of this conversation's tokenizer.
#[derive(Debug, Clone, Copy)]
pub struct MarkTokens {
    /// A mark and a message of its own, around the text that a strategy with a name of ordinary
    /// length inserts.
    pub insertion: u32,
    /// The note that opens a result where the format does not let the model begin; else 0.
    pub opening_note: u32,
}

impl Conversation {
    /// The document: as it was read, byte for byte, and with what was appended since.
    #[must_use]
    pub fn document(&self) -> &str {
        let inner = &*self.inner;
        if !inner.document.has_grown() {
            return inner.document.read();
        }
        inner.written.get_or_init(|| {
            let own = self.messages_read();
            let appended = inner.messages[own..]
                .iter()
                .map(|message| self.raw(message));
            inner.frame.write_behind(own, appended).into()
        })
    }

    /// Returns where each message stands in [`Conversation::document`], in order. An entry is `None`
    /// if the message stands there in another form, as an `input` that is a text does once messages
    /// were appended.
    #[must_use]
    pub fn message_places(&self) -> Vec<Option<Range<usize>>> {
        let inner = &*self.inner;
        let (read, appended) = inner.messages.split_at(self.messages_read());
        let is_rewritten = inner.frame.is_single && !appended.is_empty();
        let read_places = read
            .iter()
            .map(|message| (!is_rewritten).then(|| message.place.clone()));
        let lengths = appended.iter().map(|message| message.place.len());
        let appended_places = inner.frame.places_behind(read.len(), lengths);
        read_places
            .chain(appended_places.into_iter().map(Some))
            .collect()
    }

    /// Number of messages that were read; the others were appended.
    pub(super) fn messages_read(&self) -> usize {
        let read = self.inner.document.read().len();
        let messages = &self.inner.messages;
        messages.partition_point(|message| message.place.start < read)
    }

    /// The wire format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.inner.format
    }

    /// Returns the tokenizer.
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
        let totals = &self.inner.totals;
        totals.units.saturating_add(totals.fixed)
    }

    /// Tokens that stay whatever is done: system prompt, tool definitions, and the units that
    /// are instructions.
    #[must_use]
    pub fn overhead(&self) -> u32 {
        let totals = &self.inner.totals;
        totals.instructions.saturating_add(totals.fixed)
    }

    /// The log that it was read from, and what was found in there; none for a request body.
    #[must_use]
    pub fn log(&self) -> Option<(LogKind, LogFacts)> {
        self.inner.log
    }

    /// Returns the conversation with the log that it was read from.
    #[must_use]
    pub fn of_log(mut self, kind: LogKind, facts: LogFacts) -> Self {
        Arc::make_mut(&mut self.inner).log = Some((kind, facts));
        self
    }

    pub(crate) fn repair_history(&self) -> Option<&RepairHistory> {
        self.inner.repair_history.as_deref()
    }

    /// Returns the conversation without its record of repairs.
    pub fn without_repairs(mut self) -> Self {
        if self.inner.repair_history.is_some() {
            Arc::make_mut(&mut self.inner).repair_history = None;
        }
        self
    }

    /// Bytes of the document.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.inner.totals.bytes
    }

    /// Pictures, documents and the like.
    #[must_use]
    pub fn media(&self) -> u32 {
        self.inner.totals.media
    }

    /// The rules of its format that the conversation breaks, by message and rule. Of more than
    /// [`MAX_LISTED`](crate::listed::MAX_LISTED) places the first are listed, errors before warnings;
    /// [`Conversation::violation_counts`] knows of all.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.found().listed
    }

    /// At how many places it breaks rules.
    #[must_use]
    pub fn violation_counts(&self) -> &ViolationCounts {
        &self.found().counts
    }

    /// All that it is warned of, each once.
    pub fn warned(&self) -> &BTreeSet<(Rule, &'static str)> {
        &self.found().warned
    }

    fn found(&self) -> &Found {
        let inner = &*self.inner;
        inner.violations.get_or_init(|| {
            let lengths: Vec<usize> = inner.units.iter().map(|unit| unit.messages).collect();
            let view = View {
                document: &inner.document,
                messages: &inner.messages,
                units: &lengths,
                envelope: &inner.envelope,
                limits: inner.format.limits(),
                bytes: inner.totals.bytes,
            };
            violations(inner.format, &view)
        })
    }

    /// Violations for which its provider refuses the request, whatever is left out, as far as they are
    /// listed; where there is one, one is. What is merely too large, a compaction reduces; a warning is
    /// no reason to leave a conversation alone.
    pub fn broken(&self) -> impl Iterator<Item = &Violation> {
        self.violations().iter().filter(|own| own.is_fatal())
    }

    /// Whether there is such a violation.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.violation_counts().fatal() > 0
    }

    /// The raw messages of a unit, as they stand in the document. None past the last unit.
    pub fn raw_messages(&self, unit: usize) -> impl Iterator<Item = &str> {
        self.messages(unit).iter().map(|message| self.raw(message))
    }

    /// How many messages there are.
    pub fn message_count(&self) -> usize {
        self.inner.messages.len()
    }

    /// The indices of the messages of a unit.
    pub fn message_range(&self, unit: usize) -> Range<usize> {
        let unit = self.units().get(unit);
        unit.map_or(0..0, |unit| unit.first_message..unit.end())
    }

    /// Returns the index of the unit that holds a message; the number of units if the message does not exist.
    #[must_use]
    pub fn unit_of(&self, message: usize) -> usize {
        let units = self.units();
        units.partition_point(|unit| unit.end() <= message)
    }

    /// The messages of a unit; none past the last unit.
    pub fn messages(&self, unit: usize) -> &[Message] {
        let all = &self.inner.messages;
        all.get(self.message_range(unit)).unwrap_or_default()
    }

    /// The messages of all units.
    pub fn all_messages(&self) -> &[Message] {
        &self.inner.messages
    }

    /// Tokens of each part of the messages of a unit.
    pub fn counts(&self, unit: usize) -> &[Counts] {
        let all = &self.inner.counts;
        all.get(self.message_range(unit)).unwrap_or_default()
    }

    /// Tokens of the text of a part, given by message and part of its unit, without what else it
    /// holds.
    pub fn text_tokens(&self, unit: usize, (message, part): (usize, usize)) -> u32 {
        let messages = self.messages(unit);
        let own = messages.get(message).and_then(|own| own.parts.get(part));
        match own.map(|part| &part.content) {
            Some(Content::Output(output)) if !output.others.is_empty() => {
                self.tokenizer().count(&output.text(self.source()))
            }
            _ => self
                .counts(unit)
                .get(message)
                .and_then(|counts| counts.parts.get(part).copied())
                .unwrap_or(0),
        }
    }

    /// The JSON of a message.
    pub fn raw(&self, message: &Message) -> &str {
        self.source().at(&message.place)
    }

    /// The JSON of a message without its marks for the provider's cache.
    #[doc(hidden)]
    #[must_use]
    pub fn unmarked(&self, message: &Message) -> Cow<'_, str> {
        unmarked(self.raw(message))
    }

    /// The name of the tool that retrieves what a mark of this purpose stands for, if the request offers it.
    pub fn retrieval_tool(&self, purpose: Purpose) -> Option<&str> {
        match purpose {
            Purpose::Summary => self.inner.envelope.retrieval_tool(),
            Purpose::Note | Purpose::Rewritten | Purpose::Excerpt => None,
        }
    }

    /// The definitions of its tools.
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.inner.envelope.tools
    }

    /// Returns the members of the request other than its messages.
    pub fn envelope(&self) -> &Envelope {
        &self.inner.envelope
    }

    /// Whether the request asks its provider to compact it: then the provider has to see all of it.
    pub fn asks_to_compact(&self) -> bool {
        let last = self.all_messages().last();
        self.envelope().asks_to_compact || last.is_some_and(Message::asks_to_compact)
    }

    /// The text that places lie in.
    pub fn source(&self) -> &Document {
        &self.inner.document
    }

    /// What stands around its messages.
    pub fn frame(&self) -> &Frame {
        &self.inner.frame
    }

    /// What the host's own marks cost in it.
    pub fn mark_tokens(&self) -> MarkTokens {
        *self.inner.marks.get_or_init(|| MarkTokens {
            insertion: self.insertion_tokens("a-strategy-with-a-name-of-some-length"),
            opening_note: if self.format().alternates() {
                self.marked_tokens(Purpose::Note, By::Host, marks::LEFT_OUT)
            } else {
                0
            },
        })
    }

    /// Returns the tokens that the mark of the strategy called `name`, and a message of its own, add
    /// to an inserted text.
    #[must_use]
    pub fn insertion_tokens(&self, name: &str) -> u32 {
        self.marked_tokens(Purpose::Summary, By::Strategy(name), "")
    }

    fn marked_tokens(&self, purpose: Purpose, by: By<'_>, text: &str) -> u32 {
        // The seal of a mark differs with its text, and so does what it takes.
        let marked = marks::wrap_longest(purpose, by, self.retrieval_tool(purpose), text);
        self.tokenizer().per_message() + self.tokenizer().count(&marked)
    }

    /// Whether a unit is of instructions that stand only after a turn of the user.
    pub fn is_movable(&self, unit: usize) -> bool {
        let first = self.messages(unit).first();
        first.is_some_and(|message| self.moves(message))
    }

    /// The same of a message.
    #[doc(hidden)]
    pub fn moves(&self, message: &Message) -> bool {
        message.role.instructs() && self.format().facts().moves_instructions
    }

    /// Whether such instructions may come after a unit.
    pub fn takes_instructions_behind(&self, unit: usize) -> bool {
        let last = self.messages(unit).last();
        last.is_some_and(Message::takes_instructions_behind)
    }

    /// Whether a unit begins with what the model said.
    pub fn begins_with_model(&self, unit: usize) -> bool {
        self.first_role(unit) == Some(Role::Assistant)
    }

    /// The role in which the host has to put a note of its own before a unit, where the unit
    /// `before` comes to come before it, or none. Neither is a movable instruction; `between` says
    /// whether such stand between them. `None` if no note is needed.
    pub fn needs_note(&self, before: Option<usize>, unit: usize, between: bool) -> Option<Role> {
        if !self.format().alternates() {
            return None;
        }
        let first = self.first_role(unit);
        if between && first == Some(Role::Assistant) {
            let needs = before.is_none_or(|before| !self.takes_instructions_behind(before));
            return needs.then_some(Role::User);
        }
        match before {
            None => {
                let stands_first = self
                    .messages(unit)
                    .first()
                    .is_some_and(Message::has_compaction);
                (first != Some(Role::User) && !stands_first).then_some(Role::User)
            }
            // Neighbours that came in as such are the provider's own business.
            Some(before) => {
                let has_gap = (before + 1..unit).any(|gone| !self.is_movable(gone));
                let parting = || self.parting_role(self.last_role(before)?, first?);
                has_gap.then(parting).flatten()
            }
        }
    }

    /// The role of the note that has to part a message of role `next` from one of role `before`; `None` if the
    /// format lets them follow one another.
    pub fn parting_role(&self, before: Role, next: Role) -> Option<Role> {
        let format = self.format();
        match (before, next) {
            (Role::Assistant, Role::Assistant) if format.alternates() => Some(Role::User),
            (Role::User, Role::User) if format.parts_users() => Some(Role::Assistant),
            _ => None,
        }
    }

    /// The role of the first message of a unit.
    pub fn first_role(&self, unit: usize) -> Option<Role> {
        self.messages(unit).first().map(|message| message.role)
    }

    /// The role of the last message of a unit.
    pub fn last_role(&self, unit: usize) -> Option<Role> {
        self.messages(unit).last().map(|message| message.role)
    }

    /// The key of its marks.
    pub fn key(&self) -> &SecretKey {
        &self.inner.key
    }

    /// The text at a place of the document.
    pub fn text(&self, place: &Range<usize>) -> Cow<'_, str> {
        text_at(&self.inner.document, place)
    }

    /// The text of a part that a compaction wrote, of baler's or of a log's program, without its mark.
    pub fn opened(&self, message: &Message, part: &Part) -> Option<Opened> {
        opened(&self.inner.document, &self.inner.key, message, part)
    }

    /// The same, or a summary of another program's, as the caller said. Nobody vouches for that, so no line of
    /// it passes for a heading of a digest, under which it could speak for the user.
    pub fn earlier(&self, message: &Message, part: &Part) -> Option<Opened> {
        match (self.opened(message, part), &part.content) {
            (None, Content::Text(place)) if message.is_recorded_summary => Some(Opened {
                purpose: Purpose::Summary,
                is_sealed: false,
                text: without_headings(&self.text(place)),
            }),
            (opened, _) => opened,
        }
    }
}

/// Whether a message of the model's role is a note of the host's, which spoke for the model where the user's
/// messages may not follow one another.
fn is_note_for_model(document: &Document, key: &SecretKey, message: &Message) -> bool {
    let is_note = |part: &Part| {
        opened(document, key, message, part).is_some_and(|own| own.purpose == Purpose::Note)
    };
    message.role == Role::Assistant && matches!(message.parts.as_slice(), [only] if is_note(only))
}

/// The mark of a part, if it holds one that verifies where it stands. Looks at the first characters
/// first, however they are spelled, so that it costs nothing where there is none.
fn opened(document: &Document, key: &SecretKey, message: &Message, part: &Part) -> Option<Opened> {
    let place = match &part.content {
        Content::Text(place) => place,
        Content::Output(output) => match output.texts.as_slice() {
            [only] => only,
            // A mark is all of what it stands for; beside it somebody else could speak.
            _ => return None,
        },
        _ => return None,
    };
    if message.is_closed(part) {
        return None;
    }
    let site = message.site(part)?;
    let raw = document.get(place.clone())?;
    if !marks::may_begin_a_mark(json::chars(raw)) {
        return None;
    }
    marks::open(key, site, &text_at(document, place))
}
