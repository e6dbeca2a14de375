//! Numbers and words from a seed, always the same.

use std::sync::LazyLock;

pub(crate) struct Numbers(u64);

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "the tariff of a harbour and in case line reads fails test with rate night crane to is quay ledger sum returns from parser \
     until zone berth fee per ton error none value by invoice month 港 тариф rounding up"
        .split(' ')
        .collect()
});

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % end.max(1)
    }

    /// Returns this number of words.
    pub(crate) fn prose(&mut self, least: usize, most: usize) -> String {
        let count = least + self.below(most - least);
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}
