//! Applies a checked plan: writes the new document (invariant I2).

use std::borrow::Cow;

use baler_conversation::edit::{self, Replacement};
use baler_conversation::marks::{self, By, LEFT_OUT, Purpose, Site};
use baler_conversation::message::Message;
use baler_conversation::{Conversation, Role, UnitKind};

use super::check::{Checked, CheckedEdit, CheckedPlan, Joins, thinking_removed};
use super::shortened::Shortened;
use crate::changes::{Origin, UnitOutcome};
use crate::content_list::{NewText, without};
use crate::situation::Situation;
use crate::thinking::without_thinking;

/// Result of applying a plan.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The new document.
    pub(crate) document: String,
    /// Outcome of each unit, in order.
    pub(crate) outcomes: Vec<UnitOutcome>,
    /// Number of inserted texts, including the host's notes.
    pub(crate) inserted: usize,
    /// For each inserted text, the unit of the old conversation before which it was inserted.
    pub(crate) insertions: Vec<usize>,
    /// Number of blocks of thinking that were removed from kept messages.
    pub(crate) thinking_removed: usize,
    /// Number of unseen outputs that the host shortened.
    pub(crate) shortened: usize,
    /// Number of pictures that the host left out because the provider refuses them.
    pub(crate) pictures_left_out: usize,
    /// The first unit that moved after later ones.
    pub(crate) first_moved: Option<usize>,
    /// Origin of each message of the new document.
    pub(crate) origins: Vec<Origin>,
}

/// Writes the new document. Kept messages are copied byte for byte, except outputs that `shortened` replaces.
pub(crate) fn apply(plan: &CheckedPlan, situation: &Situation, shortened: &Shortened) -> Applied {
    let conversation = &situation.conversation;
    let format = conversation.format();
    let mut outcomes = vec![UnitOutcome::Removed; conversation.units().len()];
    let mut written = Writer {
        conversation,
        situation,
        messages: Vec::with_capacity(conversation.all_messages().len()),
        origins: Vec::with_capacity(conversation.all_messages().len()),
        insertions: Vec::new(),
        last: Last::Nothing,
        next: 0,
        drops_thinking: situation
            .request
            .policy
            .drops_thinking(conversation.envelope().binding),
        turn_with_thinking: turn_with_thinking(plan, conversation),
        is_changed: false,
        thinking_removed: 0,
        waiting: WaitingInstructions::default(),
        takes_instructions: false,
        expired: Vec::new(),
        first_moved: None,
    };
    let mut next = 0;
    for piece in &plan.pieces {
        match piece {
            Checked::Keep(units) => {
                for unit in units.clone() {
                    let edits = shortened.of_unit(unit).iter().collect();
                    outcomes[unit] = written.unit(unit, edits, plan.joins.get(&unit));
                }
                next = units.end;
            }
            Checked::Rewrite { unit, edits } => {
                let mut edits: Vec<&CheckedEdit> =
                    edits.iter().chain(shortened.of_unit(*unit)).collect();
                edits.sort_by_key(|edit| (edit.message, edit.part));
                outcomes[*unit] = written.unit(*unit, edits, plan.joins.get(unit));
                next = unit + 1;
            }
            Checked::Insert { role, text } => {
                written.part_from_last(*role, next);
                written.insertions.push(next);
                let message = format.text_message(*role, text);
                written.put_insertion(message, *role == Role::User);
                written.last = Last::Insertion(*role);
                written.is_changed = true;
            }
        }
    }
    written.remove_expired();
    written.write_waiting(conversation.units().len());
    for unit in &written.expired {
        outcomes[*unit] = UnitOutcome::Removed;
    }
    let Writer {
        messages,
        origins,
        insertions,
        thinking_removed,
        first_moved,
        ..
    } = written;
    Applied {
        document: conversation
            .frame()
            .write(messages.iter().map(AsRef::as_ref)),
        outcomes,
        inserted: insertions.len(),
        insertions,
        thinking_removed,
        shortened: shortened.len(),
        pictures_left_out: 0,
        first_moved,
        origins,
    }
}

/// Writes the messages of the new document one after another.
struct Writer<'a> {
    conversation: &'a Conversation,
    situation: &'a Situation,
    messages: Vec<Cow<'a, str>>,
    /// Origin of each message.
    origins: Vec<Origin>,
    insertions: Vec<usize>,
    last: Last,
    /// The unit that follows if none is removed.
    next: usize,
    /// Whether thinking after a change is removed.
    drops_thinking: bool,
    /// The turn whose thinking stays even so.
    turn_with_thinking: Option<u32>,
    /// Whether the messages written so far differ from the beginning of the old conversation.
    is_changed: bool,
    thinking_removed: usize,
    waiting: WaitingInstructions<'a>,
    /// Whether movable instructions may follow the last written message.
    takes_instructions: bool,
    /// Units of instructions that the plan keeps but that have expired.
    expired: Vec<usize>,
    first_moved: Option<usize>,
}

/// A kept message of the conversation.
#[derive(Debug)]
struct KeptMessage<'a> {
    unit: usize,
    origin: Origin,
    text: Cow<'a, str>,
}

/// Movable instructions that wait for the next message of the model, because they may only come directly
/// before such a message (ANTH-1).
#[derive(Debug, Default)]
struct WaitingInstructions<'a> {
    messages: Vec<KeptMessage<'a>>,
    /// Number of messages that are known to be still in force or protected.
    in_force: usize,
    /// Whether one of them is a directive, which may come anywhere.
    has_directive: bool,
    /// Whether no unit was removed since the unit before them.
    is_intact: bool,
    /// Whether a message that followed them was written before them.
    is_moved: bool,
}

impl WaitingInstructions<'_> {
    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns whether they may stay in their place, whatever message follows.
    fn may_stay_in_place(&self) -> bool {
        self.has_directive && self.is_intact && !self.is_moved
    }
}

/// The last written unit or text, movable instructions aside.
enum Last {
    Nothing,
    Unit(usize),
    Insertion(Role),
}

impl<'a> Writer<'a> {
    /// Prepares to write a unit: inserts the host's note if the unit may not follow the last written one.
    fn begin_unit(&mut self, unit: usize, joins: Option<&Joins>) {
        let conversation = self.conversation;
        let follows = self.next == unit;
        self.next = unit + 1;
        self.is_changed |= !follows || joins.is_some();
        self.waiting.is_intact = follows && (self.waiting.is_empty() || self.waiting.is_intact);
        if conversation.is_movable(unit) {
            return;
        }
        if self.waiting.may_stay_in_place() {
            self.write_waiting(unit);
        }
        // If instructions wait, `write_waiting` inserts the note before them.
        let note = match self.last {
            _ if !self.waiting.is_empty() => None,
            Last::Nothing => conversation.needs_note(None, unit, false),
            Last::Unit(before) => conversation.needs_note(Some(before), unit, false),
            Last::Insertion(role) => conversation
                .first_role(unit)
                .and_then(|first| conversation.parting_role(role, first)),
        };
        if let Some(role) = note {
            self.put_note(role, unit);
        }
        self.insertions.extend(joins.into_iter().flat_map(|joins| {
            std::iter::repeat_n(unit, joins.start.len())
                .chain(std::iter::repeat_n(unit + 1, joins.end.len()))
        }));
    }

    /// Inserts the host's note before a text of a role that a strategy inserts before a unit, if the text may not
    /// follow what was written last.
    fn part_from_last(&mut self, role: Role, unit: usize) {
        let last = match self.last {
            Last::Nothing => None,
            Last::Unit(before) => self.conversation.last_role(before),
            Last::Insertion(before) => Some(before),
        };
        let note = last.and_then(|last| self.conversation.parting_role(last, role));
        if let Some(role) = note.filter(|_| self.waiting.is_empty()) {
            self.put_note(role, unit);
        }
    }

    /// Inserts the host's note in a role before a unit.
    fn put_note(&mut self, role: Role, unit: usize) {
        let note = marks::wrap(
            self.conversation.key(),
            Purpose::Note,
            role.site().unwrap_or(Site::User),
            By::Host,
            LEFT_OUT,
        );
        let format = self.conversation.format();
        self.put_insertion(format.text_message(role, &note), role == Role::User);
        self.insertions.push(unit);
        self.last = Last::Insertion(role);
        self.is_changed = true;
    }

    /// Writes an inserted text, which is a message of its own.
    fn put_insertion(&mut self, message: String, takes_instructions: bool) {
        self.put(Cow::Owned(message), Origin::Inserted, takes_instructions);
    }

    /// Writes a message before the waiting instructions.
    fn put(&mut self, message: Cow<'a, str>, origin: Origin, takes_instructions: bool) {
        self.waiting.is_moved |= !self.waiting.is_empty();
        self.messages.push(message);
        self.origins.push(origin);
        self.takes_instructions = takes_instructions;
    }

    /// Writes a message of the conversation, or adds it to the waiting instructions.
    fn write(&mut self, message: &Message, kept: KeptMessage<'a>) {
        if self.conversation.moves(message) {
            self.waiting.has_directive |= message.is_directive;
            self.waiting.messages.push(kept);
            return;
        }
        match message.role {
            Role::Assistant => self.write_waiting(kept.unit),
            Role::User => self.remove_expired(),
            _ => {}
        }
        self.put(kept.text, kept.origin, message.takes_instructions_behind());
    }

    /// Removes waiting instructions that expired with a user message: after that message, or at the end, they
    /// would come into force again.
    fn remove_expired(&mut self) {
        // Checks each message only once, because there may be many.
        let new = self.waiting.messages.split_off(self.waiting.in_force);
        if new.is_empty() {
            return;
        }
        for kept in new {
            let first = self.conversation.messages(kept.unit).first();
            let expires = first.is_some_and(|own| own.expires);
            // Instructions still in force are protected.
            if expires && !self.situation.is_protected(kept.unit) {
                self.expired.push(kept.unit);
                self.is_changed = true;
            } else {
                self.waiting.messages.push(kept);
            }
        }
        self.waiting.in_force = self.waiting.messages.len();
        if self.waiting.is_empty() {
            self.waiting = WaitingInstructions::default();
        }
    }

    /// Writes the waiting instructions before a unit, after a note if they may not come there otherwise.
    fn write_waiting(&mut self, unit: usize) {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return;
        }
        if !self.takes_instructions && !waiting.may_stay_in_place() {
            self.put_note(Role::User, unit);
        }
        for kept in waiting.messages {
            if waiting.is_moved {
                self.first_moved.get_or_insert(kept.unit);
            }
            self.messages.push(kept.text);
            self.origins.push(kept.origin);
        }
    }

    /// Writes the messages of a kept unit with `edits`, in order of message and part, and returns its
    /// outcome.
    fn unit(
        &mut self,
        unit: usize,
        edits: Vec<&CheckedEdit>,
        joins: Option<&Joins>,
    ) -> UnitOutcome {
        self.begin_unit(unit, joins);
        let messages = self.conversation.messages(unit);
        let first = self.conversation.message_range(unit).start;
        self.thinking_removed += thinking_removed(messages, edits.iter().copied());
        // Includes waiting messages of other units, which may expire while this unit is written.
        let count =
            |own: &Self| own.messages.len() + own.waiting.messages.len() + own.expired.len();
        let before = count(self);
        let mut outcome = if edits.is_empty() {
            UnitOutcome::Kept
        } else {
            UnitOutcome::Rewritten
        };
        let mut rest = edits.as_slice();
        for (index, message) in messages.iter().enumerate() {
            let (own, others) = rest.split_at(rest.partition_point(|edit| edit.message <= index));
            rest = others;
            if !own.is_empty() {
                let kept = KeptMessage {
                    unit,
                    origin: Origin::Changed(first + index),
                    text: Cow::Owned(rewritten(self.conversation, message, own)),
                };
                self.write(message, kept);
                // Set only now, because the earlier messages of this unit do not follow a change.
                self.is_changed = true;
            } else if self.write_unedited(message, (unit, first + index), joins) {
                outcome = UnitOutcome::Rewritten;
            }
        }
        if count(self) == before {
            return UnitOutcome::Removed;
        }
        if !self.conversation.is_movable(unit) {
            self.last = Last::Unit(unit);
        }
        outcome
    }

    /// Writes a message without edits, given with its unit and its index, and returns whether its thinking
    /// had to be removed. A message of nothing but thinking is removed completely.
    fn write_unedited(
        &mut self,
        message: &'a Message,
        (unit, index): (usize, usize),
        joins: Option<&Joins>,
    ) -> bool {
        let units = self.conversation.units();
        let turn = units[unit].turn;
        let removes_thinking =
            self.drops_thinking && self.is_changed && Some(turn) != self.turn_with_thinking;
        let rest = removes_thinking.then(|| without_thinking(self.conversation, message));
        let changed = |text| KeptMessage {
            unit,
            origin: Origin::Changed(index),
            text: Cow::Owned(text),
        };
        let Some(rest) = rest.flatten() else {
            let kept = match joined(self.conversation, message, joins) {
                Some(text) => changed(text),
                None => KeptMessage {
                    unit,
                    origin: Origin::Kept(index),
                    text: Cow::Borrowed(self.conversation.raw(message)),
                },
            };
            self.write(message, kept);
            return false;
        };
        self.thinking_removed += rest.blocks;
        if let Some(text) = rest.text {
            self.write(message, changed(text));
        }
        true
    }
}

/// Returns the turn of the newest kept step, if an open tool loop must begin with thinking (ANTH-5). A user
/// message after its outputs does not end the loop, because both are merged into one message (ANTH-2).
fn turn_with_thinking(plan: &CheckedPlan, conversation: &Conversation) -> Option<u32> {
    if !conversation.envelope().wants_thinking() {
        return None;
    }
    let units_of = |piece: &Checked| match piece {
        Checked::Keep(units) => units.clone(),
        Checked::Rewrite { unit, .. } => *unit..unit + 1,
        Checked::Insert { .. } => 0..0,
    };
    let mut units = plan
        .pieces
        .iter()
        .rev()
        .flat_map(|piece| units_of(piece).rev());
    let is_step = |unit: &usize| conversation.units()[*unit].kind == UnitKind::Step;
    units
        .find(is_step)
        .map(|unit| conversation.units()[unit].turn)
}

/// Returns a message with the texts that join it; `None` if there are none.
fn joined(conversation: &Conversation, message: &Message, joins: Option<&Joins>) -> Option<String> {
    let joins = joins?;
    let document = conversation.source();
    let joined = edit::joined(
        conversation.format(),
        document,
        message,
        &joins.start,
        &joins.end,
    )?;
    Some(edit::replace(document, &message.place, &[joined]))
}

/// Returns a message with these edits.
fn rewritten(conversation: &Conversation, message: &Message, edits: &[&CheckedEdit]) -> String {
    let document = conversation.source();
    let format = conversation.format();
    let texts: Vec<NewText> = edits
        .iter()
        .filter_map(|edit| {
            let part = message.parts.get(edit.part)?;
            let replacement = edit::new_text(format, document, part, edit.text.as_ref()?)?;
            Some(NewText {
                part: edit.part,
                replacement,
            })
        })
        .collect();
    let removed: Vec<usize> = edits
        .iter()
        .filter(|edit| edit.text.is_none())
        .map(|edit| edit.part)
        .collect();
    let list = message.content.clone().filter(|_| !removed.is_empty());
    let replacements = match list {
        Some(place) => vec![Replacement {
            with: without(document, message, &place, &removed, &texts),
            place,
        }],
        None => texts.into_iter().map(|text| text.replacement).collect(),
    };
    edit::replace(document, &message.place, &replacements)
}
