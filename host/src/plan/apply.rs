//! From a checked plan to the new document (invariant I2).

use std::borrow::Cow;
use std::ops::Range;
use std::slice;

use super::check::{Checked, CheckedEdit, CheckedPlan, Joins, thinking_removed};
use super::shortened::Shortened;
use crate::conversation::message::Message;
use crate::conversation::{Conversation, Document, Role, UnitKind};
use crate::formats::{self, Replacement};
use crate::marks::{self, HOST, LEFT_OUT, Purpose};
use crate::situation::{Situation, ThinkingPolicy};

/// What a plan made of a conversation.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The new document.
    pub(crate) document: String,
    /// What became of each unit, in order.
    pub(crate) fates: Vec<Fate>,
    /// Number of inserted texts, the host's own included.
    pub(crate) inserted: usize,
    /// Where texts were inserted: before which unit of the old conversation.
    pub(crate) insertions: Vec<usize>,
    /// Blocks of thinking that were left out of messages that stayed.
    pub(crate) thinking_dropped: usize,
    /// Outputs that the model has not seen and that the host shortened.
    pub(crate) shortened: usize,
}

/// What became of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It stayed as it was.
    Kept,
    /// It stayed, with some of its parts changed.
    Rewritten,
    /// It left.
    Dropped,
}

/// Makes the new document. Kept messages are copied byte for byte, but for outputs that `shortened`
/// has a text for.
pub(crate) fn apply(plan: &CheckedPlan, situation: &Situation, shortened: &Shortened) -> Applied {
    let conversation = &situation.conversation;
    let wire = conversation.format().wire();
    let mut fates = vec![Fate::Dropped; conversation.units().len()];
    let mut written = Written {
        conversation,
        messages: Vec::with_capacity(conversation.all_messages().len()),
        insertions: Vec::new(),
        last: Last::Nothing,
        next: 0,
        drops_thinking: match situation.request.policy.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Drop => true,
            ThinkingPolicy::Auto => conversation.envelope().binds_thinking,
        },
        turn_with_thinking: turn_with_thinking(plan, conversation),
        is_changed: false,
        thinking_dropped: 0,
    };
    let mut next = 0;
    for piece in &plan.pieces {
        match piece {
            Checked::Keep(units) => {
                for unit in units.clone() {
                    let edits = shortened.of_unit(unit).iter().collect();
                    fates[unit] = written.unit(unit, edits, plan.joins.get(&unit));
                }
                next = units.end;
            }
            Checked::Rewrite { unit, edits } => {
                let mut edits: Vec<&CheckedEdit> =
                    edits.iter().chain(shortened.of_unit(*unit)).collect();
                edits.sort_by_key(|edit| (edit.message, edit.part));
                fates[*unit] = written.unit(*unit, edits, plan.joins.get(unit));
                next = unit + 1;
            }
            Checked::Insert { role, text } => {
                written.insertions.push(next);
                written
                    .messages
                    .push(Cow::Owned(wire.text_message(*role, text)));
                written.last = Last::Insertion;
                written.is_changed = true;
            }
        }
    }
    let Written {
        messages,
        insertions,
        thinking_dropped,
        ..
    } = written;
    Applied {
        document: conversation
            .frame()
            .write(messages.iter().map(AsRef::as_ref)),
        fates,
        inserted: insertions.len(),
        insertions,
        thinking_dropped,
        shortened: shortened.len(),
    }
}

/// The messages of the new document, as they are put together.
struct Written<'a> {
    conversation: &'a Conversation,
    messages: Vec<Cow<'a, str>>,
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
    thinking_dropped: usize,
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
        let needs_note = match self.last {
            Last::Nothing => conversation.needs_note(None, unit),
            Last::Unit(before) => conversation.needs_note(Some(before), unit),
            Last::Insertion => false,
        };
        if needs_note {
            let note = marks::wrap(conversation.key(), Purpose::Note, HOST, LEFT_OUT);
            let wire = conversation.format().wire();
            self.messages
                .push(Cow::Owned(wire.text_message(Role::User, &note)));
            self.insertions.push(unit);
        }
        self.is_changed |= needs_note || self.next != unit || joins.is_some();
        self.next = unit + 1;
        self.insertions.extend(joins.into_iter().flat_map(|joins| {
            std::iter::repeat_n(unit, joins.start.len())
                .chain(std::iter::repeat_n(unit + 1, joins.end.len()))
        }));
        self.last = Last::Unit(unit);
    }

    /// Writes the messages of a unit that stays, with `edits` in order of message and part, and
    /// says what became of it.
    fn unit(&mut self, unit: usize, edits: Vec<&CheckedEdit>, joins: Option<&Joins>) -> Fate {
        self.begin(unit, joins);
        self.is_changed |= !edits.is_empty();
        let messages = self.conversation.messages(unit);
        self.thinking_dropped += thinking_removed(messages, edits.iter().copied());
        let before = self.messages.len();
        let mut fate = if edits.is_empty() {
            Fate::Kept
        } else {
            Fate::Rewritten
        };
        let mut rest = edits.as_slice();
        for (index, message) in messages.iter().enumerate() {
            let (own, others) = rest.split_at(rest.partition_point(|edit| edit.message <= index));
            rest = others;
            if !own.is_empty() {
                let message = rewritten(self.conversation, message, own);
                self.messages.push(Cow::Owned(message));
            } else if self.push(message, joins) {
                fate = Fate::Rewritten;
            }
        }
        if self.messages.len() == before {
            return Fate::Dropped;
        }
        fate
    }

    /// Writes a message that stays; true where thinking had to go from it. One of nothing but
    /// thinking goes as a whole.
    fn push(&mut self, message: &'a Message, joins: Option<&Joins>) -> bool {
        let document = self.conversation.source();
        let units = self.conversation.units();
        let turn = self.next.checked_sub(1).map(|unit| units[unit].turn);
        let goes = self.drops_thinking && self.is_changed && turn != self.turn_with_thinking;
        let list = message.content.clone().filter(|_| goes);
        let thinking = list.as_ref().map(|_| message.thinking_in_content());
        let (Some(place), Some(thinking)) = (list, thinking.filter(|found| !found.is_empty()))
        else {
            self.messages.push(kept(self.conversation, message, joins));
            return false;
        };
        self.thinking_dropped += thinking.len();
        if thinking.len() < message.parts.len() {
            let with = without(document, message, &place, &thinking, &[]);
            let replacement = Replacement { place, with };
            let written = formats::replace(document, &message.place, &[replacement]);
            self.messages.push(Cow::Owned(written));
        }
        true
    }
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

fn kept<'a>(
    conversation: &'a Conversation,
    message: &Message,
    joins: Option<&Joins>,
) -> Cow<'a, str> {
    let joined = joins.and_then(|joins| {
        formats::joined(
            conversation.format().wire(),
            conversation.source(),
            message,
            &joins.start,
            &joins.end,
        )
    });
    match joined {
        Some(joined) => Cow::Owned(formats::replace(
            conversation.source(),
            &message.place,
            &[joined],
        )),
        None => Cow::Borrowed(conversation.raw(message)),
    }
}

fn rewritten(conversation: &Conversation, message: &Message, edits: &[&CheckedEdit]) -> String {
    let document = conversation.source();
    let wire = conversation.format().wire();
    let texts: Vec<NewText> = edits
        .iter()
        .filter_map(|edit| {
            let part = message.parts.get(edit.part)?;
            let replacement = formats::new_text(wire, document, part, edit.text.as_ref()?)?;
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
    formats::replace(document, &message.place, &replacements)
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
        parts.push(formats::replace(document, &part.place, own));
    }
    format!("[{}]", parts.join(","))
}
