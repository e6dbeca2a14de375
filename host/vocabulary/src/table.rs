//! The tables that the build script writes.

use crate::hash;

const TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tokens.bin"));
const ENDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ends.bin"));
const SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin"));
const PAIRS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pairs.bin"));
const BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/blocks.bin"));
const CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.bin"));

/// The rank of bytes that are not a token.
pub(crate) const NONE: u32 = u32::MAX;

#[inline]
fn number(table: &[u8], index: usize) -> u32 {
    match table.get(index * 4..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => NONE,
    }
}

/// Returns the rank of a token of two bytes, [`NONE`] if they are none.
#[inline]
pub(crate) fn pair(first: u8, second: u8) -> u32 {
    number(PAIRS, usize::from(first) << 8 | usize::from(second))
}

/// Returns the rank of the token with these bytes, [`NONE`] if there is none.
#[inline]
pub(crate) fn rank(bytes: &[u8]) -> u32 {
    if let [first, second] = *bytes {
        return pair(first, second);
    }
    let (mut slot, tag) = hash::place(bytes);
    loop {
        let entry = number(SLOTS, slot);
        if matches!(entry, 0 | NONE) {
            return NONE;
        }
        let rank = (entry & ((1 << hash::RANK_BITS) - 1)) - 1;
        if entry >> hash::RANK_BITS == tag && token(rank) == bytes {
            return rank;
        }
        slot = (slot + 1) % hash::SLOTS;
    }
}

fn token(rank: u32) -> &'static [u8] {
    let rank = rank as usize;
    let start = rank.checked_sub(1).map_or(0, |before| number(ENDS, before));
    let end = number(ENDS, rank);
    TOKENS.get(start as usize..end as usize).unwrap_or_default()
}

/// Returns the number of a character's class (`split.rs`).
#[inline]
pub(crate) fn class(character: char) -> u8 {
    let character = character as usize;
    let block = BLOCKS.get(character >> 8).copied().unwrap_or_default();
    let index = usize::from(block) << 8 | (character & 0xff);
    CLASSES.get(index).copied().unwrap_or_default()
}
