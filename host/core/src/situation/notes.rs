//! The host's notes between units: how many a result needs.

use baler_conversation::marks::{self, By, Purpose, Site};
use baler_conversation::{Conversation, Role};

/// Returns the bytes of all notes that a result of the `kept` units needs: an upper bound, as their roles differ.
pub(super) fn note_bytes(conversation: &Conversation, kept: &[bool]) -> usize {
    let notes = count_notes(conversation, kept, None);
    if notes == 0 {
        return 0;
    }
    let key = conversation.key();
    let note = marks::wrap(key, Purpose::Note, Site::User, By::Host, marks::LEFT_OUT);
    let format = conversation.format();
    let message = format.text_message(Role::Assistant, &note).len() + ",".len();
    notes as usize * message
}

/// Returns how many of the host's notes a result of the `kept` units needs. A text of the user's role before the
/// removed unit `text` makes a note there unnecessary, or needs one on either side.
pub(super) fn count_notes(conversation: &Conversation, kept: &[bool], text: Option<usize>) -> u32 {
    let parts_from_text = |unit: Option<usize>, role: fn(&Conversation, usize) -> Option<Role>| {
        let role = unit.and_then(|unit| role(conversation, unit));
        let note = role.and_then(|role| conversation.parting_role(Role::User, role));
        u32::from(note.is_some())
    };
    let mut before = None;
    // Movable instructions wait until the next message of the model, and are written before it.
    let mut has_waiting = false;
    let mut notes = 0;
    for (unit, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
        if conversation.is_movable(unit) {
            has_waiting = true;
            continue;
        }
        let follows_text =
            text.is_some_and(|text| text < unit && before.is_none_or(|before| before < text));
        notes += if follows_text {
            parts_from_text(before, Conversation::last_role)
                + parts_from_text(Some(unit), Conversation::first_role)
        } else {
            u32::from(conversation.needs_note(before, unit, has_waiting).is_some())
        };
        has_waiting &= !conversation.begins_with_model(unit);
        before = Some(unit);
    }
    let ends_with_text = text.is_some_and(|text| before.is_none_or(|before| before < text));
    if ends_with_text {
        notes += parts_from_text(before, Conversation::last_role);
    }
    let has_place = before.is_some_and(|before| conversation.takes_instructions_behind(before));
    notes + u32::from(has_waiting && !ends_with_text && !has_place)
}
