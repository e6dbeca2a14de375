//! What a fix wants changed, and the document with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Reading;
use super::answers::{NOBODY_ANSWERED, NOBODY_SPOKE};
use super::json::without_elements;
use crate::formats::{self, Replacement};
use crate::model::message::Role;
use crate::model::repair::Repairs;
use crate::model::rule::Rule;

/// What is said of a message before which a note of the host was added.
const NOTED: &str = "a note of the host was added before it";

/// Changes of a reading.
pub(crate) struct Draft<'r> {
    reading: &'r Reading,
    rule: Rule,
    edits: HashMap<usize, Vec<Replacement>>,
    gone: HashSet<usize>,
    /// Messages that come before the one with this index.
    added: BTreeMap<usize, Vec<Piece<'r>>>,
    repairs: Repairs,
}

/// A message that comes somewhere else than it stood, or is new.
struct Piece<'r> {
    number: usize,
    json: Cow<'r, str>,
}

impl<'r> Draft<'r> {
    pub(super) fn new(reading: &'r Reading, rule: Rule) -> Self {
        Self {
            reading,
            rule,
            edits: HashMap::new(),
            gone: HashSet::new(),
            added: BTreeMap::new(),
            repairs: Repairs::default(),
        }
    }

    /// Notes what was done to the message with this index.
    pub(crate) fn did(&mut self, message: usize, what: &'static str) {
        let number = self.reading.number(message);
        self.repairs.push(self.rule, number, what);
    }

    /// Replaces a place inside of a message.
    pub(crate) fn edit(&mut self, message: usize, replacement: Replacement) {
        self.edits.entry(message).or_default().push(replacement);
    }

    /// The same, and notes it, if there is something to replace.
    pub(crate) fn change(
        &mut self,
        message: usize,
        replacement: impl Into<Option<Replacement>>,
        what: &'static str,
    ) {
        if let Some(replacement) = replacement.into() {
            self.edit(message, replacement);
            self.did(message, what);
        }
    }

    /// Replaces places inside of a message, and notes it once, if there are any.
    pub(crate) fn change_all(
        &mut self,
        message: usize,
        replacements: Vec<Replacement>,
        what: &'static str,
    ) {
        if !replacements.is_empty() {
            self.did(message, what);
            self.edits.entry(message).or_default().extend(replacements);
        }
    }

    /// Leaves a message out, and notes it.
    pub(crate) fn leave_out(&mut self, message: usize, what: &'static str) {
        self.gone.insert(message);
        self.did(message, what);
    }

    /// Puts a message before the one with index `to`, and notes it.
    pub(crate) fn move_to(&mut self, message: usize, to: usize, what: &'static str) {
        self.did(message, what);
        self.put_before(message, to);
    }

    /// Puts a message before the one with index `to`.
    pub(super) fn put_before(&mut self, message: usize, to: usize) {
        self.gone.insert(message);
        let json = Cow::Borrowed(self.reading.message(message));
        self.put(to, self.reading.number(message), json);
    }

    /// Puts a new message before the one with index `to`. `number` is that of the message
    /// that its content came from, or 0.
    pub(crate) fn add(&mut self, to: usize, number: usize, json: String) {
        self.put(to, number, Cow::Owned(json));
    }

    fn put(&mut self, to: usize, number: usize, json: Cow<'r, str>) {
        let piece = Piece { number, json };
        self.added.entry(to).or_default().push(piece);
    }

    /// Puts a note of the host's own, that something was left out, before a message: in the role of the user,
    /// or in that of the model where nobody else may speak.
    pub(crate) fn put_note_of(&mut self, role: Role, message: usize) {
        self.add(message, 0, note(self.reading, role));
        self.did(message, NOTED);
    }

    /// Takes parts out of a message, by index; the message itself where nothing would be left.
    /// False where that is not allowed: then nothing changes.
    pub(crate) fn drop_parts(&mut self, message: usize, parts: &[usize]) -> bool {
        let Some(own) = self.reading.messages.get(message) else {
            return false;
        };
        if parts.len() >= own.parts.len() {
            self.gone.insert(message);
            return true;
        }
        if own.opaque {
            return false;
        }
        self.cut(message, parts)
    }

    /// The same where some parts stay, whatever else the message holds; and notes it.
    pub(crate) fn cut_parts(
        &mut self,
        message: usize,
        parts: &[usize],
        what: &'static str,
    ) -> bool {
        let is_cut = self.cut(message, parts);
        if is_cut {
            self.did(message, what);
        }
        is_cut
    }

    fn cut(&mut self, message: usize, parts: &[usize]) -> bool {
        let Some(own) = self.reading.messages.get(message) else {
            return false;
        };
        let going: HashSet<usize> = parts.iter().copied().collect();
        let elements: Vec<_> = self
            .reading
            .elements(own)
            .map(|(index, part)| (part.place.clone(), going.contains(&index)))
            .collect();
        let removed = without_elements(&elements);
        if removed.len() < parts.len() {
            return false;
        }
        self.edits.entry(message).or_default().extend(removed);
        true
    }

    /// The document with all changes, read again, and what was done. `None` if nothing was;
    /// where nobody would speak any more; and where time is over.
    pub(super) fn finish(mut self) -> Option<(Reading, Repairs)> {
        if self.repairs.total() == 0 {
            return None;
        }
        let reading = self.reading;
        let somebody_stays = reading
            .messages
            .iter()
            .enumerate()
            .any(|(index, message)| !message.role.instructs() && !self.gone.contains(&index));
        if !somebody_stays && self.added.is_empty() {
            return None;
        }
        let alternates = reading.wire().facts().alternates;
        let mut written: Vec<Piece<'_>> = Vec::new();
        // Whether the model spoke last, and something that stood after that is gone.
        let (mut is_models, mut has_gap) = (false, false);
        for index in 0..=reading.messages.len() {
            if reading.is_late() {
                return None;
            }
            for piece in self.added.remove(&index).unwrap_or_default() {
                written.push(piece);
                is_models = false;
            }
            let Some(message) = reading.messages.get(index) else {
                break;
            };
            if self.gone.contains(&index) {
                has_gap = true;
                continue;
            }
            if alternates && has_gap && is_models && message.role == Role::Assistant {
                written.push(Piece {
                    number: 0,
                    json: Cow::Owned(note(reading, Role::User)),
                });
                self.did(index, NOTED);
            }
            let json = match self.edits.remove(&index) {
                None => Cow::Borrowed(reading.message(index)),
                Some(mut edits) => {
                    edits.sort_by_key(|edit| (edit.place.start, edit.place.end));
                    Cow::Owned(formats::replace(&reading.document, &message.place, &edits))
                }
            };
            written.push(Piece {
                number: reading.number(index),
                json,
            });
            (is_models, has_gap) = (message.role == Role::Assistant, false);
        }
        let messages = written.iter().map(|piece| &*piece.json);
        let document = reading.frame.write(messages);
        let numbers = written.iter().map(|piece| piece.number).collect();
        let next = reading.again(&document, numbers).ok()?;
        Some((next, self.repairs))
    }
}

fn note(reading: &Reading, role: Role) -> String {
    let text = match role {
        Role::Assistant => NOBODY_ANSWERED,
        _ => NOBODY_SPOKE,
    };
    let text = reading.note(role, text);
    reading.wire().text_message(role, &text)
}
