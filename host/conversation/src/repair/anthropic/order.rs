//! Results come before all else in a turn (ANTH-3).

use crate::formats::Replacement;
use crate::formats::anthropic::rules::turns;
use crate::model::message::{Message, Part, Role};
use crate::repair::moves::message_of;
use crate::repair::{Draft, Reading};

const DONE: &str = "results were moved before other blocks";

pub(super) fn put_results_first(reading: &Reading, draft: &mut Draft<'_>) {
    for (at, turn) in turns(&reading.messages).take_while(|_| !reading.is_late()) {
        if turn.iter().any(|message| message.role != Role::User) {
            continue;
        }
        // The first message of the turn that holds something beside results.
        let mut other = None;
        for (index, message) in turn.iter().enumerate() {
            let index = at + index;
            let first_other = message.parts.iter().position(|own| !own.is_output());
            let last_result = message.parts.iter().rposition(Part::is_output);
            match other {
                Some(other) if last_result.is_some() => {
                    move_in_front(reading, draft, index, message, other);
                }
                None if first_other.is_some() && first_other < last_result => {
                    reorder(reading, draft, index, message);
                }
                _ => {}
            }
            if first_other.is_some() {
                other.get_or_insert(index);
            }
        }
    }
}

/// Puts the results of a message before its other blocks; what separates them stays.
fn reorder(reading: &Reading, draft: &mut Draft<'_>, index: usize, message: &Message) {
    if message.opaque {
        return;
    }
    let (results, others): (Vec<&Part>, Vec<&Part>) =
        message.parts.iter().partition(|part| part.is_output());
    for (old, new) in message.parts.iter().zip(results.into_iter().chain(others)) {
        if old.place != new.place {
            let place = old.place.clone();
            let with = reading.raw(&new.place).to_owned();
            draft.edit(index, Replacement { place, with });
        }
    }
    draft.did(index, DONE);
}

/// Puts the results of a message before the one with index `to`.
fn move_in_front(
    reading: &Reading,
    draft: &mut Draft<'_>,
    index: usize,
    message: &Message,
    to: usize,
) {
    let results = message.parts_where(Part::is_output);
    if results.len() == message.parts.len() {
        draft.move_to(index, to, DONE);
    } else if draft.drop_parts(index, &results) {
        let blocks: Vec<&str> = results
            .iter()
            .map(|part| reading.raw(&message.parts[*part].place))
            .collect();
        draft.add(to, reading.number(index), message_of(&blocks.join(",")));
        draft.did(index, DONE);
    }
}
