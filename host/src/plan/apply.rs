//! From a checked plan to the new document (invariant I2).

use std::borrow::Cow;
use std::ops::Range;
use std::slice;

use baler_conversation::document::Document;
use baler_conversation::edit::{self, Replacement};
use baler_conversation::marks::{self, By, LEFT_OUT, Purpose, Site};
use baler_conversation::message::Message;
use baler_conversation::{Conversation, Role, UnitKind};

use super::check::{Checked, CheckedEdit, CheckedPlan, Joins, thinking_removed};
use super::shortened::Shortened;
use crate::changes::{Origin, UnitOutcome};
use crate::situation::Situation;

/// What a plan made of a conversation.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The new document.
    pub(crate) document: String,
    /// What became of each unit, in order.
    pub(crate) outcomes: Vec<UnitOutcome>,
    /// Number of inserted texts, the host's own included.
    pub(crate) inserted: usize,
    /// Where texts were inserted: before which unit of the old conversation.
    pub(crate) insertions: Vec<usize>,
    /// Blocks of thinking that were left out of messages that stayed.
    pub(crate) thinking_removed: usize,
    /// Outputs that the model has not seen and that the host shortened.
    pub(crate) shortened: usize,
    /// The first unit that stands behind others than before.
    pub(crate) first_moved: Option<usize>,
    /// Where each message of the new document comes from.
    pub(crate) origins: Vec<Origin>,
}

/// Makes the new document. Kept messages are copied byte for byte, but for outputs that `shortened`
/// has a text for.
pub(crate) fn apply(plan: &CheckedPlan, situation: &Situation, shortened: &Shortened) -> Applied {
    let conversation = &situation.conversation;
    let format = conversation.format();
    let mut outcomes = vec![UnitOutcome::Removed; conversation.units().len()];
    let mut written = Written {
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
        held: Held::default(),
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
                written.insertions.push(next);
                let message = format.text_message(*role, text);
                written.put_insertion(message, *role == Role::User);
                written.last = Last::Insertion;
                written.is_changed = true;
            }
        }
    }
    written.leave_out_expired();
    written.release(conversation.units().len());
    for unit in &written.expired {
        outcomes[*unit] = UnitOutcome::Removed;
    }
    let Written {
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
        first_moved,
        origins,
    }
}

/// The messages of the new document, as they are put together.
struct Written<'a> {
    conversation: &'a Conversation,
    situation: &'a Situation,
    messages: Vec<Cow<'a, str>>,
    /// Where each of them comes from.
    origins: Vec<Origin>,
    insertions: Vec<usize>,
    last: Last,
    /// The unit that would follow if nothing were left out.
    next: usize,
    /// Whether thinking goes from what stands behind a change.
    drops_thinking: bool,
    /// The turn whose thinking stays nevertheless.
    turn_with_thinking: Option<u32>,
    /// Whether what was written so far is another beginning than the conversation had.
    is_changed: bool,
    thinking_removed: usize,
    held: Held<'a>,
    /// Whether instructions in the middle may stand behind what was written last.
    takes_instructions: bool,
    /// Units of instructions that were to stay and could not.
    expired: Vec<usize>,
    first_moved: Option<usize>,
}

/// A message of the conversation that stays.
#[derive(Debug)]
struct Stays<'a> {
    unit: usize,
    origin: Origin,
    text: Cow<'a, str>,
}

/// Instructions in the middle. They wait until the model speaks, since they may stand nowhere else
/// but in front of that (ANTH-1).
#[derive(Debug, Default)]
struct Held<'a> {
    messages: Vec<Stays<'a>>,
    /// How many of them are known to hold still, or to have to stay.
    in_force: usize,
    /// Whether one of them may stand anywhere.
    has_directive: bool,
    /// Whether nothing was left out since what stood in front of them.
    is_intact: bool,
    /// Whether something was written that stood behind them.
    is_moved: bool,
}

impl Held<'_> {
    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether they may stand where they stood, whoever speaks next.
    fn stands_anywhere(&self) -> bool {
        self.has_directive && self.is_intact && !self.is_moved
    }
}

/// What was written last.
enum Last {
    Nothing,
    Unit(usize),
    Insertion,
}

impl<'a> Written<'a> {
    /// Makes room for a unit: where it may not stand behind what was written last, the host's
    /// own note comes between.
    fn begin(&mut self, unit: usize, joins: Option<&Joins>) {
        let conversation = self.conversation;
        let follows = self.next == unit;
        self.next = unit + 1;
        self.is_changed |= !follows || joins.is_some();
        self.held.is_intact = follows && (self.held.is_empty() || self.held.is_intact);
        if conversation.is_movable(unit) {
            return;
        }
        if self.held.stands_anywhere() {
            self.release(unit);
        }
        // Where instructions wait, these get the note in front of them.
        let needs_note = self.held.is_empty()
            && match self.last {
                Last::Nothing => conversation.needs_note(None, unit, false),
                Last::Unit(before) => conversation.needs_note(Some(before), unit, false),
                Last::Insertion => false,
            };
        if needs_note {
            self.put_note(unit);
        }
        self.insertions.extend(joins.into_iter().flat_map(|joins| {
            std::iter::repeat_n(unit, joins.start.len())
                .chain(std::iter::repeat_n(unit + 1, joins.end.len()))
        }));
        self.last = Last::Unit(unit);
    }

    /// Writes the host's own note in front of a unit.
    fn put_note(&mut self, unit: usize) {
        let note = marks::wrap(
            self.conversation.key(),
            Purpose::Note,
            Site::User,
            By::Host,
            LEFT_OUT,
        );
        let format = self.conversation.format();
        self.put_insertion(format.text_message(Role::User, &note), true);
        self.insertions.push(unit);
        self.is_changed = true;
    }

    /// Writes an inserted text.
    fn put_insertion(&mut self, message: String, takes_instructions: bool) {
        self.put(Cow::Owned(message), Origin::Inserted, takes_instructions);
    }

    /// Writes a message that no instructions wait for.
    fn put(&mut self, message: Cow<'a, str>, origin: Origin, takes_instructions: bool) {
        self.held.is_moved |= !self.held.is_empty();
        self.messages.push(message);
        self.origins.push(origin);
        self.takes_instructions = takes_instructions;
    }

    /// Writes a message of the conversation, unless it has to wait.
    fn write(&mut self, message: &Message, stays: Stays<'a>) {
        if self.conversation.moves(message) {
            self.held.has_directive |= message.is_directive;
            self.held.messages.push(stays);
            return;
        }
        match message.role {
            Role::Assistant => self.release(stays.unit),
            Role::User => self.leave_out_expired(),
            _ => {}
        }
        self.put(
            stays.text,
            stays.origin,
            message.takes_instructions_behind(),
        );
    }

    /// Leaves out the waiting instructions that held until a message of the user's came: behind it, or
    /// at the end, they would hold once more.
    fn leave_out_expired(&mut self) {
        // The others may be many, and are asked once.
        let new = self.held.messages.split_off(self.held.in_force);
        if new.is_empty() {
            return;
        }
        for held in new {
            let first = self.conversation.messages(held.unit).first();
            let expires = first.is_some_and(|own| own.expires);
            // What holds still is protected.
            if expires && !self.situation.is_protected(held.unit) {
                self.expired.push(held.unit);
                self.is_changed = true;
            } else {
                self.held.messages.push(held);
            }
        }
        self.held.in_force = self.held.messages.len();
        if self.held.is_empty() {
            self.held = Held::default();
        }
    }

    /// Writes the instructions that wait, in front of a unit; behind a note where they could not
    /// stand there.
    fn release(&mut self, unit: usize) {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return;
        }
        if !self.takes_instructions && !held.stands_anywhere() {
            self.put_note(unit);
        }
        for stays in held.messages {
            if held.is_moved {
                self.first_moved.get_or_insert(stays.unit);
            }
            self.messages.push(stays.text);
            self.origins.push(stays.origin);
        }
    }

    /// Writes the messages of a unit that stays, with `edits` in order of message and part, and
    /// says what became of it.
    fn unit(
        &mut self,
        unit: usize,
        edits: Vec<&CheckedEdit>,
        joins: Option<&Joins>,
    ) -> UnitOutcome {
        self.begin(unit, joins);
        let messages = self.conversation.messages(unit);
        let first = self.conversation.message_range(unit).start;
        self.thinking_removed += thinking_removed(messages, edits.iter().copied());
        // With it others may be left out that waited.
        let written = |own: &Self| own.messages.len() + own.held.messages.len() + own.expired.len();
        let before = written(self);
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
                let stays = Stays {
                    unit,
                    origin: Origin::Changed(first + index),
                    text: Cow::Owned(rewritten(self.conversation, message, own)),
                };
                self.write(message, stays);
                // What stands in front of it in this unit is where it was.
                self.is_changed = true;
            } else if self.push(message, (unit, first + index), joins) {
                outcome = UnitOutcome::Rewritten;
            }
        }
        if written(self) == before {
            return UnitOutcome::Removed;
        }
        outcome
    }

    /// Writes a message that stays, given with its unit and its index; true where thinking had to go
    /// from it. One of nothing but thinking goes as a whole.
    fn push(
        &mut self,
        message: &'a Message,
        (unit, index): (usize, usize),
        joins: Option<&Joins>,
    ) -> bool {
        let units = self.conversation.units();
        let turn = units[unit].turn;
        let goes = self.drops_thinking && self.is_changed && Some(turn) != self.turn_with_thinking;
        let rest = goes.then(|| without_thinking(self.conversation, message));
        let changed = |text| Stays {
            unit,
            origin: Origin::Changed(index),
            text: Cow::Owned(text),
        };
        let Some(rest) = rest.flatten() else {
            let stays = match joined(self.conversation, message, joins) {
                Some(text) => changed(text),
                None => Stays {
                    unit,
                    origin: Origin::Kept(index),
                    text: Cow::Borrowed(self.conversation.raw(message)),
                },
            };
            self.write(message, stays);
            return false;
        };
        self.thinking_removed += rest.blocks;
        if let Some(text) = rest.text {
            self.write(message, changed(text));
        }
        true
    }
}

/// What is left of a message whose thinking goes.
pub(crate) struct Rest {
    /// None where it held nothing else.
    pub(crate) text: Option<String>,
    /// Number of blocks that went.
    blocks: usize,
}

/// A message without its thinking; none where it holds none.
pub(crate) fn without_thinking(conversation: &Conversation, message: &Message) -> Option<Rest> {
    let place = message.content.clone()?;
    let thinking = message.thinking_in_content();
    if thinking.is_empty() {
        return None;
    }
    let blocks = thinking.len();
    let text = (blocks < message.parts.len()).then(|| {
        let document = conversation.source();
        let with = without(document, message, &place, &thinking, &[]);
        edit::replace(document, &message.place, &[Replacement { place, with }])
    });
    Some(Rest { text, blocks })
}

/// The turn of the newest step that stays, where the request wants an open loop to begin with
/// thinking (ANTH-5). What the user says behind its outputs is one message with them (ANTH-2).
fn turn_with_thinking(plan: &CheckedPlan, conversation: &Conversation) -> Option<u32> {
    if !conversation.envelope().wants_thinking() {
        return None;
    }
    let stays = |piece: &Checked| match piece {
        Checked::Keep(units) => units.clone(),
        Checked::Rewrite { unit, .. } => *unit..unit + 1,
        Checked::Insert { .. } => 0..0,
    };
    let mut units = plan
        .pieces
        .iter()
        .rev()
        .flat_map(|piece| stays(piece).rev());
    let is_step = |unit: &usize| conversation.units()[*unit].kind == UnitKind::Step;
    units
        .find(is_step)
        .map(|unit| conversation.units()[unit].turn)
}

/// A message with the texts that join it; `None` if none does.
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

/// What a part of a message is to read from now on.
struct NewText {
    part: usize,
    replacement: Replacement,
}

/// The content list of `message`, which lies at `list`, without some of its parts and with
/// `texts` replaced in the others. Both are in the order of the parts.
fn without(
    document: &Document,
    message: &Message,
    list: &Range<usize>,
    removed: &[usize],
    texts: &[NewText],
) -> String {
    let mut removed = removed.iter().peekable();
    let mut texts = texts.iter().peekable();
    let mut parts = Vec::with_capacity(message.parts.len());
    for (index, part) in message.parts.iter().enumerate() {
        let is_removed = removed.next_if(|gone| **gone == index).is_some();
        let text = texts.next_if(|text| text.part == index);
        let is_inside = part.place.start >= list.start && part.place.end <= list.end;
        if is_removed || !is_inside {
            continue;
        }
        let own = text.map_or(&[][..], |text| slice::from_ref(&text.replacement));
        parts.push(edit::replace(document, &part.place, own));
    }
    format!("[{}]", parts.join(","))
}
