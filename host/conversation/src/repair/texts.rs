//! Empty texts (ALL-6, ANTH-6, GEM-5).

use super::{Draft, Reading};
use crate::formats::Replacement;
use crate::model::message::Message;

/// What is said of an empty text that went.
pub(crate) const PART: &str = "left out: an empty text part";

/// What is said of a message that went because nothing was in it.
pub(crate) const MESSAGE: &str = "left out: a message without content";

/// Counts those who speak, so that the last one is not left out.
pub(crate) struct Speakers(usize);

impl Speakers {
    pub(crate) fn of(reading: &Reading) -> Self {
        let speaking = reading.messages.iter().filter(|message| speaks(message));
        Self(speaking.count())
    }

    /// Whether a message may go, which is then taken for gone.
    pub(crate) fn may_go(&mut self, message: &Message) -> bool {
        if speaks(message) {
            if self.0 < 2 {
                return false;
            }
            self.0 -= 1;
        }
        true
    }
}

fn speaks(message: &Message) -> bool {
    !message.role.instructs()
}

/// Leaves empty texts out, and messages that hold nothing else. `empty_parts` names the parts of a message
/// that count as empty, in order.
pub(crate) fn leave_out(
    reading: &Reading,
    draft: &mut Draft<'_>,
    empty_parts: impl Fn(&Message) -> Vec<usize>,
) {
    let mut speakers = Speakers::of(reading);
    for (index, message) in reading.each() {
        let parts = empty_parts(message);
        if parts.len() == message.parts.len() {
            if speakers.may_go(message) {
                draft.leave_out(index, MESSAGE);
            }
        } else if !parts.is_empty() && !message.opaque {
            draft.cut_parts(index, &parts, PART);
        }
    }
}

/// The same in formats in which the whole content of a message may be an empty text: one that
/// has to stay gets that. `has_to_stay` is asked about the message with an index.
pub(crate) fn leave_out_of_lists(
    reading: &Reading,
    draft: &mut Draft<'_>,
    has_to_stay: impl Fn(usize) -> bool,
) {
    let mut speakers = Speakers::of(reading);
    for (index, message) in reading.each() {
        let Some(content) = message.content.clone() else {
            continue;
        };
        if message.opaque || !reading.raw(&content).starts_with('[') {
            continue;
        }
        let elements = reading.elements(message);
        let empty: Vec<usize> = elements
            .clone()
            .filter(|(_, part)| part.is_empty_text())
            .map(|(at, _)| at)
            .collect();
        if empty.is_empty() && !message.parts.is_empty() {
            continue;
        }
        if empty.len() < elements.count() {
            draft.cut_parts(index, &empty, PART);
        } else if empty.len() == message.parts.len()
            && !has_to_stay(index)
            && speakers.may_go(message)
        {
            draft.leave_out(index, MESSAGE);
        } else {
            let what = "a list of empty texts became an empty text";
            draft.change(index, Replacement::of(content, "\"\""), what);
        }
    }
}
