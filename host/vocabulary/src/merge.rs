//! Byte-pair encoding of one piece: the two neighbours that make the token of the lowest rank are merged until none do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::table::{self, NONE};

/// The most bytes of a piece that is merged without a heap, which is faster for a word.
const SHORT: usize = 32;

/// Returns the tokens of a piece.
pub(crate) fn count(piece: &[u8]) -> u64 {
    if piece.len() <= 1 {
        return piece.len() as u64;
    }
    if table::rank(piece) != NONE {
        return 1;
    }
    if piece.len() <= SHORT {
        return short(piece);
    }
    long(piece)
}

fn short(piece: &[u8]) -> u64 {
    // Where each part starts, and the rank of each part with the next.
    let mut starts = [0; SHORT + 1];
    let mut ranks = [NONE; SHORT + 1];
    let mut parts = piece.len();
    for (index, start) in starts.iter_mut().enumerate().take(parts + 1) {
        *start = index;
    }
    for (rank, two) in ranks.iter_mut().zip(piece.windows(2)) {
        *rank = table::pair(two[0], two[1]);
    }
    loop {
        let lowest = (0..parts - 1).min_by_key(|index| ranks[*index]);
        let Some(lowest) = lowest.filter(|index| ranks[*index] != NONE) else {
            return parts as u64;
        };
        starts.copy_within(lowest + 2..=parts, lowest + 1);
        ranks.copy_within(lowest + 2..=parts, lowest + 1);
        parts -= 1;
        let rank_of = |first: usize| match first + 2 <= parts {
            true => table::rank(&piece[starts[first]..starts[first + 2]]),
            false => NONE,
        };
        ranks[lowest] = rank_of(lowest);
        if let Some(before) = lowest.checked_sub(1) {
            ranks[before] = rank_of(before);
        }
    }
}

fn long(piece: &[u8]) -> u64 {
    let end = piece.len();
    // For the part that starts at each byte: where the next and the one before it start, and their rank together.
    let mut next: Vec<usize> = (1..=end).collect();
    let mut before: Vec<usize> = (0..end).map(|start| start.saturating_sub(1)).collect();
    let mut ranks = vec![NONE; end];
    let mut lowest = BinaryHeap::new();
    for (start, two) in piece.windows(2).enumerate() {
        ranks[start] = table::pair(two[0], two[1]);
        lowest.push(Reverse((ranks[start], start)));
    }
    let mut parts = end as u64;
    while let Some(Reverse((rank, start))) = lowest.pop() {
        // A merge beside it has changed what stands there, or it has been merged.
        if rank == NONE || ranks[start] != rank {
            continue;
        }
        let merged = next[start];
        ranks[merged] = NONE;
        next[start] = next[merged];
        if let Some(after) = before.get_mut(next[start]) {
            *after = start;
        }
        parts -= 1;
        let changed = [Some(start), (start > 0).then(|| before[start])];
        for first in changed.into_iter().flatten() {
            let second = next[first];
            ranks[first] = match next.get(second) {
                Some(end) => table::rank(&piece[first..*end]),
                None => NONE,
            };
            lowest.push(Reverse((ranks[first], first)));
        }
    }
    parts
}
