//! Baselines: simple methods of the same size, with which strategies are compared.

use std::collections::BTreeMap;

use crate::cases::Case;
use crate::message::{Message, Part, PartKind, Role};
use crate::statistics::Random;

/// The name in tables of summaries that a program wrote itself.
pub(crate) const RECORDED: &str = "recorded";

/// A simple method to keep a given number of characters.
///
/// ```
/// use baler_eval::Baseline;
///
/// assert_eq!(Baseline::KeepLast.name(), "keep-last");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The newest units. The oldest of them is shortened to fit.
    KeepLast,
    /// The first user message and the newest units.
    FirstAndLast,
    /// Without tool outputs, oldest first, until the rest fits. Then the newest units.
    Mask,
    /// Random units, the same in each run.
    Random,
}

impl Baseline {
    /// All baselines.
    pub const ALL: [Self; 4] = [Self::KeepLast, Self::FirstAndLast, Self::Mask, Self::Random];

    /// Returns the names that no strategy can have: those of the baselines, and that of recorded summaries.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name).chain([RECORDED])
    }

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeepLast => "keep-last",
            Self::FirstAndLast => "first+last",
            Self::Mask => "mask",
            Self::Random => "random",
        }
    }

    /// Returns what the baseline keeps of a case, about `room` characters, in the order of the conversation.
    pub(crate) fn keep(self, case: &Case, room: usize) -> Vec<Message> {
        let sizes = case.sizes();
        let own: Vec<usize> = (0..case.units.len())
            .filter(|unit| sizes[*unit] > 0)
            .collect();
        let sized = |unit: &usize| (*unit, sizes[*unit]);
        let rooms = match self {
            Self::KeepLast => rooms_of_last(own.iter().map(sized), room),
            Self::FirstAndLast => {
                let first = own.iter().find(|unit| is_user(&case.units[**unit]));
                let left = first.map_or(room, |first| room.saturating_sub(sizes[*first]));
                let others = own.iter().filter(|unit| Some(*unit) != first);
                let mut rooms = rooms_of_last(others.map(sized), left);
                rooms.extend(first.map(|first| (*first, room)));
                rooms
            }
            Self::Mask => return masked(case, room),
            Self::Random => {
                let mut order = own;
                // Shuffle with a fixed sequence.
                let mut random = Random(0x9e37_79b9_7f4a_7c15_u64 ^ case.size as u64);
                for place in (1..order.len()).rev() {
                    order.swap(place, random.below(place + 1));
                }
                rooms_of_last(order.iter().map(sized), room)
            }
        };
        shortened(&case.units, &rooms)
    }
}

fn is_user(unit: &[Message]) -> bool {
    unit.iter().any(|message| message.role == Role::User)
}

/// Returns the messages of the units that have room, each unit with at most that.
fn shortened(units: &[Vec<Message>], rooms: &BTreeMap<usize, usize>) -> Vec<Message> {
    let units = rooms.iter().map(|(unit, room)| (&units[*unit], *room));
    units
        .flat_map(|(unit, room)| shortened_to(unit, room))
        .collect()
}

/// Returns the last of these units, given with their sizes, that fit, each with the characters that it may have. The first
/// that does not fit has what the others left. They are in the order of the conversation, whatever the order of `units`.
fn rooms_of_last(
    units: impl DoubleEndedIterator<Item = (usize, usize)>,
    room: usize,
) -> BTreeMap<usize, usize> {
    let mut left = room;
    let mut rooms = BTreeMap::new();
    for (unit, size) in units.rev() {
        rooms.insert(unit, left);
        if size > left {
            break;
        }
        left -= size;
    }
    rooms
}

/// Returns a unit, or what fits of it. Outputs are shortened first, at their ends.
fn shortened_to(unit: &[Message], room: usize) -> Vec<Message> {
    let mut unit = unit.to_vec();
    let parts = || unit.iter().flat_map(|message| &message.parts);
    let size: usize = parts().map(|part| part.size).sum();
    let outputs = parts().filter(|part| is_output(part));
    let of_outputs: usize = outputs.map(|part| part.size).sum();
    if size <= room {
        return unit;
    }
    let others = size - of_outputs;
    for part in unit.iter_mut().flat_map(|message| &mut message.parts) {
        let share = if others >= room || of_outputs == 0 {
            part.size * room / size.max(1)
        } else if is_output(part) {
            part.size * (room - others) / of_outputs
        } else {
            part.size
        };
        if let Some((end, _)) = part.text.char_indices().nth(share) {
            part.text.truncate(end);
        }
    }
    unit
}

fn is_output(part: &Part) -> bool {
    part.kind == PartKind::Output
}

/// Removes outputs, oldest first, as far as needed. If that is not enough, old units are removed as well.
fn masked(case: &Case, room: usize) -> Vec<Message> {
    const PLACEHOLDER: usize = 30;
    let mut size = case.size;
    let mut kept = case.units.clone();
    for message in kept.iter_mut().flatten() {
        for part in &mut message.parts {
            if size > room && part.kind == PartKind::Output && part.size > PLACEHOLDER {
                size -= part.size - PLACEHOLDER;
                part.size = PLACEHOLDER;
                part.text.clear();
            }
        }
    }
    let sizes = kept.iter().map(|unit| unit.iter().map(Message::size).sum());
    let sizes = sizes.enumerate().filter(|(_, size)| *size > 0);
    shortened(&kept, &rooms_of_last(sizes, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Vec<Message> {
        let raw = serde_json::json!({"role": "user", "content": text}).to_string();
        vec![Message::read("openai-chat", &raw)]
    }

    #[test]
    fn the_newest_units_are_kept_in_their_order_and_the_oldest_of_them_is_shortened() {
        let units: Vec<Vec<Message>> = ["of Oslo", "to Riga", "by boat"].map(unit).into();
        let kept = |order: [usize; 3], room| {
            let rooms = rooms_of_last(order.into_iter().map(|unit| (unit, 7)), room);
            let messages = shortened(&units, &rooms);
            let texts = messages.iter().flat_map(Message::texts);
            texts.map(str::to_owned).collect::<Vec<String>>()
        };
        assert_eq!(kept([0, 1, 2], 21), ["of Oslo", "to Riga", "by boat"]);
        assert_eq!(kept([0, 1, 2], 9), ["to", "by boat"]);
        // A random choice takes other units, and leaves their order.
        assert_eq!(kept([1, 2, 0], 14), ["of Oslo", "by boat"]);
    }
}
