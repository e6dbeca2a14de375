//! Finds any of a few words in a text, in any case of ASCII letters.

/// Words in lower case, of three bytes and more, with tables of which of them have a byte as their first, second and third
/// one. Most places of a text are passed by three look-ups, however many words there are.
#[derive(Debug)]
pub(super) struct AnyWord<const N: usize> {
    words: [&'static [u8]; N],
    tables: [[u32; 128]; 3],
}

impl<const N: usize> AnyWord<N> {
    pub(super) const fn new(words: [&'static str; N]) -> Self {
        assert!(N <= 32, "a table has 32 bits for a byte");
        let mut all: [&[u8]; N] = [&[]; N];
        let mut tables = [[0; 128]; 3];
        let mut number = 0;
        while number < N {
            let word = words[number].as_bytes();
            assert!(word.len() >= 3, "words have at least three bytes");
            all[number] = word;
            let mut at = 0;
            while at < 3 {
                let bit = 1 << number;
                tables[at][word[at] as usize] |= bit;
                tables[at][word[at].to_ascii_uppercase() as usize] |= bit;
                at += 1;
            }
            number += 1;
        }
        Self { words: all, tables }
    }

    /// Whether a text has one of the words.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.places(text.as_bytes()).next().is_some()
    }

    /// Iterates the places of the words in a text, with the number of bytes of each.
    pub(super) fn places<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl DoubleEndedIterator<Item = (usize, usize)> + 't {
        let beginnings = text.windows(3).enumerate();
        beginnings.filter_map(|(at, begins)| {
            let with = |at: usize| self.tables[at].get(begins[at] as usize).copied();
            let bytes = self.word_at(text, at, with(0)? & with(1)? & with(2)?)?;
            Some((at, bytes))
        })
    }

    /// Returns the bytes of the first of these words (a bit for each) that is at a place of the text.
    fn word_at(&self, text: &[u8], at: usize, mut words: u32) -> Option<usize> {
        while words != 0 {
            let word = self.words[words.trailing_zeros() as usize];
            let there = text.get(at..at + word.len());
            if there.is_some_and(|there| there.eq_ignore_ascii_case(word)) {
                return Some(word.len());
            }
            words &= words - 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_nowhere_else() {
        const SIGNS: AnyWord<3> = AnyWord::new(["error", "err", " so that "]);
        for text in ["ERROR", "an Error", "err", "x so That y", "é error"] {
            assert!(SIGNS.are_in(text), "{text}");
        }
        for text in ["", "er", "errand"[..2].as_ref(), "terra", "so that", "é"] {
            assert_eq!(SIGNS.are_in(text), text.contains("err"), "{text}");
        }
        let places: Vec<(usize, usize)> = SIGNS.places(b"an Error so that").collect();
        assert_eq!(places, [(3, 5)]);
        let last = SIGNS.places(b"err, error, eror").next_back();
        assert_eq!(last, Some((5, 5)));
    }
}
