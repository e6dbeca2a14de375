//! Where all decisions come from: a fuzzer's bytes, or a seed.

/// Bytes that decide everything: from a fuzzer, or made from a seed.
///
/// The answer 0 (or `false`) always stands for the simplest, and is the one that given bytes
/// end in. So a fuzzer makes a conversation smaller by cutting bytes off.
#[derive(Debug, Clone)]
pub struct Choices<'a>(Source<'a>);

#[derive(Debug, Clone)]
enum Source<'a> {
    Bytes(&'a [u8]),
    Numbers(Random),
}

impl Choices<'static> {
    /// Choices without an end. The same seed gives the same ones on all machines.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self(Source::Numbers(Random(seed)))
    }
}

impl<'a> Choices<'a> {
    /// Choices that `bytes` decide, one or two bytes each.
    #[must_use]
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(Source::Bytes(bytes))
    }

    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n < 2 {
            return 0;
        }
        match &mut self.0 {
            Source::Numbers(random) => random.below(n),
            Source::Bytes(bytes) => {
                let mut number = take(bytes);
                if n > 256 {
                    number = number << 8 | take(bytes);
                }
                number % n
            }
        }
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// One of `list`, whose first is the simplest; `None` where it is empty.
    pub fn one_of<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        list.get(self.below(list.len()))
    }

    /// Whether given bytes ran out, so that all further choices are the simplest.
    #[must_use]
    pub const fn is_exhausted(&self) -> bool {
        matches!(self.0, Source::Bytes([]))
    }

    /// Numbers for what needs many of them and is no decision, such as base64. They cost no
    /// more than two bytes of a fuzzer's.
    pub(crate) fn random(&mut self) -> Random {
        Random(self.below(1 << 16) as u64)
    }
}

fn take(bytes: &mut &[u8]) -> usize {
    bytes.split_off_first().copied().map_or(0, usize::from)
}

/// A small generator of random numbers: splitmix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) const fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        // The rest fits, as it is below a `usize`.
        (self.next() % n as u64) as usize
    }

    pub(crate) const fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_ran_out_choose_the_simplest() {
        let mut choices = Choices::from_bytes(&[7, 255]);
        assert_eq!(choices.below(5), 2);
        assert!(choices.one_in(256));
        assert!(choices.is_exhausted());
        assert_eq!(choices.below(9), 0);
        assert!(!choices.one_in(2));
        assert_eq!(choices.one_of(&["first", "second"]), Some(&"first"));
    }

    #[test]
    fn a_choice_among_one_costs_no_byte() {
        let mut choices = Choices::from_bytes(&[1]);
        assert_eq!(choices.below(1), 0);
        assert!(choices.one_in(1));
        assert!(!choices.is_exhausted());
    }

    #[test]
    fn a_seed_gives_all_numbers_below_the_limit() {
        let mut choices = Choices::from_seed(3);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[choices.below(10)] = true;
        }
        assert_eq!(seen, [true; 10]);
        assert!(!choices.is_exhausted());
    }
}
