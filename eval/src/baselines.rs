//! What keeps as much as a strategy may without any thought: what strategies are compared with.

use crate::cases::Case;
use crate::reading::{Piece, PieceKind, Said, Who};

/// The name in tables of what a program wrote itself.
pub(crate) const RECORDED: &str = "recorded";

/// A simple way to keep so many characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Whole units from the end; the oldest of them shortened to fit.
    KeepLast,
    /// The same with the first user message pinned.
    FirstAndLast,
    /// Outputs of tools left out, oldest first, until it fits; then the newest units.
    Mask,
    /// Units drawn by chance, the same each time.
    Random,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::KeepLast, Self::FirstAndLast, Self::Mask, Self::Random];

    /// The names in tables that no strategy can have: those of baselines, and that of what a program
    /// wrote itself, which stands for comparison, too.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name).chain([RECORDED])
    }

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeepLast => "keep-last",
            Self::FirstAndLast => "first+last",
            Self::Mask => "mask",
            Self::Random => "random",
        }
    }

    /// The text that it keeps of a case, of about `room` characters.
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
                // A shuffle by a fixed sequence.
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

fn is_user(unit: &[Said]) -> bool {
    unit.iter().any(|said| said.who == Who::User)
}

/// The last of these units that have room, the first that has none shortened.
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

/// Adds a unit, or what fits of it: outputs are shortened first, all at their ends.
fn add(unit: &[Said], room: usize, text: &mut String) {
    let pieces: Vec<&Piece> = unit.iter().flat_map(|said| &said.pieces).collect();
    let size: usize = pieces.iter().map(|piece| piece.size).sum();
    if size <= room {
        for piece in pieces {
            push(&piece.text, usize::MAX, text);
        }
        return;
    }
    let of_outputs: usize = pieces
        .iter()
        .filter(|piece| is_output(piece))
        .map(|piece| piece.size)
        .sum();
    let others = size - of_outputs;
    for piece in pieces {
        let share = if others < room && of_outputs > 0 {
            if is_output(piece) {
                piece.size * (room - others) / of_outputs
            } else {
                piece.size
            }
        } else {
            piece.size * room / size.max(1)
        };
        push(&piece.text, share, text);
    }
}

fn is_output(piece: &Piece) -> bool {
    piece.kind == PieceKind::Output
}

fn push(own: &str, characters: usize, text: &mut String) {
    match own.char_indices().nth(characters) {
        Some((end, _)) => text.push_str(&own[..end]),
        None => text.push_str(own),
    }
    text.push('\n');
}

/// Outputs go, oldest first, as far as needed; where that is not enough, old units go too.
fn masked(case: &Case, own: &[usize], room: usize) -> String {
    const PLACEHOLDER: usize = 30;
    let mut size = case.size;
    let mut kept: Vec<Vec<Said>> = own.iter().map(|unit| case.units[*unit].clone()).collect();
    for said in kept.iter_mut().flatten() {
        for piece in &mut said.pieces {
            if size > room && piece.kind == PieceKind::Output && piece.size > PLACEHOLDER {
                size -= piece.size - PLACEHOLDER;
                piece.size = PLACEHOLDER;
                piece.text.clear();
            }
        }
    }
    let mut left = room;
    let mut text = String::new();
    for unit in kept.iter().rev() {
        let own: usize = unit.iter().map(Said::size).sum();
        add(unit, left, &mut text);
        if own > left {
            break;
        }
        left -= own;
    }
    text
}
