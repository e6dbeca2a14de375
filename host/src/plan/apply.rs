//! From a checked plan to the new document (invariant I2).

use std::borrow::Cow;

use super::check::{Checked, CheckedEdit, CheckedPlan, Joins};
use crate::conversation::message::Message;
use crate::conversation::{Conversation, Document, Role};
use crate::formats::{self, Replacement};
use crate::marks::{self, HOST, LEFT_OUT, Purpose};
use crate::situation::Situation;

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

/// Makes the new document. Kept messages are copied byte for byte.
pub(crate) fn apply(plan: &CheckedPlan, situation: &Situation) -> Applied {
    let conversation = &situation.conversation;
    let wire = conversation.format().wire();
    let mut fates = vec![Fate::Dropped; conversation.units().len()];
    let mut written = Written {
        conversation,
        messages: Vec::with_capacity(conversation.all_messages().len()),
        insertions: Vec::new(),
        last: Last::Nothing,
    };
    let mut next = 0;
    for piece in &plan.pieces {
        match piece {
            Checked::Keep(units) => {
                for unit in units.clone() {
                    fates[unit] = Fate::Kept;
                    let joins = plan.joins.get(&unit);
                    written.begin(unit, joins);
                    for message in conversation.messages(unit) {
                        written.messages.push(kept(conversation, message, joins));
                    }
                }
                next = units.end;
            }
            Checked::Rewrite { unit, edits } => {
                fates[*unit] = if edits.is_empty() {
                    Fate::Kept
                } else {
                    Fate::Rewritten
                };
                let joins = plan.joins.get(unit);
                written.begin(*unit, joins);
                for (index, message) in conversation.messages(*unit).iter().enumerate() {
                    let edits: Vec<&CheckedEdit> =
                        edits.iter().filter(|edit| edit.message == index).collect();
                    written.messages.push(if edits.is_empty() {
                        kept(conversation, message, joins)
                    } else {
                        Cow::Owned(rewritten(conversation, message, &edits))
                    });
                }
                next = unit + 1;
            }
            Checked::Insert { role, text } => {
                written.insertions.push(next);
                written
                    .messages
                    .push(Cow::Owned(wire.text_message(*role, text)));
                written.last = Last::Insertion;
            }
        }
    }
    let Written {
        messages,
        insertions,
        ..
    } = written;
    Applied {
        document: conversation
            .frame()
            .write(messages.iter().map(AsRef::as_ref)),
        fates,
        inserted: insertions.len(),
        insertions,
    }
}

/// The messages of the new document, as they are put together.
struct Written<'a> {
    conversation: &'a Conversation,
    messages: Vec<Cow<'a, str>>,
    insertions: Vec<usize>,
    last: Last,
}

/// What was written last.
enum Last {
    Nothing,
    Unit(usize),
    Insertion,
}

impl Written<'_> {
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
        self.insertions.extend(joins.into_iter().flat_map(|joins| {
            std::iter::repeat_n(unit, joins.start.len())
                .chain(std::iter::repeat_n(unit + 1, joins.end.len()))
        }));
        self.last = Last::Unit(unit);
    }
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
    let texts: Vec<Replacement> = edits
        .iter()
        .filter_map(|edit| {
            let part = message.parts.get(edit.part)?;
            formats::new_text(wire, document, part, edit.text.as_ref()?)
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
        None => texts,
    };
    formats::replace(document, &message.place, &replacements)
}

/// The content list of `message`, which lies at `list`, without some of its parts and with
/// `texts` replaced in the others.
fn without(
    document: &Document,
    message: &Message,
    list: &std::ops::Range<usize>,
    removed: &[usize],
    texts: &[Replacement],
) -> String {
    let parts: Vec<String> = message
        .parts
        .iter()
        .enumerate()
        .filter(|(index, part)| {
            !removed.contains(index) && part.place.start >= list.start && part.place.end <= list.end
        })
        .map(|(_, part)| {
            let own: Vec<Replacement> = texts
                .iter()
                .filter(|text| {
                    part.place.start <= text.place.start && text.place.end <= part.place.end
                })
                .cloned()
                .collect();
            formats::replace(document, &part.place, &own)
        })
        .collect();
    format!("[{}]", parts.join(","))
}
