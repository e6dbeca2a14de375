//! Baselines: simple methods of the same size, with which strategies are compared.

use crate::cases::Case;
use crate::message::{Message, Part, PartKind, Role};

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

    /// Returns the text that the baseline keeps of a case, about `room` characters.
    pub(crate) fn keep(self, case: &Case, room: usize) -> String {
        let sizes = case.sizes();
        let own: Vec<usize> = (0..case.units.len())
            .filter(|unit| sizes[*unit] > 0)
            .collect();
        match self {
            Self::KeepLast => newest(case, &own, &sizes, room),
            Self::FirstAndLast => {
                let first = own.iter().copied().find(|unit| is_user(&case.units[*unit]));
                let mut text = String::new();
                let mut left = room;
                if let Some(first) = first {
                    add(&case.units[first], room, &mut text);
                    left = room.saturating_sub(sizes[first]);
                }
                let others: Vec<usize> = own
                    .into_iter()
                    .filter(|unit| Some(*unit) != first)
                    .collect();
                text + &newest(case, &others, &sizes, left)
            }
            Self::Mask => masked(case, &own, room),
            Self::Random => {
                let mut order = own;
                // Shuffle with a fixed sequence.
                let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ case.size as u64;
                for place in (1..order.len()).rev() {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    order.swap(place, (state % (place as u64 + 1)) as usize);
                }
                newest(case, &order, &sizes, room)
            }
        }
    }
}

fn is_user(unit: &[Message]) -> bool {
    unit.iter().any(|message| message.role == Role::User)
}

/// Returns the last of these units that fit. The first that does not fit is shortened.
fn newest(case: &Case, units: &[usize], sizes: &[usize], room: usize) -> String {
    let mut left = room;
    let mut text = String::new();
    for unit in units.iter().rev() {
        let size = sizes[*unit];
        add(&case.units[*unit], left, &mut text);
        if size > left {
            break;
        }
        left -= size;
    }
    text
}

/// Adds a unit, or what fits of it. Outputs are shortened first, at their ends.
fn add(unit: &[Message], room: usize, text: &mut String) {
    let parts: Vec<&Part> = unit.iter().flat_map(|message| &message.parts).collect();
    let size: usize = parts.iter().map(|part| part.size).sum();
    if size <= room {
        for part in parts {
            push(&part.text, usize::MAX, text);
        }
        return;
    }
    let of_outputs: usize = parts
        .iter()
        .filter(|part| is_output(part))
        .map(|part| part.size)
        .sum();
    let others = size - of_outputs;
    for part in parts {
        let share = if others < room && of_outputs > 0 {
            if is_output(part) {
                part.size * (room - others) / of_outputs
            } else {
                part.size
            }
        } else {
            part.size * room / size.max(1)
        };
        push(&part.text, share, text);
    }
}

fn is_output(part: &Part) -> bool {
    part.kind == PartKind::Output
}

fn push(own: &str, characters: usize, text: &mut String) {
    match own.char_indices().nth(characters) {
        Some((end, _)) => text.push_str(&own[..end]),
        None => text.push_str(own),
    }
    text.push('\n');
}

/// Removes outputs, oldest first, as far as needed. If that is not enough, old units are removed as well.
fn masked(case: &Case, own: &[usize], room: usize) -> String {
    const PLACEHOLDER: usize = 30;
    let mut size = case.size;
    let mut kept: Vec<Vec<Message>> = own.iter().map(|unit| case.units[*unit].clone()).collect();
    for message in kept.iter_mut().flatten() {
        for part in &mut message.parts {
            if size > room && part.kind == PartKind::Output && part.size > PLACEHOLDER {
                size -= part.size - PLACEHOLDER;
                part.size = PLACEHOLDER;
                part.text.clear();
            }
        }
    }
    let mut left = room;
    let mut text = String::new();
    for unit in kept.iter().rev() {
        let own: usize = unit.iter().map(Message::size).sum();
        add(unit, left, &mut text);
        if own > left {
            break;
        }
        left -= own;
    }
    text
}
